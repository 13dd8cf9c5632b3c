//! A crate that denies what can be denied (B38): the attribute adds no lint to a function that has none.

#![deny(
    warnings,
    unused,
    missing_docs,
    unsafe_code,
    unused_qualifications,
    unused_results,
    let_underscore_drop,
    unreachable_pub,
    single_use_lifetimes,
    trivial_casts,
    non_ascii_idents,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::cargo,
    clippy::large_futures,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::todo,
    clippy::shadow_reuse,
    clippy::shadow_same,
    clippy::shadow_unrelated,
    clippy::absolute_paths,
    clippy::pattern_type_mismatch,
    clippy::default_numeric_fallback,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::let_underscore_must_use,
    clippy::let_underscore_untyped,
    clippy::missing_docs_in_private_items,
    clippy::single_call_fn,
    clippy::min_ident_chars,
    clippy::semicolon_outside_block,
    clippy::pub_use,
    clippy::question_mark_used,
    clippy::exhaustive_structs,
    clippy::std_instead_of_core,
    clippy::missing_inline_in_public_items,
    clippy::arithmetic_side_effects,
    clippy::undocumented_unsafe_blocks,
    clippy::unused_trait_names,
    clippy::wildcard_enum_match_arm,
    clippy::infinite_loop
)]
#![allow(
    clippy::cargo_common_metadata,
    clippy::multiple_crate_versions,
    clippy::unused_async,
    clippy::question_mark_used,
    clippy::single_call_fn,
    clippy::tests_outside_test_module
)]

use core::future::ready;

use tokio::task::yield_now;
use watertight::{Error, Failure, resilient};

/// What every call here may fail with.
type Outcome<T> = Result<T, Error>;

/// A unit.
#[resilient(timeout = "1s", fallback = || ())]
async fn unit() {
    ready(()).await;
}

/// A small number, with every key.
#[resilient(
    timeout = "1s",
    deadline = "3s",
    bulkhead = "lints:4/queue:4",
    breaker(window = 50, on = |error| error.retry_after().is_none()),
    retry(2, on = [|error| !error.is_refusal(), timeout], backoff = "1ms..2ms"),
    idempotent,
    name = "lints.full",
    fallback = fallen
)]
async fn full(base: u8, mut more: Vec<u8>, (left, _right): (u8, u8), _unused: &str) -> Outcome<u8> {
    more.push(left);
    ready(()).await;
    Ok(base.saturating_add(more.pop().unwrap_or_default()))
}

/// What is answered instead.
fn fallen(failure: Failure<Error>) -> Outcome<u8> {
    match failure {
        Failure::Refused(error) | Failure::Failed(error) => Err(error),
    }
}

/// A small number, for each tenant.
#[resilient(bulkhead = "lints.keyed:4/queue:4/total:8", rate = "1000/s", key = (&tenant, number % 2))]
async fn keyed(tenant: String, number: u8) -> Outcome<usize> {
    ready(()).await;
    Ok(tenant.len().saturating_add(usize::from(number)))
}

/// Never ends of its own.
#[resilient(timeout = "1ms")]
async fn endless(mut seen: u8) -> Outcome<()> {
    loop {
        seen = seen.saturating_add(1);
        yield_now().await;
        if seen == u8::MAX {
            return Ok(());
        }
    }
}

/// A retried value without a way to fail.
#[resilient(retry = 1)]
async fn retried(text: String) -> Option<usize> {
    ready(Some(text.len())).await
}

/// Two at once.
#[resilient(timeout = "1s", hedge(after = "p95", floor = "10ms"), idempotent)]
async fn hedged(text: String, mut more: Vec<u8>, _unused: &str) -> Outcome<usize> {
    ready(()).await;
    more.push(1);
    Ok(text.len().saturating_add(more.len()))
}

/// Two at once, without arguments.
#[resilient(hedge = "50ms", idempotent, fallback = || 0)]
async fn hedged_unit() -> u8 {
    ready(1).await
}

/// A client.
struct Client {
    /// Calls so far.
    calls: u8,
}

#[resilient(timeout = "1s", retry = 1, fallback = self.spare(&key))]
impl Client {
    /// Changes it.
    async fn set(&mut self, key: String) -> Outcome<u8> {
        self.calls = self.calls.saturating_add(1);
        ready(()).await;
        drop(key);
        Ok(self.calls)
    }

    /// Reads it.
    async fn get(&self, key: String) -> Outcome<u8> {
        ready(()).await;
        if key.is_empty() { Ok(0) } else { Ok(self.calls) }
    }

    /// What there is.
    const fn spare(&self, key: &str) -> u8 {
        if key.is_empty() { 0 } else { self.calls }
    }
}

// Paused, so that a slow machine does not cut off what is only meant to yield.
#[tokio::test(start_paused = true)]
async fn the_functions_work() {
    unit().await;
    assert_eq!(full(1, Vec::new(), (2, 3), "").await.ok(), Some(3));
    assert_eq!(keyed("text".to_owned(), 1).await.ok(), Some(5));
    assert!(endless(0).await.is_ok());
    assert_eq!(retried("text".to_owned()).await, Some(4));
    assert_eq!((hedged("text".to_owned(), Vec::new(), "").await.ok(), hedged_unit().await), (Some(5), 1));
    let mut client = Client { calls: 0 };
    assert_eq!(client.set("key".to_owned()).await.ok(), Some(1));
    assert_eq!(client.get("key".to_owned()).await.ok(), Some(1));
}
