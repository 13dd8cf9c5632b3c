use watertight::resilient;

#[resilient(timeout = "300ms")]
trait Get {
    fn get(&self) -> u64;
}

fn main() {}
