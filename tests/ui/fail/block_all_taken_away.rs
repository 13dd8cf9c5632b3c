use watertight::resilient;

struct Client;

#[resilient(timeout = "300ms")]
impl Client {
    #[resilient(timeout = off)]
    async fn get(&self, id: u64) -> Result<u64, watertight::Error> {
        Ok(id)
    }
}

async fn caller() {
    let _ = Client.get(1).await;
}

fn main() {}
