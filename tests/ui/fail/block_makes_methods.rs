use watertight::resilient;

struct Client;

macro_rules! methods {
    () => {
        async fn put(&self) {}
    };
}

#[resilient(timeout = "300ms")]
impl Client {
    methods!();

    async fn get(&self, id: u64) -> Result<u64, watertight::Error> {
        Ok(id)
    }
}

async fn caller() {
    let _ = Client.get(1).await;
}

fn main() {}
