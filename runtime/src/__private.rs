//! Everything generated code may name, and nothing else may.
//!
//! The attribute and the runtime are one product in two crates pinned to each other's exact version, so what stands here
//! may change with every release.
//!
//! The traits in [`kinds`] are imported where generated code asks what a return type is; the essay of `pipeline/kind.rs`
//! says how they choose.

pub use crate::base::park::wait;
pub use crate::call::Verdict;
pub use crate::catalogue::Entry;
#[cfg(feature = "catalogue")]
pub use crate::catalogue::LINKED;
pub use crate::declaration::{Observe, Setting};
pub use crate::pipeline::tail as tail_of;
pub use crate::pipeline::{
    Call, Carrier, CarriesRefusals, End, Entered, Key, Kind, Passes, PassesRefusals, Refusable, Returned, Terms,
    answer, answer_unrefused, asking, attempt, attempt_or, bounded, enter, errors_of, fall_back, fall_back_on,
    isolated, judged, judging, last_good, once, once_or, pass, pass_unrefused, race, settle, weigh, weigh_on,
};
pub use crate::site::Site;
pub use crate::strategies::tail::body::observed;

/// What a declaration says, strategy by strategy.
macro_rules! configs {
    ($($strategy:ident),*) => {
        $(#[doc = concat!("The declaration of a ", stringify!($strategy), ".")]
        pub mod $strategy {
            pub use crate::strategies::$strategy::Config;
        })*
    };
}

configs!(breaker, bulkhead, hedge, isolate, rate, retry, tail);

#[cfg(feature = "catalogue")]
#[doc(hidden)]
pub use linkme;

pub mod keys;

/// The traits among which the compiler chooses.
pub mod kinds {
    pub use crate::pipeline::{Carries, CarriesNothing, Choice};
}

use crate::call::Failure;
pub use crate::strategies::fallback;
pub use crate::strategies::fallback::ErrorAlone;

/// Lets the key `rate` through.
#[cfg(feature = "rate")]
#[doc(hidden)]
#[macro_export]
macro_rules! __rate {
    ($($config:tt)*) => { $($config)* };
}

/// Says what the key `rate` needs.
#[cfg(not(feature = "rate"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __rate {
    ($($config:tt)*) => {
        ::core::compile_error!(
            "the key `rate` needs the feature `rate` of the crate `watertight`: write `features = [\"rate\"]` at that dependency"
        )
    };
}

pub use crate::__rate as rate_enabled;

/// Adds a site to the linker's list: what `#[distributed_slice(LINKED)]` makes of an entry, but for its check of the type, which
/// is written down right here. (The essay of `catalogue.rs` says why.)
#[cfg(feature = "catalogue")]
#[doc(hidden)]
#[macro_export]
macro_rules! __list {
    ($site:ident) => {
        $crate::__private::LINKED! {
            #![linkme_macro = $crate::__private::LINKED]
            static __WT_ENTRY: $crate::__private::Entry = $site.entry();
        }
    };
}

/// Leaves the catalogue to the sites' first calls.
#[cfg(not(feature = "catalogue"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __list {
    ($site:ident) => {};
}

pub use crate::__list as list;

/// A return type whose errors a predicate can be asked about.
#[diagnostic::on_unimplemented(
    message = "`on` asks about errors, and `{Self}` carries none",
    label = "this predicate would never be asked",
    note = "return a `Result`, or leave the predicate out"
)]
pub trait Errs {
    /// The error.
    type Error;

    /// The error, if it is one.
    fn error(&self) -> Option<&Self::Error>;
}

impl<T, E> Errs for Result<T, E> {
    type Error = E;

    #[inline]
    fn error(&self) -> Option<&E> {
        self.as_ref().err()
    }
}

/// Lets a predicate say which errors are retried.
#[inline]
pub fn retry_on<R: Errs>(verdict: Verdict, returned: &R, on: impl FnOnce(&R::Error) -> bool) -> Verdict {
    match returned.error() {
        None => verdict,
        Some(error) => Verdict { retryable: on(error), ..verdict },
    }
}

/// Lets a predicate say which errors count against the dependency.
#[inline]
pub fn breaker_on<R: Errs>(verdict: Verdict, returned: &R, on: impl FnOnce(&R::Error) -> bool) -> Verdict {
    match returned.error() {
        None => verdict,
        Some(error) => Verdict { failure: on(error), ..verdict },
    }
}

/// Retries every error, whatever its class.
#[inline]
pub fn retry_any(verdict: Verdict) -> Verdict {
    Verdict { retryable: !verdict.ok, ..verdict }
}

/// Lets a predicate say which errors are final, whatever was said before.
#[inline]
pub fn retry_abort<R: Errs>(verdict: Verdict, returned: &R, abort: impl FnOnce(&R::Error) -> bool) -> Verdict {
    let is_final = returned.error().is_some_and(abort);
    Verdict { retryable: verdict.retryable && !is_final, ..verdict }
}

/// Counts every error against the dependency, whatever its class.
#[inline]
pub fn breaker_any(verdict: Verdict) -> Verdict {
    Verdict { failure: !verdict.ok, ..verdict }
}

/// Lets a predicate say which errors never count against the dependency, whatever was said before.
#[inline]
pub fn breaker_skip<R: Errs>(verdict: Verdict, returned: &R, skip: impl FnOnce(&R::Error) -> bool) -> Verdict {
    let is_skipped = returned.error().is_some_and(skip);
    Verdict { failure: verdict.failure && !is_skipped, ..verdict }
}

/// Lets a predicate say which errors a fallback answers for.
#[inline]
pub fn fallback_on<R: Errs>(returned: &R, on: impl FnOnce(&R::Error) -> bool) -> bool {
    returned.error().is_none_or(on)
}

/// Fixes the parameter of a closure to the failure of a kind, which inference alone cannot.
#[inline]
pub fn with_failure<K: Kind, O, F: FnOnce(Failure<K::Error>) -> O>(_: &K, fallback: F) -> F {
    fallback
}

/// Fixes what a function gives to the value of a kind, where the function would give anything.
#[inline]
pub fn with_value<K: Kind, F: FnOnce() -> K::Value>(_: &K, fallback: F) -> F {
    fallback
}

/// An argument that each attempt is given anew.
#[derive(Debug)]
pub struct Given<T>(Option<T>);

impl<T> Given<T> {
    /// Takes the argument over.
    #[inline]
    pub const fn new(argument: T) -> Self {
        Self(Some(argument))
    }
}

/// An argument that can be given to more than one attempt.
#[diagnostic::on_unimplemented(
    message = "this argument is needed again for each attempt, and `{Self}` is not `Clone`",
    label = "cannot be given to a second attempt",
    note = "borrow it (`&{Self}`), put it behind an `Arc`, derive `Clone` for it, or leave out the `retry` or `hedge` that asks again"
)]
pub trait Again: Sized {
    /// One more of it.
    #[must_use]
    fn again(&self) -> Self;
}

impl<T: Clone> Again for T {
    #[inline]
    fn again(&self) -> Self {
        self.clone()
    }
}

impl<T> Given<T> {
    /// The argument itself, after attempts that each had a clone.
    ///
    /// # Panics
    ///
    /// When an attempt was given the argument itself, which generated code does only where nobody asks again.
    #[inline]
    pub fn left(self) -> T {
        match self.0 {
            Some(argument) => argument,
            None => unreachable!("watertight: an argument was given away and asked for again"),
        }
    }

    /// One for the attempt that the call is about to begin; the last attempt gets the argument itself.
    ///
    /// # Panics
    ///
    /// When asked again after the last attempt, which generated code never does.
    #[inline]
    pub fn give(&mut self, call: &Call) -> T
    where
        T: Again,
    {
        self.give_if(call.is_last())
    }

    /// The same, told whether it is the last.
    ///
    /// # Panics
    ///
    /// As [`Given::give`].
    #[inline]
    pub fn give_if(&mut self, is_last: bool) -> T
    where
        T: Again,
    {
        let given = if is_last { self.0.take() } else { self.0.as_ref().map(Again::again) };
        match given {
            Some(argument) => argument,
            None => unreachable!("watertight: an attempt after the last one"),
        }
    }
}

/// Whether a settings file may say this for a key: for the test that holds its reader against the attribute's.
#[doc(hidden)]
pub fn setting_reads(key: &str, value: &str) -> bool {
    crate::settings::reads(key, value)
}
