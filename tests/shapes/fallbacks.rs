//! Fallbacks of every form: what they take, what they give, and the call's arguments (B50).

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::Display;

use watertight::{ErrorKind, Failure, resilient};

use crate::support::{Outcome, Trouble, cut_off, failing, sendable, step};

fn empty() -> Vec<u8> {
    Vec::new()
}

async fn one() -> Vec<u8> {
    tokio::task::yield_now().await;
    vec![1]
}

#[allow(clippy::needless_pass_by_value)] // a fallback is given it
fn why(failure: Failure<Trouble>) -> Vec<u8> {
    vec![u8::from(failure.refusal().is_some())]
}

async fn whole(error: Trouble) -> Outcome<Vec<u8>> {
    if error == Trouble::Own { Err(error) } else { Ok(vec![7]) }
}

macro_rules! forms {
    ($($name:ident: $fallback:expr, $on_error:expr, $on_timeout:expr;)+) => {
        $(mod $name {
            use super::*;

            #[resilient(timeout = "20ms", fallback = $fallback)]
            async fn shape() -> Outcome<Vec<u8>> {
                step().await?;
                Ok(vec![9])
            }

            #[tokio::test(start_paused = true)]
            async fn answers() {
                assert_eq!(sendable(shape()).await, Ok(vec![9]));
                assert_eq!(failing(1, shape()).await, $on_error);
                assert_eq!(cut_off(shape()).await, $on_timeout);
            }
        })+
    };
}

forms! {
    path: empty, Ok(vec![]), Ok(vec![]);
    path_elsewhere: Vec::new, Ok(vec![]), Ok(vec![]);
    asynchronous: one, Ok(vec![1]), Ok(vec![1]);
    takes_the_failure: why, Ok(vec![0]), Ok(vec![1]);
    takes_the_error: whole, Err(Trouble::Own), Ok(vec![7]);
    closure: || vec![3], Ok(vec![3]), Ok(vec![3]);
    closure_of_the_failure: |failure| vec![u8::from(failure.error().is_some())], Ok(vec![1]), Ok(vec![0]);
    closure_of_the_error: |error: Trouble| Err(error), Err(Trouble::Own), Err(Trouble::Refused(ErrorKind::TimedOut));
    closure_of_the_whole: || Ok(vec![4]), Ok(vec![4]), Ok(vec![4]);
    asynchronous_closure: async || one().await, Ok(vec![1]), Ok(vec![1]);
    call: Vec::from([5, 6]), Ok(vec![5, 6]), Ok(vec![5, 6]);
    asynchronous_call: one(), Ok(vec![1]), Ok(vec![1]);
    generic: some::<Vec<u8>>, Ok(vec![]), Ok(vec![]);
}

fn never() -> ! {
    panic!("no answer")
}

#[resilient(timeout = "20ms", fallback = never)]
async fn by_a_path() -> Outcome<u8> {
    step().await?;
    Ok(9)
}

#[resilient(timeout = "20ms", fallback = || never())]
async fn by_a_closure() -> Outcome<u8> {
    step().await?;
    Ok(9)
}

#[resilient(timeout = "20ms", fallback = |failure| panic!("{failure:?}"))]
async fn with_the_failure() -> Outcome<u8> {
    step().await?;
    Ok(9)
}

#[resilient(timeout = "20ms", fallback = |_| unreachable!())]
async fn without_an_error() -> Option<u8> {
    Some(9)
}

#[tokio::test(start_paused = true)]
async fn a_fallback_may_never_return() {
    assert_eq!(sendable(by_a_path()).await, Ok(9));
    assert_eq!(sendable(by_a_closure()).await, Ok(9));
    assert_eq!(sendable(with_the_failure()).await, Ok(9));
    assert_eq!(without_an_error().await, Some(9));
    let panicked = tokio::spawn(failing(1, by_a_path())).await.expect_err("the fallback panics");
    assert!(panicked.is_panic());
}

fn some<T: Default>() -> T {
    T::default()
}

struct Pages {
    seen: HashMap<String, String>,
    asked: u32,
}

impl Pages {
    fn new() -> Self {
        Self { seen: HashMap::from([("home".into(), "stale".into())]), asked: 0 }
    }

    fn stale(&self, key: &str) -> Outcome<String> {
        self.seen.get(key).cloned().ok_or(Trouble::Own)
    }

    async fn stale_soon(&self, key: &str, pause: &Cell<u8>) -> Outcome<String> {
        tokio::task::yield_now().await;
        pause.set(1);
        self.stale(key)
    }

    #[resilient(timeout = "20ms", fallback = self.stale(key))]
    async fn by_method(&self, key: &str) -> Outcome<String> {
        step().await?;
        Ok(key.repeat(2))
    }

    #[resilient(timeout = "20ms", fallback = Self::stale(self, &key))]
    async fn by_path(&self, key: String) -> Outcome<String> {
        step().await?;
        Ok(key.repeat(2))
    }

    /// The body changes the receiver, and the fallback sees it changed.
    #[resilient(timeout = "20ms", retry(1, backoff = "1ms..1ms", budget = off), fallback = self.stale(&key))]
    async fn again(&mut self, mut key: String, tag: Vec<u8>) -> Outcome<String> {
        key.push('!');
        self.asked += 1;
        self.seen.insert("away".into(), format!("{}", self.asked));
        step().await?;
        drop(tag);
        Ok(key)
    }

    #[resilient(timeout = "20ms", fallback = self.stale_soon(&key, &pause))]
    async fn by_future(&self, key: String, pause: Cell<u8>) -> Outcome<String> {
        step().await?;
        Ok(format!("{key}{}", pause.get()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_is_given_the_arguments() {
    let mut pages = Pages::new();
    assert_eq!(sendable(pages.by_method("home")).await, Ok("homehome".into()));
    assert_eq!(failing(1, pages.by_method("home")).await, Ok("stale".into()));
    assert_eq!(cut_off(pages.by_method("none")).await, Err(Trouble::Own));
    assert_eq!(cut_off(pages.by_path("home".into())).await, Ok("stale".into()));
    assert_eq!(cut_off(pages.by_future("home".into(), Cell::new(0))).await, Ok("stale".into()));
    assert_eq!(failing(2, sendable(pages.again("away".into(), vec![1]))).await, Ok("2".into()));
    assert_eq!(failing(1, pages.again("away".into(), vec![1])).await, Ok("away!".into()));
}

#[resilient(timeout = "20ms", fallback = |failure| format!("{key}: {failure:?} of {}", limits.len()))]
async fn by_closure<T: Display + Send + Sync>(key: T, mut limits: Vec<u8>, other: Cell<u8>) -> Outcome<String> {
    limits.push(1);
    step().await?;
    Ok(format!("{key}{}", other.get()))
}

#[tokio::test(start_paused = true)]
async fn a_closure_can_name_the_arguments_too() {
    let shape = || sendable(by_closure("key", vec![5], Cell::new(7)));
    assert_eq!(shape().await, Ok("key7".into()));
    assert_eq!(failing(1, shape()).await, Ok("key: Failed(Own) of 2".into()));
    assert!(cut_off(shape()).await.is_ok_and(|text| text.starts_with("key: Refused(") && text.ends_with("of 2")));
}

/// Under retry each attempt has a copy, and the fallback what the call was given.
#[resilient(retry(1, backoff = "1ms..1ms", budget = off), timeout = "20ms", fallback = text.into_bytes())]
async fn consumed(text: String, #[cfg(test)] mut more: Vec<u8>) -> Outcome<Vec<u8>> {
    more.extend(text.into_bytes());
    step().await?;
    Ok(more)
}

#[tokio::test(start_paused = true)]
async fn under_retry_a_body_may_consume_what_the_fallback_names() {
    assert_eq!(failing(1, consumed("a".into(), vec![1])).await, Ok(vec![1, 97]));
    assert_eq!(failing(2, consumed("a".into(), vec![1])).await, Ok(vec![97]));
    assert_eq!(cut_off(consumed("a".into(), vec![1])).await, Ok(vec![97]));
}

mod under_async_trait {
    use super::{Outcome, Pages, resilient, step};

    #[async_trait::async_trait]
    pub(super) trait Load {
        async fn load(&mut self, key: String, limit: usize) -> Outcome<String>;
    }

    #[async_trait::async_trait]
    impl Load for Pages {
        #[resilient(timeout = "20ms", fallback = self.stale(&key))]
        async fn load(&mut self, key: String, limit: usize) -> Outcome<String> {
            self.asked += 1;
            step().await?;
            Ok(key.chars().take(limit).collect())
        }
    }
}

#[tokio::test(start_paused = true)]
async fn in_async_trait_self_is_self() {
    use under_async_trait::Load;
    let mut pages = Pages::new();
    assert_eq!(pages.load("home".into(), 2).await, Ok("ho".into()));
    assert_eq!(cut_off(pages.load("home".into(), 2)).await, Ok("stale".into()));
}

#[resilient(timeout = "20ms", fallback = length(text))]
fn in_steps(text: &str, moved: String) -> impl Future<Output = Outcome<usize>> + Send {
    let owned = moved;
    async move {
        step().await?;
        Ok(owned.len() + text.len())
    }
}

fn length(text: &str) -> usize {
    text.len()
}

#[tokio::test(start_paused = true)]
async fn in_a_function_that_returns_a_future() {
    assert_eq!(in_steps("text", "moved".into()).await, Ok(9));
    assert_eq!(cut_off(in_steps("text", "moved".into())).await, Ok(4));
}
