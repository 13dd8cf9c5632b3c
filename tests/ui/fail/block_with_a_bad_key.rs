use watertight::resilient;

struct Client;

#[resilient(timout = "300ms", retry = 1)]
impl Client {
    async fn get(&self, id: u64) -> Result<u64, watertight::Error> {
        Ok(id)
    }

    #[resilient(retry = off)]
    async fn put(&self) -> Result<(), watertight::Error> {
        Ok(())
    }
}

async fn caller() {
    let _ = Client.get(1).await;
}

fn main() {}
