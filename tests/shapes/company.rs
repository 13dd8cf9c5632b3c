//! Other attributes on either side, macros around, and what a compiler is told about a function (B39, B44, B47).

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::task::LocalSet;
use tracing::instrument;
use watertight::{ErrorKind, resilient};

use crate::support::{Outcome, Trouble, cut_off, failing, step};

#[resilient(timeout = "20ms", retry(2, budget = off))]
#[instrument(skip(text))]
async fn above(text: String) -> Outcome<usize> {
    step().await?;
    Ok(text.len())
}

#[instrument]
#[resilient(timeout = "20ms")]
async fn below(text: String) -> Outcome<usize> {
    step().await?;
    Ok(text.len())
}

struct Client;

#[resilient(timeout = "20ms", retry(2, budget = off))]
impl Client {
    #[instrument(skip(self), err(Debug))]
    async fn get(&self, text: String) -> Outcome<usize> {
        step().await?;
        Ok(text.len())
    }
}

#[tokio::test(start_paused = true)]
async fn instrument_on_either_side() {
    assert_eq!(failing(2, above("text".into())).await, Ok(4));
    assert_eq!(failing(2, Client.get("text".into())).await, Ok(4));
    assert_eq!(below("text".into()).await, Ok(4));
    assert!(cut_off(above("text".into())).await.is_err());
    assert!(cut_off(below("text".into())).await.is_err());
    assert!(cut_off(Client.get("text".into())).await.is_err());
}

/// The attribute on a test.
#[resilient(timeout = "20ms")]
#[tokio::test(start_paused = true)]
async fn below_the_test_attribute() -> Result<(), watertight::Error> {
    let _ = step().await;
    Ok(())
}

/// Documented, deprecated, and must be used.
#[must_use]
#[deprecated = "for the test"]
#[resilient(timeout = "20ms", fallback = || 0)]
#[inline]
async fn attributed(#[allow(unused_variables)] id: u8) -> u8 {
    #![allow(clippy::let_and_return)]
    let answer = step().await.map_or(0, |()| 5);
    answer
}

#[cfg_attr(all(), resilient(timeout = "20ms"))]
#[cfg_attr(any(), this_is_not_there)]
async fn conditional() -> Outcome<u8> {
    step().await?;
    #[cfg(any())]
    return Ok(this_is_not_there());
    Ok(5)
}

#[tokio::test(start_paused = true)]
async fn attributes_stay() {
    #[allow(deprecated)]
    let answers = (attributed(1).await, cut_off(attributed(1)).await);
    assert_eq!(answers, (5, 0));
    assert_eq!(conditional().await, Ok(5));
    assert!(cut_off(conditional()).await.is_err());
}

macro_rules! made {
    ($vis:vis $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty $body:block) => {
        #[resilient(timeout = "20ms", retry(1, budget = off))]
        $vis async fn $name($($arg: $ty),*) -> $ret $body
    };
    ($key:ident = $value:expr, $function:item) => {
        #[resilient($key = $value, retry(1, budget = off))]
        $function
    };
}

made! { pub(crate) from_parts(a: u8, b: String) -> Outcome<usize> { step().await?; Ok(usize::from(a) + b.len()) } }
made! { timeout = "20ms", async fn whole(a: u8) -> Outcome<u8> { step().await?; Ok(a) } }

#[tokio::test(start_paused = true)]
async fn functions_made_by_macros() {
    assert_eq!(failing(1, from_parts(1, "text".into())).await, Ok(5));
    assert_eq!(failing(1, whole(1)).await, Ok(1));
    assert_eq!(cut_off(from_parts(1, "text".into())).await, Err(Trouble::Refused(ErrorKind::TimedOut)));
    assert_eq!(cut_off(whole(1)).await, Err(Trouble::Refused(ErrorKind::TimedOut)));
}

/// A body that stays on its thread is as good here as it is bare.
#[resilient(timeout = "20ms", retry(1, budget = off), bulkhead = "company.local:4", breaker)]
async fn local(shared: Rc<u8>) -> Outcome<u8> {
    let kept = Rc::clone(&shared);
    step().await?;
    Ok(*kept)
}

#[tokio::test(start_paused = true)]
async fn bodies_that_cannot_be_sent_run_on_a_local_set() {
    let tasks = LocalSet::new();
    let answer = tasks.run_until(async { tokio::task::spawn_local(local(Rc::new(5))).await });
    assert_eq!(answer.await.expect("it ends"), Ok(5));
}

#[resilient(timeout = "9s", retry(1, budget = off), bulkhead = "company.spawned:8/queue:2000", breaker)]
#[instrument(level = "trace")]
async fn spawned(count: Arc<AtomicUsize>) -> Outcome<()> {
    tokio::task::yield_now().await;
    count.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn a_thousand_calls_on_eight_threads() {
    let count = Arc::new(AtomicUsize::new(0));
    let calls: Vec<_> = (0..1000).map(|_| tokio::spawn(spawned(Arc::clone(&count)))).collect();
    for call in calls {
        assert_eq!(call.await.expect("it ends"), Ok(()));
    }
    assert_eq!(count.load(Ordering::Relaxed), 1000);
}
