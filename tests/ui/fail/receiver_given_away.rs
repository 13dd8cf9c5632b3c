use watertight::resilient;

struct Client(Vec<u8>);

impl Client {
    #[resilient(retry = 1)]
    async fn into_bytes(self) -> Result<Vec<u8>, watertight::Error> {
        Ok(self.0)
    }
}

fn main() {}
