use watertight::resilient;

struct Rates;

#[resilient(timeout = "1s", fallback = last_good("60s"))]
async fn rates() -> Result<Rates, watertight::Error> {
    Ok(Rates)
}

fn main() {}
