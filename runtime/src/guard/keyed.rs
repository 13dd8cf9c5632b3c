//! A guard for one key, and the runs that ask more of a closure than [`Guard::run`] does.
//!
//! The attribute reads `key`, `hedge` and `last_good` off the function it stands on. A guard has no function, so whoever
//! runs a closure says which of these the run has use for, and the run's bounds are what it needs: a key that can be hashed
//! and shown, a closure that can be run twice at once, an answer that can be kept. The settings stay the guard's, so figures and
//! named state are the same whichever way a call comes.
//!
//! Invariants: a key is read when the call begins and not held by its future beyond that; a call without a key of a keyed guard
//! shares one place with all others of its kind.

use std::fmt::Display;
use std::hash::Hash;
use std::pin::{Pin, pin};

use super::end::finished;
use super::{Guard, Judge, ends, judge};
use crate::call::{Error, Failure};
use crate::pipeline::{Call, Key, answer, race, settle};

/// A guard for one key: its compartment, its bucket, its most recent success. See [`Guard::key`].
#[derive(Debug)]
pub struct Keyed<'a, J, K: ?Sized> {
    guard: &'a Guard<J>,
    key: &'a K,
}

impl<J, K: ?Sized> Clone for Keyed<'_, J, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<J, K: ?Sized> Copy for Keyed<'_, J, K> {}

/// Tells a call its key, if there is one.
pub(super) fn tell<K: Hash + Display + ?Sized>(call: Pin<&mut Call>, key: Option<&K>) {
    if let Some(key) = key {
        call.keyed(&Key::displayed(key, &key));
    }
}

/// A guard's call without a key.
const NONE: Option<&str> = None;

// Functions that return blocks and no `async fn`, which would store the closure twice.
#[allow(clippy::manual_async_fn)]
fn hedged<'a, T, E, F, Fut, J, K>(
    guard: &'a Guard<J>,
    key: Option<&'a K>,
    body: F,
) -> impl Future<Output = Result<T, Failure<E>>> + use<'a, T, E, F, Fut, J, K>
where
    F: Fn() -> Fut,
    Fut: Future<Output = Result<T, E>>,
    J: Judge<Result<T, E>>,
    K: Hash + Display + ?Sized,
{
    async move {
        let mut call = pin!(Call::begin(guard.site));
        tell(call.as_mut(), key);
        // Called when first polled, which is inside: after the slot, before the limit, with the call's context.
        let mut again = |_: bool| async { body().await };
        let end = loop {
            let first = pin!(Some(again(false)));
            let beside = (pin!(None), pin!(None));
            if let Some(end) = race(&mut call, first, beside, &mut again, judge::Of::new(&guard.judge)).await {
                break end;
            }
        };
        finished(call, end)
    }
}

#[allow(clippy::manual_async_fn)]
fn or_last_good<'a, T, E, F, Fut, J, K>(
    guard: &'a Guard<J>,
    key: Option<&'a K>,
    mut body: F,
) -> impl Future<Output = Result<T, Failure<E>>> + use<'a, T, E, F, Fut, J, K>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
    T: Clone + Send + Sync + 'static,
    J: Judge<Result<T, E>>,
    K: Hash + Display + ?Sized,
{
    async move {
        let mut call = pin!(Call::begin(guard.site));
        tell(call.as_mut(), key);
        let kind = judge::Of::new(&guard.judge);
        let end = ends(call.as_mut(), (), |()| Some(()), &mut |()| body(), &guard.judge).await;
        match settle(&kind, &mut call, end) {
            Ok(whole) => whole.inspect(|value| call.keep_good(value)).map_err(Failure::Failed),
            Err(failure) => call.serve_good().ok_or(failure),
        }
    }
}

impl<J> Guard<J> {
    /// This guard for one key, where it is [`keyed`](super::Builder::keyed). The key is hashed as the attribute hashes it, so a
    /// guard and a function that share a bulkhead share the compartments of their keys.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use watertight::Guard;
    /// use watertight::guard::Bulkhead;
    ///
    /// let search = Guard::named("doc-keyed").bulkhead(Bulkhead::new("doc-tenants", 4)).keyed().build()?;
    /// let tenant = "acme";
    /// let hits = search.key(tenant).run(|| async { Ok::<_, std::io::Error>(3) }).await?;
    /// # assert_eq!(hits, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn key<'a, K: Hash + Eq + Display + ?Sized>(&'a self, key: &'a K) -> Keyed<'a, J, K> {
        Keyed { guard: self, key }
    }

    /// Runs a closure that may be run a second time beside itself, where the guard has a
    /// [`hedge`](super::Builder::hedge); otherwise as [`Guard::run`]. The first good answer wins and the other attempt is dropped.
    ///
    /// # Errors
    ///
    /// As [`Guard::run`].
    ///
    /// # Cancel safety
    ///
    /// As [`Guard::run`]: both bodies are dropped.
    pub fn run_hedged<T, E, F, Fut>(&self, body: F) -> impl Future<Output = Result<T, Failure<E>>>
    where
        F: Fn() -> Fut,
        Fut: Future<Output = Result<T, E>>,
        J: Judge<Result<T, E>>,
    {
        hedged(self, NONE, body)
    }

    /// Runs a closure, keeps its success, and answers for a failure with the one that came last, where the guard has a
    /// [`last_good`](super::Builder::last_good). Put large answers behind an `Arc`.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::io;
    /// use std::time::Duration;
    /// use watertight::Guard;
    ///
    /// let rates = Guard::named("doc-last-good").last_good(Duration::from_secs(60)).build()?;
    /// assert_eq!(rates.run_or_last_good(|| async { Ok::<_, io::Error>(107) }).await?, 107);
    /// assert_eq!(rates.run_or_last_good(|| async { Err::<i32, _>(io::Error::other("down")) }).await?, 107);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Guard::run`], when nothing is kept that is young enough.
    ///
    /// # Cancel safety
    ///
    /// As [`Guard::run`].
    pub fn run_or_last_good<T, E, F, Fut>(&self, body: F) -> impl Future<Output = Result<T, Failure<E>>>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>>,
        T: Clone + Send + Sync + 'static,
        J: Judge<Result<T, E>>,
    {
        or_last_good(self, NONE, body)
    }
}

#[allow(clippy::manual_async_fn)]
impl<'a, J, K: Hash + Display + ?Sized> Keyed<'a, J, K> {
    /// [`Guard::run`] for this key.
    ///
    /// # Errors
    ///
    /// As [`Guard::run`].
    ///
    /// # Cancel safety
    ///
    /// As [`Guard::run`].
    pub fn run<T, E, F, Fut>(
        self,
        mut body: F,
    ) -> impl Future<Output = Result<T, Failure<E>>> + use<'a, T, E, F, Fut, J, K>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>>,
        J: Judge<Result<T, E>>,
    {
        let Self { guard, key } = self;
        async move {
            let mut call = pin!(Call::begin(guard.site));
            tell(call.as_mut(), Some(key));
            let end = ends(call.as_mut(), (), |()| Some(()), &mut |()| body(), &guard.judge).await;
            finished(call, end)
        }
    }

    /// [`Guard::run_into`] for this key.
    ///
    /// # Errors
    ///
    /// As [`Guard::run_into`].
    ///
    /// # Cancel safety
    ///
    /// As [`Guard::run`].
    pub fn run_into<T, E, F, Fut>(self, mut body: F) -> impl Future<Output = Result<T, E>> + use<'a, T, E, F, Fut, J, K>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>>,
        E: From<Error>,
        J: Judge<Result<T, E>>,
    {
        let Self { guard, key } = self;
        async move {
            let mut call = pin!(Call::begin(guard.site));
            tell(call.as_mut(), Some(key));
            let end = ends(call.as_mut(), (), |()| Some(()), &mut |()| body(), &guard.judge).await;
            answer(call, end)
        }
    }

    /// [`Guard::run_hedged`] for this key.
    ///
    /// # Errors
    ///
    /// As [`Guard::run`].
    ///
    /// # Cancel safety
    ///
    /// As [`Guard::run`].
    pub fn run_hedged<T, E, F, Fut>(
        self,
        body: F,
    ) -> impl Future<Output = Result<T, Failure<E>>> + use<'a, T, E, F, Fut, J, K>
    where
        F: Fn() -> Fut,
        Fut: Future<Output = Result<T, E>>,
        J: Judge<Result<T, E>>,
    {
        hedged(self.guard, Some(self.key), body)
    }

    /// [`Guard::run_or_last_good`] for this key: answers with this key's most recent success.
    ///
    /// # Errors
    ///
    /// As [`Guard::run_or_last_good`].
    ///
    /// # Cancel safety
    ///
    /// As [`Guard::run`].
    pub fn run_or_last_good<T, E, F, Fut>(
        self,
        body: F,
    ) -> impl Future<Output = Result<T, Failure<E>>> + use<'a, T, E, F, Fut, J, K>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>>,
        T: Clone + Send + Sync + 'static,
        J: Judge<Result<T, E>>,
    {
        or_last_good(self.guard, Some(self.key), body)
    }
}
