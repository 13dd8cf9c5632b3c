//! The most recent success in the line of a call: kept where answers are judged, found where the fallback is asked.
//!
//! Both happen through what the pipeline has anyway. A judge sees every answer of every attempt by reference, so the
//! success is copied there, by a [`Kind`] around the function's own; and what answers for a failure is a fallback like
//! any other, only that it is ours. A site that does not keep anything has neither.
//!
//! Invariant: an answer that was served is not kept again, so it does not become younger.

use std::pin::Pin;

use super::Pipeline;
use super::call::Call;
use super::end::CarriesRefusals;
use super::kind::Kind;
use crate::base::clock::Moment;
#[cfg(feature = "testing")]
use crate::call::fault::AnyError;
use crate::call::{BoxError, Failure, FallbackUse, Verdict};
use crate::strategies::fallback::{Answers, AtOnce, Keepable, Landed, LastGood, form};

/// A kind whose successes are kept.
///
/// How they are copied is a pointer, here and in [`Served`], so that what an answer has to be is asked in one place
/// ([`last_good`]): the compiler would say what is missing once for each place.
pub struct Remembering<K: Kind> {
    kind: K,
    good: Option<&'static LastGood>,
    key: u128,
    keep: fn(&LastGood, u128, &K::Value),
}

/// Finds what is kept, and how old it is.
type Find<V> = fn(&LastGood, u128) -> Option<(V, u64)>;

/// A fallback that answers with the most recent success, or fails like the call.
pub struct Served<K: Kind> {
    pipeline: &'static Pipeline,
    key: u128,
    find: Find<K::Value>,
    found: fn(K::Value) -> K::Whole,
    lacking: fn(Failure<K::Error>) -> K::Whole,
}

/// Keeps what a call answers for others that fail, and answers for it with what others have left.
#[inline]
pub fn last_good<K>(call: &Pin<&mut Call>, kind: K) -> (Remembering<K>, Served<K>)
where
    K: Kind<Value: Keepable, Whole: CanLack<K::Value, K::Error>>,
{
    let pipeline = call.pipeline;
    // Without a key there is one for all, and its number is not asked for.
    let key = call.key();
    let remembering = Remembering {
        kind,
        good: pipeline.last_good(),
        key,
        keep: |good, key, value| good.keep(key, value.clone(), Moment::now()),
    };
    let served = Served {
        pipeline,
        key,
        find: |good, key| good.find(key, Moment::now()),
        found: K::Whole::found,
        lacking: K::Whole::lacking,
    };
    (remembering, served)
}

impl Pipeline {
    pub(super) fn last_good(&self) -> Option<&LastGood> {
        self.fallback.as_ref()?.last_good.as_ref()
    }
}

impl Call {
    fn key(&self) -> u128 {
        self.seldom.look().map_or(0, |more| more.key)
    }

    /// Keeps the success of a guard's call.
    pub(crate) fn keep_good<T: Keepable>(&self, value: &T) {
        if let Some(good) = self.pipeline.last_good() {
            good.keep(self.key(), value.clone(), Moment::now());
        }
    }

    /// Answers for a guard's call with the most recent success, if there is one, and books what came of it.
    pub(crate) fn serve_good<T: Keepable>(self: Pin<&mut Self>) -> Option<T> {
        let pipeline = self.pipeline;
        let found = pipeline.last_good().and_then(|good| good.find(self.key(), Moment::now()));
        if let Some((_, age)) = &found {
            pipeline.tally.here().served_last_good(*age);
        }
        let missed = if pipeline.last_good().is_some() { FallbackUse::Failed } else { FallbackUse::None };
        self.book(if found.is_some() { FallbackUse::LastGood } else { missed });
        found.map(|(value, _)| value)
    }
}

impl<K: Kind> Kind for Remembering<K> {
    type Whole = K::Whole;
    type Value = K::Value;
    type Error = K::Error;
    const SAID: bool = K::SAID;

    fn verdict(&self, whole: &K::Whole) -> Verdict {
        if let (Some(good), Some(value)) = (self.good, K::value(whole)) {
            (self.keep)(good, self.key, value);
        }
        self.kind.verdict(whole)
    }

    fn keep(&self, whole: K::Whole) -> Option<BoxError> {
        self.kind.keep(whole)
    }

    #[inline]
    fn split(whole: K::Whole) -> Result<K::Whole, K::Error> {
        K::split(whole)
    }

    fn failed(error: K::Error) -> Option<K::Whole> {
        K::failed(error)
    }

    fn with_first_error(&self, whole: K::Whole, first: BoxError) -> K::Whole {
        self.kind.with_first_error(whole, first)
    }

    fn is_error(whole: &K::Whole) -> bool {
        K::is_error(whole)
    }

    fn value(whole: &K::Whole) -> Option<&K::Value> {
        K::value(whole)
    }

    #[cfg(feature = "testing")]
    fn strike(&self, error: AnyError) -> Result<K::Whole, AnyError> {
        self.kind.strike(error)
    }
}

// No user can name it, so no message about a fallback that does not fit should.
#[diagnostic::do_not_recommend]
impl<K: Kind> Answers<K::Value, K::Error, K::Whole, form::LastGood> for Served<K> {
    type Later = AtOnce<K::Whole>;

    fn answer(self, failure: Failure<K::Error>) -> (Landed<K::Whole, Self::Later>, Option<Failure<K::Error>>) {
        let Self { pipeline, key, find, found, lacking } = self;
        let whole = match pipeline.last_good().and_then(|good| find(good, key)) {
            Some((value, age)) => {
                pipeline.tally.here().served_last_good(age);
                found(value)
            }
            None => lacking(failure),
        };
        (Landed::Now(whole), None)
    }
}

/// A return type that can say that nothing is kept.
#[diagnostic::on_unimplemented(
    message = "`last_good` may have nothing to give, and `{Self}` has no place to say so",
    label = "a call can fail before there was a success, and this type cannot carry that",
    note = "return a `Result<_, E>` with `E: From<watertight::Error>`, or name a function that always has an answer"
)]
pub trait CanLack<Value, Error> {
    /// What was kept.
    fn found(value: Value) -> Self;

    /// The call's own failure.
    fn lacking(failure: Failure<Error>) -> Self;
}

impl<T, E: CarriesRefusals> CanLack<T, E> for Result<T, E> {
    fn found(value: T) -> Self {
        Ok(value)
    }

    fn lacking(failure: Failure<E>) -> Self {
        Err(failure.into_error())
    }
}
