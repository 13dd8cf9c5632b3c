//! What an attribute says, as plain constants.
//!
//! The macro has checked it already, so nothing here can fail; it is built in a `const`, lies in a `static`, and is read
//! by the catalogue, the check and the pipeline alike. A strategy is added here as one field and one line, and in [`setting`]
//! as one word of the list that generated code hands over.
//!
//! Invariant: a declaration never changes; what is in force may, and lives in the registry and the pipeline.

pub(crate) mod limits;
mod observe;
mod setting;
pub(crate) mod units;

use crate::call::Identity;
use crate::strategies::{breaker, bulkhead, deadline, fallback, hedge, isolate, rate, retry, tail, timeout};

pub use observe::Observe;
pub use setting::Setting;

/// The declared settings of one guarded function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Declaration {
    pub(crate) identity: Identity,
    pub(crate) timeout: Option<timeout::Config>,
    pub(crate) deadline: Option<deadline::Config>,
    pub(crate) bulkhead: Option<bulkhead::Config>,
    pub(crate) isolate: Option<isolate::Config>,
    pub(crate) rate: Option<rate::Config>,
    pub(crate) breaker: Option<breaker::Config>,
    pub(crate) retry: Option<retry::Config>,
    pub(crate) hedge: Option<hedge::Config>,
    pub(crate) fallback: Option<fallback::Config>,
    pub(crate) tail: Option<tail::Config>,
    pub(crate) idempotent: bool,
    pub(crate) form: Form,
    pub(crate) observe: Observe,
}

/// What the attribute stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// An async function: its caller awaits.
    Async,
    /// A plain function: its caller's thread waits.
    Plain,
    /// A guard built by hand: whatever it runs, there is a place for refusals.
    ByHand,
}

impl Declaration {
    /// A function with no strategy yet.
    pub(crate) const fn new(name: &'static str, module: &'static str, file: &'static str, line: u32) -> Self {
        Self {
            identity: Identity::new(name, module, file, line),
            timeout: None,
            deadline: None,
            bulkhead: None,
            isolate: None,
            rate: None,
            breaker: None,
            retry: None,
            hedge: None,
            fallback: None,
            tail: None,
            idempotent: false,
            form: Form::Async,
            observe: Observe::NONE,
        }
    }

    /// Bounds each attempt.
    #[must_use]
    pub(crate) const fn timeout(self, config: timeout::Config) -> Self {
        Self { timeout: Some(config), ..self }
    }

    /// Bounds the call.
    #[must_use]
    pub(crate) const fn deadline(self, config: deadline::Config) -> Self {
        Self { deadline: Some(config), ..self }
    }

    /// Gives it a compartment.
    #[must_use]
    pub(crate) const fn bulkhead(self, config: bulkhead::Config) -> Self {
        Self { bulkhead: Some(config), ..self }
    }

    /// Gives its body threads of its own.
    #[must_use]
    pub(crate) const fn isolate(self, config: isolate::Config) -> Self {
        Self { isolate: Some(config), ..self }
    }

    /// Bounds how often its bodies start.
    #[cfg(feature = "rate")]
    #[must_use]
    pub(crate) const fn rate(self, config: rate::Config) -> Self {
        Self { rate: Some(config), ..self }
    }

    /// Puts it behind a breaker.
    #[must_use]
    pub(crate) const fn breaker(self, config: breaker::Config) -> Self {
        Self { breaker: Some(config), ..self }
    }

    /// Asks again.
    #[must_use]
    pub(crate) const fn retry(self, config: retry::Config) -> Self {
        Self { retry: Some(config), ..self }
    }

    /// Asks a second time beside a slow attempt.
    #[must_use]
    pub(crate) const fn hedge(self, config: hedge::Config) -> Self {
        Self { hedge: Some(config), ..self }
    }

    /// Answers for its failures.
    #[must_use]
    pub(crate) const fn fallback(self, config: fallback::Config) -> Self {
        Self { fallback: Some(config), ..self }
    }

    /// Promises that running it twice does no more than running it once.
    #[must_use]
    pub(crate) const fn idempotent(self) -> Self {
        Self { idempotent: true, ..self }
    }

    /// Marks a guard, which can always hand a refusal to its caller.
    #[must_use]
    pub(crate) const fn by_hand(self) -> Self {
        Self { form: Form::ByHand, ..self }
    }

    /// Has strategies observe instead of act.
    #[must_use]
    pub(crate) const fn observing(self, observe: Observe) -> Self {
        Self { observe, ..self }
    }

    /// How long a caller waits for a slot, in nanoseconds, where its bulkhead or its threads say `own`.
    pub(crate) fn longest_wait(&self, own: Option<u64>) -> u64 {
        own.or(self.timeout.map(timeout::Config::nanos)).unwrap_or(bulkhead::DEFAULT_WAIT)
    }

    /// Whether a call of it can be refused or cut short. One that cannot needs no way to say so, and takes no notice of
    /// a deadline around it: whoever opened that drops the whole tree at its end.
    pub(crate) const fn can_refuse(&self) -> bool {
        let Observe { deadline, breaker, rate, bulkhead, timeout, .. } = self.observe;
        self.isolate.is_some()
            || (self.timeout.is_some() && !timeout)
            || (self.deadline.is_some() && !deadline)
            || (self.bulkhead.is_some() && !bulkhead)
            || (self.rate.is_some() && !rate)
            || (self.breaker.is_some() && !breaker)
    }

    /// Whether a refusal that no strategy of its own has made (a deadline around it, a process that shuts down) can be told:
    /// in the return type, to a fallback, or by a guard.
    pub(crate) const fn can_be_told(&self) -> bool {
        let is_answered = matches!(self.fallback, Some(fallback::Config { errors_alone: false, .. }));
        self.can_refuse() || is_answered || matches!(self.form, Form::ByHand)
    }
}
