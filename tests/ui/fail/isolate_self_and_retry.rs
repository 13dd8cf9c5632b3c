use std::sync::Arc;

use watertight::resilient;

struct Reports;

impl Reports {
    #[resilient(isolate = "reports:4", retry = 1)]
    async fn render(self: Arc<Self>, id: u64) -> Result<u64, watertight::Error> {
        Ok(id)
    }
}

fn main() {}
