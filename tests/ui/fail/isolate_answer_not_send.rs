use std::rc::Rc;

use watertight::resilient;

#[resilient(isolate = "reports:4", timeout = "2s")]
fn render(id: u64) -> Result<Rc<u64>, watertight::Error> {
    Ok(Rc::new(id))
}

fn main() {}
