use watertight::resilient;

struct Client {
    sent: u32,
}

impl Client {
    #[resilient(hedge = "p95", idempotent)]
    async fn send(&mut self, id: u64) -> Result<u64, watertight::Error> {
        self.sent += 1;
        Ok(id)
    }
}

fn main() {}
