use watertight::resilient;

struct Client(Vec<u8>);

impl Client {
    #[resilient(retry = 1)]
    async fn bytes(&mut self) -> Result<&mut [u8], watertight::Error> {
        Ok(&mut self.0)
    }
}

fn main() {}
