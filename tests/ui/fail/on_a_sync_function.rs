use watertight::resilient;

#[resilient(timeout = "300ms")]
fn get(id: u64) -> u64 {
    id
}

fn main() {}
