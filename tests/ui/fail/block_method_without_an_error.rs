use watertight::resilient;

struct Client;

#[resilient(timeout = "300ms", retry = 1)]
impl Client {
    async fn get(&self, id: u64) -> u64 {
        id
    }

    async fn touch(&self) {}
}

async fn caller() {
    let _ = Client.get(1).await;
}

fn main() {}
