//! Which functions can be annotated, and that their futures stay `Send` when the body is.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::poll;
use tokio::time::sleep;
use watertight::{Error, ErrorKind, resilient};
use watertight_tests::{AppError, Gate, assert_free, caught, ms, panic_quietly, site, yields};

/// Compiles only for what can be sent to another thread.
fn send<F: Future + Send>(future: F) -> F {
    future
}

/// What is awaited inside: `Send` itself.
async fn work() -> Result<u32, AppError> {
    yields(1).await;
    Ok(7)
}

/// One function per combination of keys, each asserted `Send` and spawned.
macro_rules! send_with {
    ($($function:ident: [$($keys:tt)*];)*) => {
        $(#[resilient($($keys)*)]
        async fn $function(by_value: String, borrowed: &str) -> Result<u32, AppError> {
            let length = u32::try_from(by_value.len() + borrowed.len()).unwrap_or(0);
            Ok(work().await? + length)
        })*

        #[tokio::test(start_paused = true)]
        async fn futures_are_send_under_every_key() {
            $(
                let call = async { $function("abc".to_owned(), "de").await };
                assert_eq!(tokio::spawn(send(call)).await.unwrap().unwrap(), 12, stringify!($function));
            )*
        }
    };
}

async fn later(_: AppError) -> u32 {
    0
}

send_with! {
    send_timeout: [timeout = "1s"];
    send_deadline: [deadline = "1s"];
    send_bulkhead: [bulkhead = "send_bulkhead:1/queue:1"];
    send_breaker: [breaker];
    send_retry: [retry = 2];
    send_retry_on: [retry(2, on = |error| error.broken().is_some())];
    send_fallback: [fallback = || 0];
    send_fallback_later: [timeout = "1s", fallback = later];
    send_all: [
        timeout = "1s", deadline = "2s", bulkhead = "send_all:1/queue:1", breaker, retry = 2, idempotent, fallback = later
    ];
}

#[resilient(timeout = "1s", retry = 1)]
async fn shapes_local(value: Rc<u32>) -> Result<u32, AppError> {
    yields(1).await;
    Ok(*value)
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_not_send_works_where_it_stays_on_its_thread() {
    let local = tokio::task::LocalSet::new();
    assert_eq!(local.run_until(shapes_local(Rc::new(7))).await.unwrap(), 7);
}

// Generic functions.

#[resilient(bulkhead = "shapes_generic:1")]
async fn shapes_generic<'a, T>(gate: &Gate, text: &'a T) -> Result<&'a str, Error>
where
    T: AsRef<str> + ?Sized,
{
    gate.opened().await;
    Ok(text.as_ref())
}

#[tokio::test(start_paused = true)]
async fn all_types_of_a_generic_function_share_one_site_and_one_bulkhead() {
    let gate = Gate::shut();
    let owned = "owned".to_owned();
    let mut first = Box::pin(shapes_generic(&gate, &owned));
    assert!(poll!(&mut first).is_pending());
    assert_eq!(shapes_generic(&gate, "borrowed").await.unwrap_err().kind(), ErrorKind::BulkheadFull);
    gate.open();
    assert_eq!(first.await.unwrap(), "owned");
    assert_eq!(shapes_generic(&gate, "borrowed").await.unwrap(), "borrowed");
    assert_eq!(watertight::snapshot().sites.iter().filter(|site| site.name == "shapes_generic").count(), 1);
    assert_eq!((site("shapes_generic").calls, site("shapes_generic").ok), (3, 2));
    assert_free!("shapes_generic", 1);
}

#[resilient(timeout = "1s")]
async fn shapes_const<const N: usize>(of: [u8; N]) -> Result<usize, Error> {
    Ok(of.len())
}

#[resilient(timeout = "1s")]
async fn shapes_impl_trait(
    shown: impl Display + Send,
    parse: impl for<'x> Fn(&'x str) -> &'x str,
) -> Result<String, Error> {
    Ok(parse(&shown.to_string()).to_owned())
}

#[resilient(timeout = "1s")]
async fn shapes_returns_impl(number: u32) -> Result<impl Display, Error> {
    Ok(number)
}

struct Point {
    x: u8,
    y: u8,
}

impl Clone for Point {
    fn clone(&self) -> Self {
        Self { x: self.x, y: self.y }
    }
}

#[resilient(timeout = "1s")]
async fn shapes_patterns((a, b): (u8, u8), [c, d]: [u8; 2], _: u8, Point { x, .. }: Point) -> Result<u32, Error> {
    Ok([a, b, c, d, x].into_iter().map(u32::from).sum())
}

#[resilient(timeout = "1s", retry = 1)]
async fn shapes_patterns_again((a, mut b): (u8, u8), Point { x, y }: Point, at: &mut u8) -> Result<u32, AppError> {
    b += 1;
    *at += 1;
    if watertight::attempt() == 0 {
        return Err(AppError::Broken("first"));
    }
    Ok([a, b, x, y, *at].into_iter().map(u32::from).sum())
}

#[tokio::test(start_paused = true)]
async fn parameters_of_every_kind_arrive() {
    assert_eq!(shapes_const([1, 2, 3]).await.unwrap(), 3);
    assert_eq!(shapes_impl_trait(42, |text: &str| &text[1..]).await.unwrap(), "2");
    assert_eq!(shapes_returns_impl(5).await.unwrap().to_string(), "5");
    assert_eq!(shapes_patterns((1, 2), [3, 4], 9, Point { x: 5, y: 9 }).await.unwrap(), 15);
    let mut at = 10;
    assert_eq!(shapes_patterns_again((1, 2), Point { x: 3, y: 4 }, &mut at).await.unwrap(), 1 + 3 + 3 + 4 + 12);
}

// Receivers.

#[derive(Clone)]
struct Thing(u32);

impl Thing {
    #[resilient(timeout = "1s")]
    async fn by_ref(&self) -> Result<u32, Error> {
        Ok(self.0)
    }

    #[resilient(timeout = "1s")]
    async fn by_mut(&mut self) -> Result<&mut u32, Error> {
        self.0 += 1;
        Ok(&mut self.0)
    }

    #[resilient(timeout = "1s")]
    async fn by_value(self) -> Result<Self, Error> {
        Ok(self)
    }

    #[resilient(timeout = "1s")]
    async fn by_mut_value(mut self) -> Result<u32, Error> {
        self.0 += 1;
        Ok(self.0)
    }

    #[resilient(timeout = "1s")]
    async fn by_box(self: Box<Self>) -> Result<u32, Error> {
        Ok(self.0)
    }

    #[resilient(timeout = "1s", retry = 1)]
    async fn by_arc(self: Arc<Self>) -> Result<u32, AppError> {
        if watertight::attempt() == 0 { Err(AppError::Broken("first")) } else { Ok(self.0) }
    }

    #[resilient(timeout = "1s")]
    async fn by_pin(self: Pin<&mut Self>) -> Result<u32, Error> {
        Ok(self.0)
    }
}

#[tokio::test(start_paused = true)]
async fn methods_may_take_any_receiver() {
    let mut thing = Thing(7);
    assert_eq!(thing.by_ref().await.unwrap(), 7);
    *thing.by_mut().await.unwrap() += 1;
    assert_eq!(thing.clone().by_value().await.unwrap().0, 9);
    assert_eq!(thing.clone().by_mut_value().await.unwrap(), 10);
    assert_eq!(Box::new(thing.clone()).by_box().await.unwrap(), 9);
    assert_eq!(Arc::new(thing.clone()).by_arc().await.unwrap(), 9);
    assert_eq!(Pin::new(&mut thing).by_pin().await.unwrap(), 9);
}

// Traits, and functions that return a future: the attribute must not guard the making of a box.

trait Native {
    async fn native(&self, length: u64) -> Result<u32, Error>;

    #[resilient(timeout = "20ms")]
    async fn native_default(&self, length: u64) -> Result<u32, Error> {
        sleep(ms(length)).await;
        Ok(1)
    }
}

impl Native for Thing {
    #[resilient(timeout = "20ms")]
    async fn native(&self, length: u64) -> Result<u32, Error> {
        sleep(ms(length)).await;
        Ok(self.0)
    }
}

#[async_trait::async_trait]
trait Boxed {
    async fn boxed_below(&self, length: u64) -> Result<u32, Error>;

    #[resilient(timeout = "20ms", name = "boxed_default")]
    async fn boxed_default(&self, length: u64) -> Result<u32, Error> {
        sleep(ms(length)).await;
        Ok(2)
    }
}

#[async_trait::async_trait]
impl Boxed for Thing {
    #[resilient(timeout = "20ms")]
    async fn boxed_below(&self, length: u64) -> Result<u32, Error> {
        sleep(ms(length)).await;
        Ok(self.0)
    }
}

#[resilient(timeout = "20ms")]
fn future_boxed(length: u64) -> BoxFuture<'static, Result<u32, Error>> {
    async move {
        sleep(ms(length)).await;
        Ok(3)
    }
    .boxed()
}

#[resilient(timeout = "20ms")]
fn future_pinned(length: u64) -> Pin<Box<dyn Future<Output = Result<u32, Error>> + Send>> {
    let doubled = length * 2;
    Box::pin(async move {
        sleep(ms(doubled)).await;
        Ok(4)
    })
}

#[allow(clippy::manual_async_fn)] // the shape is what is tested
#[resilient(timeout = "20ms")]
fn future_impl(length: u64) -> impl Future<Output = Result<u32, Error>> + Send {
    async move {
        sleep(ms(length)).await;
        Ok(5)
    }
}

#[tokio::test(start_paused = true)]
async fn b44_in_traits_and_around_made_futures_the_body_itself_is_guarded() {
    let thing = Thing(7);
    let quick = [
        thing.native(1).await,
        thing.native_default(1).await,
        thing.boxed_below(1).await,
        thing.boxed_default(1).await,
        future_boxed(1).await,
        future_pinned(1).await,
        future_impl(1).await,
    ];
    assert_eq!(quick.map(Result::unwrap), [7, 1, 7, 2, 3, 4, 5]);
    let slow = [
        thing.native(100).await,
        thing.native_default(100).await,
        thing.boxed_below(100).await,
        thing.boxed_default(100).await,
        future_boxed(100).await,
        future_pinned(100).await,
        future_impl(100).await,
    ];
    for answer in slow {
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::TimedOut);
    }
    let names =
        ["native", "native_default", "boxed_below", "boxed_default", "future_boxed", "future_pinned", "future_impl"];
    for name in names {
        assert_eq!((site(name).ok, site(name).timed_out), (1, 1), "{name}");
    }
}

#[resilient(timeout = "1s", bulkhead = "shapes_early:1")]
async fn shapes_early(way: u8) -> Result<u8, AppError> {
    if way == 0 {
        return Ok(0);
    }
    if way == 1 {
        Err(AppError::Broken("by question mark"))?;
    }
    for _ in 0..way {
        if way == 2 {
            return Err(AppError::Broken("from a loop"));
        }
    }
    if way == 3 {
        panic_quietly();
    }
    Ok(way)
}

#[tokio::test(start_paused = true)]
async fn every_way_out_of_a_body_gives_the_slot_back() {
    assert_eq!(shapes_early(0).await.unwrap(), 0);
    assert_eq!(shapes_early(1).await.unwrap_err().broken(), Some("by question mark"));
    assert_eq!(shapes_early(2).await.unwrap_err().broken(), Some("from a loop"));
    assert_eq!(shapes_early(4).await.unwrap(), 4);
    caught(shapes_early(3)).await.expect_err("panics");
    let figures = site("shapes_early");
    assert_eq!((figures.ok, figures.error, figures.panicked), (2, 2, 1));
    assert_free!("shapes_early", 1);
}
