use watertight::resilient;

#[resilient(timeout = "300ms")]
async fn serve() -> ! {
    loop {}
}

fn main() {}
