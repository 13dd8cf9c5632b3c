#![deny(warnings)]

use watertight::resilient;

#[resilient(timeout = "300ms", retry = 1)]
async fn never_called(id: u64) -> Result<u64, watertight::Error> {
    Ok(id)
}

#[resilient(timeout = "300ms", fallback = || 5)]
#[must_use]
async fn matters(never_read: u64, mut never_changed: Vec<u64>) -> u64 {
    let unused = 5;
    never_changed.len() as u64
}

#[resilient(retry = 1)]
async fn tried(never_read: u64, mut never_changed: Vec<u64>) -> Result<u64, watertight::Error> {
    Ok(never_changed.len() as u64)
}

async fn caller() {
    matters(1, Vec::new()).await;
    tried(1, Vec::new()).await;
}

fn main() {
    drop(caller());
}
