//! The strategies without the attribute: a pipeline that is built by hand, has a name, and runs any closure.
//!
//! An attribute needs a function to stand on. A closure has none, a service is no function, and the settings of a vendor
//! that a customer configures are not known when the program is compiled. A [`Guard`] is the same site with the same
//! pipeline: what an attribute says in strings, [`Guard::named`] and what follows it say in types, and everything
//! behind that is shared. Bulkheads, breakers and budgets belong to their names, so a guard and an annotated function
//! that name one bulkhead share its slots.
//!
//! **A guard is built once and kept.** It is a site: it lives as long as the process, is listed in the snapshot from
//! the moment it is built, and is checked by [`check`](crate::check()) like any other. Building the same name with the
//! same settings again gives the same site back, from wherever; with other settings it is refused, naming both places,
//! since otherwise whoever came first would decide. Building takes a lock and looks a name up; running does neither, so
//! keep the guard in a field or a `LazyLock`. A name is for something that is written down somewhere: one guard per
//! tenant or per URL would never end.
//!
//! **How a refusal reaches the caller.** A closure's error type is as a rule somebody else's (`reqwest::Error`), and
//! nobody can implement `From<watertight::Error>` for it. So [`Guard::run`] gives back [`Failure<E>`], which keeps the two
//! apart: *we* refused it, or *it* failed. Wrappers have a bad name where every layer adds one; here the whole pipeline
//! adds one, guards inside guards add none (`Failure<E>` can hold a refusal itself, see [`Guard::run_into`]), and `?` takes it
//! into `anyhow::Error` and the like. Whoever has an error type of their own with a place for refusals calls
//! [`Guard::run_into`] and gets that, as with the attribute.
//!
//! **What an answer means** is asked of the guard's judge ([`Judge`]): every `Err` is a failure unless told otherwise;
//! [`Guard::classified`] lets the error type speak for itself, which nested guards need, and [`Guard::judge`] takes a
//! function of the whole answer. The attribute chooses by the error's type, which generic code cannot.
//!
//! **The closure is called inside.** It is called once per attempt, when the slot is granted, and not before: what it
//! does before its first `.await` is work as well.
//!
//! Invariants: there is one driver of calls, the attribute's; a guard's declaration never changes; nothing is
//! allocated by a call; what the attribute refuses `build` refuses too (`macros/src/tests/limits.rs` holds one against the
//! other).

mod backoff;
mod breaker;
mod builder;
mod bulkhead;
mod end;
mod hedge;
mod isolate;
mod judge;
mod keyed;
mod mistakes;
#[cfg(feature = "rate")]
mod rate;
mod retry;
mod sites;

use std::fmt::{self, Display};
use std::hash::Hash;
use std::pin::{Pin, pin};

pub use backoff::{Backoff, Jitter};
pub use breaker::{Breaker, BreakerOn};
pub use builder::Builder;
pub use bulkhead::Bulkhead;
pub use hedge::Hedge;
pub use isolate::{Isolate, Isolated};
pub use judge::{ByClass, EveryError, Judge};
pub use keyed::Keyed;
pub use mistakes::BuildError;
#[cfg(feature = "rate")]
pub use rate::Rate;
pub use retry::{Budget, Retry, RetryOn};

use crate::call::{Error, Failure, Identity};
use crate::pipeline::{Call, End, answer, attempt, fall_back, settle};
use crate::site::Site;
use crate::strategies::fallback::form;
use end::finished;

/// The form of a fallback that is given the failure and gives the value.
type AtOnce = (form::TheFailure, form::Value);

/// A named pipeline for closures: the attribute's strategies, put together by hand.
///
/// It is a handle: copying it costs nothing and shares everything. `J` is what judges the answers, see [`Judge`].
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use watertight::guard::Bulkhead;
/// use watertight::{Failure, Guard};
///
/// let recs = Guard::named("doc-recs")
///     .timeout(Duration::from_millis(300))
///     .bulkhead(Bulkhead::new("doc-recs", 8).queue(16))
///     .retry(2)
///     .build()?;
///
/// let answer = recs.run(|| async { Ok::<_, std::io::Error>(vec![1, 2, 3]) }).await?;
/// assert_eq!(answer, [1, 2, 3]);
///
/// // A service that accepts and never answers.
/// let answer = recs.run(std::future::pending::<Result<Vec<u32>, std::io::Error>>).await;
/// match answer {
///     Err(Failure::Refused(error)) => assert_eq!(error.to_string(), "doc-recs: timed out after 300ms (timeout)"),
///     other => panic!("{other:?}"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Guard<J = EveryError> {
    site: &'static Site,
    judge: J,
}

impl Guard {
    /// Begins a guard. The name is the one on dashboards and in errors: 1 to 64 letters, digits, `_`, `-` or `.`; a mistake
    /// is said by [`Builder::build`]. The place of this call is the guard's source line.
    #[track_caller]
    pub fn named(name: impl Into<std::borrow::Cow<'static, str>>) -> Builder {
        Builder::new(name.into(), std::panic::Location::caller())
    }
}

// Blocks and no `async fn`, which would store the closure twice.
#[allow(clippy::manual_async_fn)]
impl<J> Guard<J> {
    /// Lets the error type say what its values mean, by [`Classify`](crate::Classify).
    ///
    /// The errors of guarded functions and of guards implement it, so this is the form for a guard around another:
    /// a refusal of the inner one then neither counts against the outer one's breaker nor is tried again.
    #[must_use]
    pub fn classified(self) -> Guard<ByClass> {
        Guard { site: self.site, judge: ByClass }
    }

    /// Judges by a function of the whole answer, for error types that say nothing and for answers that are no results in
    /// themselves: an HTTP response with status 503, for instance. A closure states the type of its parameter; a judge that
    /// has a name of its own is a type that implements [`Judge`].
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::convert::Infallible;
    /// use watertight::guard::Breaker;
    /// use watertight::{Class, Guard, Verdict};
    ///
    /// let stock = Guard::named("doc-judged").breaker(Breaker::own().window(1)).build()?;
    /// let stock = stock.judge(|answer: &Result<u16, Infallible>| match answer {
    ///     Ok(500..) => Verdict::error(Class::Retryable, None),
    ///     _ => Verdict::OK,
    /// });
    ///
    /// assert_eq!(stock.run(|| async { Ok(503) }).await.ok(), Some(503), "the caller gets the answer all the same");
    /// assert!(stock.run(|| async { Ok(200) }).await.is_err(), "and the breaker is open");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn judge<K>(self, judge: K) -> Guard<K> {
        Guard { site: self.site, judge }
    }

    /// What it is called and where it was built.
    pub fn identity(&self) -> &'static Identity {
        self.site.identity()
    }

    /// Runs a closure behind the strategies: once per attempt, each time when its slot is granted.
    ///
    /// # Errors
    ///
    /// [`Failure::Refused`] when the call was refused or cut short, with the last attempt's own error as its source
    /// where an earlier attempt had one; [`Failure::Failed`] with the closure's own final error.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the body where it stands and gives back everything the call had taken.
    pub fn run<T, E, F, Fut>(&self, mut body: F) -> impl Future<Output = Result<T, Failure<E>>>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>>,
        J: Judge<Result<T, E>>,
    {
        async move {
            let mut call = pin!(Call::begin(self.site));
            let end = ends(call.as_mut(), (), |()| Some(()), &mut |()| body(), &self.judge).await;
            finished(call, end)
        }
    }

    /// The same for a closure that can be called once: whatever the guard says about retries, there are none.
    ///
    /// # Errors
    ///
    /// As [`Guard::run`].
    ///
    /// # Cancel safety
    ///
    /// As [`Guard::run`].
    pub fn run_once<T, E, F, Fut>(&self, body: F) -> impl Future<Output = Result<T, Failure<E>>>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
        J: Judge<Result<T, E>>,
    {
        self.run_again(body, None::<&str>, |_| None, |body: F| body())
    }

    /// Runs what needs something that has to be made anew for each attempt; `again` says whether it can be. The key is read when
    /// the call begins.
    pub(crate) fn run_again<N, K, T, E, F, Fut>(
        &self,
        needed: N,
        key: Option<K>,
        again: impl Fn(&N) -> Option<N>,
        mut body: F,
    ) -> impl Future<Output = Result<T, Failure<E>>>
    where
        K: Hash + Display,
        F: FnMut(N) -> Fut,
        Fut: Future<Output = Result<T, E>>,
        J: Judge<Result<T, E>>,
    {
        async move {
            let mut call = pin!(Call::begin(self.site));
            keyed::tell(call.as_mut(), key.as_ref());
            drop(key);
            let end = ends(call.as_mut(), needed, again, &mut body, &self.judge).await;
            finished(call, end)
        }
    }

    /// The same in the closure's own error type, for those with a place for refusals: what the attribute does. It is the form
    /// for `anyhow::Error` and boxed errors, too, which can hold anything.
    ///
    /// Guards inside guards add no wrapper this way: the closure's error type may be the [`Failure`] of the inner one.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::time::Duration;
    /// use watertight::{Failure, Guard};
    ///
    /// let page = Guard::named("doc-page").deadline(Duration::from_secs(2)).build()?.classified();
    /// let price = Guard::named("doc-price").timeout(Duration::from_millis(300)).build()?;
    ///
    /// let cents: Result<u32, Failure<watertight::Error>> =
    ///     page.run_into(|| price.run(|| async { Ok::<_, watertight::Error>(1_999) })).await;
    /// assert_eq!(cents?, 1_999);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The closure's own final error, or a refusal made into one.
    ///
    /// # Cancel safety
    ///
    /// As [`Guard::run`].
    pub fn run_into<T, E, F, Fut>(&self, mut body: F) -> impl Future<Output = Result<T, E>>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>>,
        E: From<Error>,
        J: Judge<Result<T, E>>,
    {
        async move {
            let mut call = pin!(Call::begin(self.site));
            let end = ends(call.as_mut(), (), |()| Some(()), &mut |()| body(), &self.judge).await;
            answer(call, end)
        }
    }

    /// The same with an answer for every failure: for refusals, timeouts and the closure's own final error alike. It is
    /// asked once, after everything else, with nothing held, and it always has an answer; for one that may fail itself,
    /// or takes time, there is [`Guard::run_with_fallback`].
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use std::time::Duration;
    /// # use watertight::Guard;
    /// let recs = Guard::named("doc-recs-or").timeout(Duration::from_millis(300)).build()?;
    /// let recs: Vec<u32> = recs.run_or_else(std::future::pending::<Result<_, std::io::Error>>, |_failure| Vec::new()).await;
    /// assert!(recs.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// As [`Guard::run`].
    pub fn run_or_else<T, E, F, Fut, A>(&self, mut body: F, fallback: A) -> impl Future<Output = T>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>>,
        A: FnOnce(Failure<E>) -> T,
        J: Judge<Result<T, E>>,
    {
        async move {
            let mut call = pin!(Call::begin(self.site));
            let kind = judge::Of::new(&self.judge);
            let end = ends(call.as_mut(), (), |()| Some(()), &mut |()| body(), &self.judge).await;
            let whole = match settle(&kind, &mut call, end) {
                Ok(whole) => whole,
                Err(failure) => fall_back::<_, AtOnce, _>(kind, &mut call, failure, fallback).await,
            };
            match whole {
                Ok(value) => value,
                Err(_) => unreachable!("watertight: a fallback that always answers has failed"),
            }
        }
    }

    /// The same with a fallback that takes its time and may fail.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use std::time::Duration;
    /// # use watertight::Guard;
    /// # async fn from_cache() -> Result<Vec<u32>, std::io::Error> { Ok(vec![7]) }
    /// let recs = Guard::named("doc-recs-cached").timeout(Duration::from_millis(300)).build()?;
    /// let recs = recs.run_with_fallback(std::future::pending::<Result<Vec<u32>, _>>, |_failure| from_cache()).await?;
    /// assert_eq!(recs, [7]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The fallback's own.
    ///
    /// # Cancel safety
    ///
    /// As [`Guard::run`].
    pub fn run_with_fallback<T, E, F, Fut, A, Answer>(
        &self,
        mut body: F,
        fallback: A,
    ) -> impl Future<Output = Result<T, E>>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>>,
        A: FnOnce(Failure<E>) -> Answer,
        Answer: Future<Output = Result<T, E>>,
        J: Judge<Result<T, E>>,
    {
        async move {
            let mut call = pin!(Call::begin(self.site));
            let kind = judge::Of::new(&self.judge);
            let end = ends(call.as_mut(), (), |()| Some(()), &mut |()| body(), &self.judge).await;
            let failure = match settle(&kind, &mut call, end) {
                Ok(whole) => return whole,
                Err(failure) => failure,
            };
            fall_back(kind, &mut call, failure, fallback).await
        }
    }
}

/// Attempts until one is the last; the lines that the attribute writes into every function.
///
/// What an attempt needs is given to it, and `again` makes it for the next one; where it cannot, there is no next one.
async fn ends<N, T, E, F, Fut, J>(
    mut call: Pin<&mut Call>,
    mut needed: N,
    again: impl Fn(&N) -> Option<N>,
    body: &mut F,
    judge: &J,
) -> End<Result<T, E>>
where
    F: FnMut(N) -> Fut,
    Fut: Future<Output = Result<T, E>>,
    J: Judge<Result<T, E>>,
{
    loop {
        let next = if call.is_last() { None } else { again(&needed) };
        if next.is_none() {
            call.as_mut().allow_no_other();
        }
        // Called when first polled, which is inside: after the slot, before the limit, with the call's context.
        let run = pin!(Some(async { body(needed).await }));
        if let Some(end) = attempt(&mut call, run, judge::Of::new(judge)).await {
            return end;
        }
        match next {
            Some(next) => needed = next,
            // Not reached, since the call was told; and a call without an answer says why.
            None => return End::Refused,
        }
    }
}

impl<J> fmt::Debug for Guard<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guard").field(&self.identity().to_string()).finish()
    }
}
