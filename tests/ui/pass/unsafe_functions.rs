use watertight::resilient;

/// # Safety
///
/// None needed.
#[resilient(timeout = "1s", retry = 1)]
unsafe fn never_async() -> impl Future<Output = Result<u8, watertight::Error>> {
    async move { Ok(1) }
}

#[resilient(timeout = "1s", fallback = || 0)]
async unsafe fn risky(at: *const u8) -> u8 {
    unsafe { *at }
}

fn main() {
    let _ = unsafe { (never_async(), risky(std::ptr::null())) };
}
