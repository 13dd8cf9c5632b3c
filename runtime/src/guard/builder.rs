//! Putting a guard together, and the rules between its parts.
//!
//! The methods take types and refuse nothing, so that a chain of them reads as one sentence and every mistake is said at
//! its end, by [`Builder::build`], all at once. A method called twice means the second time, as with every builder.
//!
//! Invariant: only a builder without a mistake makes a site.

use std::borrow::Cow;
use std::panic::Location;
use std::time::Duration;

use super::breaker::Breaker;
use super::bulkhead::Bulkhead;
use super::hedge::Hedge;
use super::isolate::{Isolate, Isolated};
use super::mistakes::{BuildError, Mistakes};
#[cfg(feature = "rate")]
use super::rate::Rate;
use super::retry::Retry;
use super::{EveryError, Guard, sites};
use crate::declaration::{Declaration, Observe};
use crate::site::Site;
#[cfg(feature = "rate")]
use crate::strategies::rate;
use crate::strategies::{bulkhead, deadline, fallback, timeout};

/// A guard in the making, see [`Guard::named`].
#[derive(Clone, Debug)]
#[must_use = "a guard is made by `build`"]
pub struct Builder {
    name: Cow<'static, str>,
    at: &'static Location<'static>,
    timeout: Option<Duration>,
    deadline: Option<Duration>,
    bulkhead: Option<Bulkhead>,
    #[cfg(feature = "rate")]
    rate: Option<Rate>,
    breaker: Option<Breaker>,
    retry: Option<Retry>,
    hedge: Option<Hedge>,
    last_good: Option<Duration>,
    keyed: bool,
    idempotent: bool,
    observe: bool,
}

impl Builder {
    pub(super) fn new(name: Cow<'static, str>, at: &'static Location<'static>) -> Self {
        Self {
            name,
            at,
            timeout: None,
            deadline: None,
            bulkhead: None,
            #[cfg(feature = "rate")]
            rate: None,
            breaker: None,
            retry: None,
            hedge: None,
            last_good: None,
            keyed: false,
            idempotent: false,
            observe: false,
        }
    }

    /// How long one attempt may take, from the moment its slot is granted. Default: no limit but the deadline's.
    pub fn timeout(self, length: Duration) -> Self {
        Self { timeout: Some(length), ..self }
    }

    /// How long the whole call may take, with all attempts, queueing and pauses. Default: the caller's deadline.
    pub fn deadline(self, length: Duration) -> Self {
        Self { deadline: Some(length), ..self }
    }

    /// How many calls may run and wait. Default: any number.
    pub fn bulkhead(self, bulkhead: Bulkhead) -> Self {
        Self { bulkhead: Some(bulkhead), ..self }
    }

    /// How often attempts may begin. Default: as often as they are asked for.
    #[cfg(feature = "rate")]
    pub fn rate(self, rate: Rate) -> Self {
        Self { rate: Some(rate), ..self }
    }

    /// Refuses calls while the last ones failed. Default: none.
    pub fn breaker(self, breaker: Breaker) -> Self {
        Self { breaker: Some(breaker), ..self }
    }

    /// Tries again: `.retry(2)`, or a [`Retry`]. Default: one attempt.
    pub fn retry(self, retry: impl Into<Retry>) -> Self {
        Self { retry: Some(retry.into()), ..self }
    }

    /// Runs a second attempt beside one that takes long, in [`Guard::run_hedged`]. It needs [`idempotent`](Self::idempotent).
    /// Default: none.
    pub fn hedge(self, hedge: Hedge) -> Self {
        Self { hedge: Some(hedge), ..self }
    }

    /// Answers for failures with the most recent success, not older than this, in [`Guard::run_or_last_good`]. Default: the
    /// caller gets the error.
    pub fn last_good(self, oldest: Duration) -> Self {
        Self { last_good: Some(oldest), ..self }
    }

    /// Gives each key a compartment of its bulkhead, a bucket of its rate and a most recent success of its own: see
    /// [`Guard::key`]. Default: all callers share them.
    pub fn keyed(self) -> Self {
        Self { keyed: true, ..self }
    }

    /// Promises that running the closure twice does no harm. Without it nothing is run twice that may already have
    /// happened.
    pub fn idempotent(self) -> Self {
        Self { idempotent: true, ..self }
    }

    /// Has every strategy decide and count what it would have done, and do nothing: the attribute's
    /// [`mode = observe`](crate::resilient#mode).
    pub fn observe(self) -> Self {
        Self { observe: true, ..self }
    }

    /// The guard. The same name with the same settings gives the same guard, whoever asks and how often.
    ///
    /// # Errors
    ///
    /// Every mistake there is, a sentence each: the attribute's rules and ranges hold here, too. And that a guard of
    /// this name was built elsewhere with other settings, with both places.
    pub fn build(self) -> Result<Guard<EveryError>, BuildError> {
        self.site(None).map(|site| Guard { site, judge: EveryError })
    }

    /// A guard whose bodies run on threads of their own, for code that blocks: the attribute's
    /// [`isolate`](crate::resilient#isolate). The threads are its slots, so it has no bulkhead besides; and a body that
    /// cannot be stopped is not started a second time beside itself.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    pub fn build_isolated(self, threads: Isolate) -> Result<Isolated<EveryError>, BuildError> {
        self.site(Some(threads)).map(Isolated::of)
    }

    fn site(self, isolate: Option<Isolate>) -> Result<&'static Site, BuildError> {
        #[cfg(feature = "rate")]
        let (has_rate, rate) = (self.rate.is_some(), self.rate);
        #[cfg(not(feature = "rate"))]
        let has_rate = false;
        let Self { name, at, timeout, deadline, bulkhead, breaker, retry, hedge, last_good, .. } = self;
        let (keyed, idempotent, observe) = (self.keyed, self.idempotent, self.observe);
        let mut mistakes = Mistakes::default();
        mistakes.name("guard", &name);
        let protects = timeout.is_some() || deadline.is_some() || bulkhead.is_some() || breaker.is_some() || has_rate;
        let protects = protects || isolate.is_some();
        if isolate.is_some() {
            check_isolated(bulkhead.is_some(), hedge.is_some() || last_good.is_some(), observe, &mut mistakes);
        }
        if !protects && retry.is_none() && hedge.is_none() && last_good.is_none() {
            mistakes
                .add("it names no strategy, so it protects nothing", "give it one at least, for instance a `timeout`");
        }
        if keyed {
            check_keyed(bulkhead.as_ref(), has_rate || last_good.is_some(), &mut mistakes);
        }
        let hedge = hedge.map(|hedge| {
            hedge.check(idempotent, observe, &[("timeout", timeout), ("deadline", deadline)], &mut mistakes)
        });
        let none = "only an answer of this very moment would do, and there is none";
        let last_good = last_good.map(|oldest| mistakes.length("last_good", oldest, none));
        let zero = "nothing can finish in no time, so every call would fail";
        let timeout_nanos = timeout.map(|length| mistakes.length("timeout", length, zero));
        let deadline = deadline.map(|length| mistakes.length("deadline", length, zero));
        let has_bulkhead = bulkhead.is_some() || isolate.is_some();
        let isolate = isolate.map(|isolate| isolate.check(&mut mistakes));
        let bulkhead = bulkhead.map(|bulkhead| bulkhead.check(&mut mistakes));
        #[cfg(feature = "rate")]
        let rate = rate.map(|rate| rate.check(&mut mistakes));
        let breaker = breaker.map(|breaker| breaker.check(timeout, has_bulkhead, &mut mistakes));
        let retry = retry.map(|retry| retry.check(idempotent, has_bulkhead, has_rate, &mut mistakes));
        if let Err(mistakes) = mistakes.finish() {
            return Err(BuildError::new(name, at, mistakes));
        }
        let interned = sites::interned(name.clone());
        let mut declared = Declaration::new(interned, "", at.file(), at.line()).by_hand();
        declared = timeout_nanos.map_or(declared, |nanos| declared.timeout(timeout::Config::new(nanos)));
        declared = deadline.map_or(declared, |nanos| declared.deadline(deadline::Config::new(nanos)));
        let by_key = |config: bulkhead::Config| if keyed { config.keyed() } else { config };
        declared = bulkhead.map_or(declared, |config| declared.bulkhead(by_key(config())));
        declared = isolate.map_or(declared, |config| declared.isolate(config()));
        #[cfg(feature = "rate")]
        {
            let by_key = |config: rate::Config| if keyed { config.keyed() } else { config };
            declared = rate.map_or(declared, |config| declared.rate(by_key(config())));
        }
        declared = breaker.map_or(declared, |config| declared.breaker(config()));
        declared = retry.map_or(declared, |config| declared.retry(config()));
        declared = hedge.map_or(declared, |config| declared.hedge(config));
        declared = last_good.map_or(declared, |nanos| {
            let kept = fallback::Config::new().last_good(nanos);
            declared.fallback(if keyed { kept.keyed() } else { kept })
        });
        declared = if idempotent { declared.idempotent() } else { declared };
        declared = if observe { declared.observing(Observe::ALL) } else { declared };
        sites::site(&declared).map_err(|mistake| BuildError::new(name, at, vec![mistake]))
    }
}

/// What cannot stand beside threads.
fn check_isolated(bulkhead: bool, hedge_or_last_good: bool, observe: bool, mistakes: &mut Mistakes) {
    if bulkhead {
        mistakes.add(
            "the threads are slots already, and of two bounds on one body one would only mislead",
            "leave the bulkhead out, or run in place with `build`",
        );
    }
    if hedge_or_last_good {
        mistakes.add(
            "a guard on threads has one way to run, which neither hedges nor keeps answers",
            "leave `hedge` and `last_good` out, or run in place with `build`",
        );
    }
    if observe {
        mistakes.add(
            "a call for which there is no thread cannot run all the same, so threads cannot only observe",
            "leave `observe` out, or run in place with `build`",
        );
    }
}

/// A key without anything that is kept by it, or with slots that a key cannot have.
fn check_keyed(bulkhead: Option<&Bulkhead>, has_other: bool, mistakes: &mut Mistakes) {
    if bulkhead.is_none() && !has_other {
        mistakes.add(
            "nothing of this guard is kept by key",
            "give it a `bulkhead`, a `rate` or `last_good`, or leave `keyed` out",
        );
    }
    if bulkhead.is_some_and(Bulkhead::is_auto) {
        mistakes.add(
            "slots that are found by measuring are those of the dependency, and a key has none of its own to measure",
            "give the number of slots for each key, or leave `keyed` out",
        );
    }
}
