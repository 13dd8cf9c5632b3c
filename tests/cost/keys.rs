//! What keys cost in memory: nothing that stays, and a bounded amount for each that is in use.
//!
//! `cargo test --release -p watertight-tests --test cost a_million -- --ignored --nocapture` prints the table of
//! `docs/performance.md`.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

use allocation_counter::measure;
use watertight::{Error, resilient};

#[resilient(bulkhead = "cost_key:4/queue:8", key = tenant)]
async fn cost_key(tenant: u64) -> Result<u64, Error> {
    Ok(tenant)
}

#[resilient(bulkhead = "cost_key_held:4/queue:8", key = tenant)]
async fn cost_key_held(tenant: u64) -> Result<u64, Error> {
    std::future::pending().await
}

#[resilient(bulkhead = "cost_key_total:4/queue:8/total:1000000", key = tenant)]
async fn cost_key_total(tenant: u64) -> Result<u64, Error> {
    std::future::pending().await
}

#[resilient(rate = "100/s", key = tenant)]
async fn cost_key_rate(tenant: u64) -> Result<u64, Error> {
    Ok(tenant)
}

fn poll<F: Future + ?Sized>(call: &mut Pin<Box<F>>) {
    let _ = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
}

/// A key of the same look as all others: numbers of seven digits.
fn tenants(how_many: u64) -> impl Iterator<Item = u64> {
    1_000_000..1_000_000 + how_many
}

/// Bytes left by so many keys, seen one after another.
fn left_by_keys_seen_once<F: Future>(how_many: u64, call: impl Fn(u64) -> F) -> i64 {
    poll(&mut Box::pin(call(0)));
    measure(|| tenants(how_many).for_each(|tenant| poll(&mut Box::pin(call(tenant))))).bytes_current
}

/// Bytes held by so many keys in use at once, and left when none is.
fn held_and_left_by_keys_at_once<F: Future>(how_many: u64, call: impl Fn(u64) -> F) -> (i64, i64) {
    poll(&mut Box::pin(call(0)));
    let mut calls: Vec<_> = tenants(how_many).map(|tenant| Box::pin(call(tenant))).collect();
    let held = measure(|| calls.iter_mut().for_each(poll)).bytes_current;
    // A dropped call's own memory is not the keys'.
    let its_own = measure(|| drop(Box::pin(call(1)))).bytes_total;
    let freed = measure(|| calls.drain(..).for_each(drop)).bytes_current;
    let of_calls = i64::try_from(its_own * how_many).expect("fits");
    (held, held + freed + of_calls)
}

const KIB: i64 = 1_024;

#[test]
fn keys_seen_once_leave_next_to_nothing() {
    let left = left_by_keys_seen_once(100_000, cost_key);
    assert!(left < 256 * KIB, "{left} bytes");
}

#[test]
fn keys_in_use_at_once_take_a_few_hundred_bytes_each_and_leave_next_to_nothing() {
    let (held, left) = held_and_left_by_keys_at_once(100_000, cost_key_held);
    assert!(held < 100_000 * 400, "{held} bytes");
    assert!(left < 512 * KIB, "{left} bytes");
}

#[test]
#[ignore = "a measurement, for docs/performance.md"]
fn a_million_keys() {
    const MILLION: u64 = 1_000_000;
    let mib = |bytes: i64| bytes as f64 / 1024.0 / 1024.0;
    let once = left_by_keys_seen_once(MILLION, cost_key);
    println!("bulkhead, seen once: {:.2} MiB left", mib(once));
    let rate = left_by_keys_seen_once(MILLION, cost_key_rate);
    println!("rate 100/s, seen once and within its refill: {:.2} MiB held", mib(rate));
    let (held, left) = held_and_left_by_keys_at_once(MILLION, cost_key_held);
    println!("bulkhead, at once: {:.1} MiB held, {:.2} MiB left", mib(held), mib(left));
    let (held, left) = held_and_left_by_keys_at_once(MILLION, cost_key_total);
    println!("bulkhead with a total, at once: {:.1} MiB held, {:.2} MiB left", mib(held), mib(left));
}
