//! Every return type that can carry a refusal, and those that cannot (B63).

use std::error::Error as StdError;
use std::io;

use anyhow::Context;
use watertight::{Class, Classify, Error, ErrorKind, resilient};

use crate::support::{Outcome, cut_off, failing, step};

type Boxed<T> = Result<T, Box<dyn StdError + Send + Sync>>;

impl StdError for crate::support::Trouble {}

impl std::fmt::Display for crate::support::Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("trouble")
    }
}

#[resilient(timeout = "20ms", retry(2, budget = off))]
async fn as_anyhow(id: u8) -> anyhow::Result<u8> {
    step().await.context("in the step")?;
    anyhow::ensure!(id > 0, "no such thing");
    Ok(id)
}

#[resilient(timeout = "20ms", retry(2, budget = off))]
async fn as_a_box(id: u8) -> Boxed<u8> {
    step().await?;
    if id == 0 { Err("no such thing".into()) } else { Ok(id) }
}

#[resilient(timeout = "20ms", retry(2, budget = off))]
async fn as_io(id: u8) -> io::Result<u8> {
    step().await.map_err(io::Error::other)?;
    Ok(id)
}

#[resilient(timeout = "20ms")]
async fn as_ours(id: u8) -> Result<u8, Error> {
    let _ = step().await;
    Ok(id)
}

#[tokio::test(start_paused = true)]
async fn error_types_that_take_any_error() {
    assert_eq!(failing(2, as_anyhow(5)).await.expect("an answer"), 5);
    assert_eq!(failing(2, as_a_box(5)).await.expect("an answer"), 5);
    assert_eq!(failing(2, as_io(5)).await.expect("an answer"), 5);
    assert_eq!(as_ours(5).await.expect("an answer"), 5);

    let error = cut_off(as_anyhow(5)).await.expect_err("cut off");
    assert_eq!(error.downcast_ref::<Error>().expect("ours").kind(), ErrorKind::TimedOut);
    let error = cut_off(as_a_box(5)).await.expect_err("cut off");
    assert_eq!(error.downcast_ref::<Error>().expect("ours").kind(), ErrorKind::TimedOut);
    let error = cut_off(as_io(5)).await.expect_err("cut off");
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert_eq!(cut_off(as_ours(5)).await.expect_err("cut off").kind(), ErrorKind::TimedOut);

    assert_eq!(as_anyhow(0).await.expect_err("its own").to_string(), "no such thing");
    assert_eq!(as_a_box(0).await.expect_err("its own").to_string(), "no such thing");
}

/// An alias is what it stands for: its errors are tried again, and classified.
mod aliases {
    use super::{Class, Classify, Error, resilient, step};

    #[derive(Debug, PartialEq)]
    pub(super) enum Mine {
        Refused,
        Twice,
        Never,
    }

    impl From<Error> for Mine {
        fn from(_: Error) -> Self {
            Self::Refused
        }
    }

    impl Classify for Mine {
        fn class(&self) -> Class {
            if *self == Self::Never { Class::Permanent } else { Class::Retryable }
        }
    }

    pub(super) type Reply = Result<u8, Mine>;

    #[resilient(timeout = "20ms", retry(2, budget = off))]
    pub(super) async fn reply(error: Mine) -> Reply
    where
        Mine: Clone,
    {
        step().await.map_err(|_| error)?;
        Ok(1)
    }

    impl Clone for Mine {
        fn clone(&self) -> Self {
            if *self == Self::Never { Self::Never } else { Self::Twice }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn aliases_are_seen_through() {
    use aliases::{Mine, reply};
    assert_eq!(failing(2, reply(Mine::Twice)).await, Ok(1));
    assert_eq!(failing(1, reply(Mine::Never)).await, Err(Mine::Never));
    assert_eq!(cut_off(reply(Mine::Twice)).await, Err(Mine::Refused));
}

/// `None` is an answer: it is not tried again, and no fallback is asked.
#[resilient(timeout = "20ms", retry(2, budget = off), fallback = || Some(9))]
async fn optional(id: u8) -> Option<u8> {
    step().await.ok()?;
    (id > 0).then_some(id)
}

#[resilient(timeout = "20ms", fallback = Vec::new)]
async fn plain(id: u8) -> Vec<u8> {
    let _ = step().await;
    vec![id]
}

#[resilient(timeout = "20ms", fallback = || ())]
async fn nothing() {
    let _ = step().await;
}

#[resilient(timeout = "20ms", fallback = note)]
async fn nothing_either(seen: &mut u8) -> () {
    let _ = step().await;
    *seen = 1;
}

async fn note() {
    tokio::task::yield_now().await;
}

#[resilient(timeout = "20ms", fallback = T::default)]
async fn generic<T: Default + Send>(value: T) -> Outcome<T> {
    step().await?;
    Ok(value)
}

#[resilient(timeout = "20ms", fallback = T::default)]
async fn plain_generic<T: Default>(value: T) -> T {
    let _ = step().await;
    value
}

#[resilient(timeout = "20ms", fallback = spare(&value))]
async fn generic_by_reference<T: Clone + Send + Sync>(value: T) -> Outcome<Vec<T>> {
    step().await?;
    Ok(vec![value.clone()])
}

fn spare<T: Clone>(value: &T) -> Vec<T> {
    vec![value.clone(); 2]
}

#[resilient(timeout = "20ms", fallback = Default::default)]
async fn hidden_plain(id: u8) -> Vec<u8> {
    let _ = step().await;
    vec![id]
}

#[resilient(retry = 2)]
async fn unrefused(id: u8) -> Option<u8> {
    step().await.ok().map(|()| id)
}

#[tokio::test(start_paused = true)]
async fn types_without_errors_have_a_fallback() {
    assert_eq!((optional(5).await, optional(0).await), (Some(5), None));
    assert_eq!(failing(1, optional(5)).await, None);
    assert_eq!(cut_off(optional(5)).await, Some(9));
    assert_eq!((plain(5).await, cut_off(plain(5)).await), (vec![5], vec![]));
    assert_eq!((hidden_plain(5).await, cut_off(hidden_plain(5)).await), (vec![5], vec![]));
    nothing().await;
    cut_off(nothing()).await;
    let mut seen = 0;
    nothing_either(&mut seen).await;
    assert_eq!(seen, 1);
    cut_off(nothing_either(&mut seen)).await;
    assert_eq!(unrefused(5).await, Some(5));
    assert_eq!(failing(1, unrefused(5)).await, None);
}

#[tokio::test(start_paused = true)]
async fn generic_values_have_fallbacks() {
    assert_eq!(generic(5).await, Ok(5));
    assert_eq!(cut_off(generic(5)).await, Ok(0));
    assert_eq!(cut_off(plain_generic(String::from("text"))).await, "");
    assert_eq!(cut_off(generic_by_reference(5)).await, Ok(vec![5, 5]));
}
