//! Functions with two bodies at once: whatever its arguments look like, the second attempt gives what the first would have.

use std::fmt::{Debug, Display};
use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use watertight::resilient;

use crate::support::{Outcome, Trouble, sendable};

/// The first attempt hangs, so every answer here is a second one's.
async fn second() {
    if watertight::attempt() == 0 {
        std::future::pending::<()>().await;
    }
    tokio::task::yield_now().await;
}

#[derive(Clone)]
struct Json<T>(T);

#[derive(Clone)]
struct Page {
    words: Vec<String>,
    #[allow(dead_code)]
    size: usize,
}

#[resilient(hedge = "5ms", idempotent)]
#[allow(clippy::too_many_arguments)]
async fn patterns(
    Json(x): Json<String>,
    Page { mut words, .. }: Page,
    _: u8,
    [a, b]: [u8; 2],
    &c: &u8,
    mut rest: &[u8],
    (left, _right): (u8, &str),
    r#type: impl Display + Clone + Send,
) -> Outcome<String> {
    second().await;
    words.push(x);
    rest = &rest[1..];
    Ok(format!("{words:?} {} {rest:?} {left} {}", a + b + c, r#type))
}

#[resilient(hedge = "5ms", idempotent, retry(1, budget = off))]
async fn generic<'a, T, const N: usize>(array: [T; N], text: &'a str) -> Outcome<(usize, T, &'a str)>
where
    T: Copy + Send + 'a,
{
    second().await;
    Ok((N, array[0], text))
}

#[resilient(hedge = "5ms", idempotent)]
async fn hidden(n: u8) -> Outcome<impl Display + Debug + PartialEq> {
    second().await;
    Ok(n)
}

#[resilient(hedge = "5ms", idempotent, bulkhead = "hedged_plain:2", fallback = |_| 9)]
async fn no_arguments() -> u8 {
    second().await;
    3
}

#[resilient(hedge = "5ms", idempotent)]
fn returns_a_future(text: &str) -> BoxFuture<'_, Outcome<usize>> {
    async move {
        second().await;
        Ok(text.len())
    }
    .boxed()
}

struct Store {
    base: u8,
}

impl Store {
    #[resilient(hedge = "5ms", timeout = "20ms", idempotent, fallback = self.none(&key, n))]
    async fn kept(&self, key: String, n: u8) -> Outcome<u8> {
        second().await;
        drop(key);
        if n > 9 { Err(Trouble::Own) } else { Ok(self.base + n) }
    }

    fn none(&self, key: &str, n: u8) -> Outcome<u8> {
        u8::try_from(key.len()).map(|length| self.base + n + length).map_err(|_| Trouble::Own)
    }

    #[resilient(hedge = "5ms", idempotent)]
    async fn typed_receiver(self: &Arc<Self>) -> Outcome<u8> {
        second().await;
        Ok(self.base)
    }

    #[resilient(hedge = "5ms", idempotent)]
    async fn lends(&self) -> Outcome<&u8> {
        second().await;
        Ok(&self.base)
    }
}

#[async_trait]
trait Boxed {
    async fn read(&self, key: &str, Json(limit): Json<usize>, mut words: Vec<u8>) -> Outcome<(String, usize)>;
}

#[async_trait]
impl Boxed for Store {
    #[resilient(hedge = "5ms", idempotent)]
    async fn read(&self, key: &str, Json(limit): Json<usize>, mut words: Vec<u8>) -> Outcome<(String, usize)> {
        second().await;
        words.push(self.base);
        Ok((key.chars().take(limit).collect(), words.len()))
    }
}

#[resilient(hedge = "5ms", idempotent)]
impl Store {
    async fn in_a_block(&self, n: u8) -> Outcome<u8> {
        second().await;
        Ok(self.base + n)
    }

    #[resilient(hedge = off, idempotent = off, retry = 1)]
    async fn without(&mut self) -> Outcome<u8> {
        self.base += 1;
        Ok(self.base)
    }
}

#[tokio::test(start_paused = true)]
async fn the_second_attempt_gives_what_the_first_would_have() {
    let page = Page { words: vec!["one".into()], size: 1 };
    let shown = sendable(patterns(Json("two".into()), page, 0, [1, 2], &3, &[7, 8], (5, ""), "six")).await;
    assert_eq!(shown, Ok("[\"one\", \"two\"] 6 [8] 5 six".into()));
    assert_eq!(sendable(generic([4, 5], "text")).await, Ok((2, 4, "text")));
    assert_eq!(sendable(hidden(5)).await.map(|shown| shown.to_string()), Ok("5".into()));
    assert_eq!(sendable(no_arguments()).await, 3);
    assert_eq!(sendable(returns_a_future("text")).await, Ok(4));
    let store = Arc::new(Store { base: 1 });
    assert_eq!(sendable(store.kept("key".into(), 2)).await, Ok(3));
    assert_eq!(sendable(store.kept("key".into(), 12)).await, Ok(16), "the fallback sees what the call was given");
    assert_eq!(sendable(store.typed_receiver()).await, Ok(1));
    assert_eq!(sendable(store.lends()).await, Ok(&1));
    assert_eq!(sendable(store.read("text", Json(2), vec![1])).await, Ok(("te".into(), 2)));
    assert_eq!(sendable(store.in_a_block(2)).await, Ok(3));
    assert_eq!(Store { base: 1 }.without().await, Ok(2));
}
