use watertight::resilient;

trait Get {
    #[resilient(timeout = "300ms")]
    fn get(&self) -> impl Future<Output = u64>;
}

fn main() {}
