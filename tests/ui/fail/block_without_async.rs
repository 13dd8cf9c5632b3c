use watertight::resilient;

struct Client;

#[resilient(timeout = "300ms")]
impl Client {
    fn get(&self, id: u64) -> u64 {
        id
    }
}

fn main() {}
