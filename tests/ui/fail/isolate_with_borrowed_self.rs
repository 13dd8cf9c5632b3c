use watertight::resilient;

struct Reports;

impl Reports {
    #[resilient(isolate = "reports:4", timeout = "2s")]
    fn render(&self, id: u64) -> Result<u64, watertight::Error> {
        Ok(id)
    }
}

fn main() {}
