use watertight::resilient;

#[resilient(breaker, retry = 1)]
async fn get() {}

fn main() {}
