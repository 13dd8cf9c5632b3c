use watertight::resilient;

#[resilient(timeout = "300ms")]
struct Client {
    id: u64,
}

fn main() {}
