//! What is to be generated: the validated model.
//!
//! Between "what was written" and "what is emitted" lies one type, so that `expand` has no questions left. Defaults
//! that follow from another key are filled in, words have become yes and no, and a key that was wrong cannot be in
//! here at all. Had `expand` its own checks, a rule would sooner or later be checked in one of two places.
//!
//! What is *absent* stays absent: a setting that was not written is not in the plan, and its default lives in the
//! runtime, where the settings file can show and change it.
//!
//! Invariants
//! - Only `validate` can make a [`Plan`]: the seal has no other maker.
//! - Every expression in here is the user's own tokens.

use proc_macro2::Span;
use syn::{Expr, Path};

use crate::parse::backoff::Backoff;
use crate::parse::breaker::Window;
use crate::parse::bulkhead::Bulkhead;
use crate::parse::isolate::Threads;
use crate::parse::item::Item;
use crate::parse::mode::{Mode, Strategy};
use crate::parse::on::Kind;
use crate::parse::rate::Rate;
use crate::parse::retry::Budget;
use crate::parse::tail::Tail;
use crate::validate::Seal;

/// One guarded function.
pub(crate) struct Plan {
    pub(crate) item: Item,
    /// The site's name.
    pub(crate) name: String,
    /// Where the runtime is found.
    pub(crate) runtime: Path,
    /// Nanoseconds.
    pub(crate) timeout: Option<u64>,
    /// Nanoseconds.
    pub(crate) deadline: Option<u64>,
    pub(crate) bulkhead: Option<Bulkhead>,
    /// The pool it stands in front of.
    pub(crate) guards: Option<String>,
    pub(crate) isolate: Option<Isolate>,
    /// What selects a compartment and a bucket.
    pub(crate) key: Option<Expr>,
    /// With the place to blame for it.
    pub(crate) rate: Option<(Span, Rate)>,
    pub(crate) breaker: Option<Breaker>,
    pub(crate) retry: Option<Retry>,
    pub(crate) hedge: Option<Hedge>,
    pub(crate) fallback: Option<Fallback>,
    /// Attempts that run on at their limit, with the place of the word.
    pub(crate) tail: Option<(Span, Tail)>,
    pub(crate) idempotent: bool,
    /// Which of its strategies only observe.
    pub(crate) observe: Mode,
    /// The key through which a call can be refused or cut off, if there is one.
    pub(crate) refuses: Option<Span>,
    pub(crate) _seal: Seal,
}

/// Threads of the body's own, joined or declared.
pub(crate) struct Isolate {
    /// Where the word stands.
    pub(crate) key: Span,
    pub(crate) threads: Threads,
}

impl Plan {
    /// Whether the body may have to run again. Retries that are only observed run nothing.
    pub(crate) fn runs_again(&self) -> bool {
        self.hedge.is_some() || (self.retry.is_some() && !self.observe.observes(Strategy::Retry))
    }
}

/// A second attempt beside the first.
pub(crate) struct Hedge {
    /// Where the word stands.
    pub(crate) key: Span,
    pub(crate) when: crate::parse::hedge::Hedge,
}

/// What answers when nothing else can, and for what.
pub(crate) struct Fallback {
    pub(crate) value: Expr,
    /// The oldest success that answers, in nanoseconds; `value` is the call of `last_good`, then.
    pub(crate) last_good: Option<u64>,
    /// Each key has one of its own.
    pub(crate) keyed: bool,
    /// Everything it answers for, where a list says so.
    pub(crate) kinds: Option<Vec<Kind>>,
    /// Which of the body's own errors.
    pub(crate) predicate: Option<Expr>,
    /// For how many calls at once.
    pub(crate) limit: Option<u32>,
    pub(crate) passes: Passes,
    /// It is a closure that takes the body's own error, and nothing refuses: it need not be told of anything else.
    pub(crate) unrefused: bool,
    /// It would not answer for a refusal, were there any; so there must be none.
    pub(crate) errors_alone: bool,
}

/// What a fallback does not answer for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passes {
    Nothing,
    /// Errors of the body's own; a refusal never.
    Errors,
    /// Refusals as well.
    Refusals,
}

/// A breaker, joined or declared.
pub(crate) struct Breaker {
    pub(crate) origin: Origin,
    pub(crate) window: Option<Window>,
    /// A share from 0 to 1.
    pub(crate) failures: Option<f64>,
    pub(crate) min_calls: Option<u32>,
    /// Nanoseconds.
    pub(crate) slow: Option<u64>,
    /// A share from 0 to 1.
    pub(crate) slow_rate: Option<f64>,
    /// Nanoseconds.
    pub(crate) cooldown: Option<u64>,
    pub(crate) probes: Option<u32>,
    /// Which of the body's own errors count; `None` leaves it to their classification.
    pub(crate) predicate: Option<Expr>,
    /// Every error counts, whatever its class.
    pub(crate) any: bool,
    /// Everything that counts, where a list says so.
    pub(crate) kinds: Option<Vec<Kind>>,
    /// Which of the body's own errors never count.
    pub(crate) skip: Option<Expr>,
}

/// Whose state a breaker is.
pub(crate) enum Origin {
    /// This site's alone.
    Own,
    /// Declared here, for others to join.
    Named(String),
    /// Declared elsewhere.
    Join(String),
}

/// Retrying, with no default of another key left to look up.
pub(crate) struct Retry {
    /// Where the word stands.
    pub(crate) key: Span,
    pub(crate) times: u32,
    pub(crate) backoff: Option<Backoff>,
    /// Nanoseconds.
    pub(crate) max_duration: Option<u64>,
    pub(crate) budget: Option<Budget>,
    /// Which of the body's own errors are tried again; `None` leaves it to their classification.
    pub(crate) predicate: Option<Expr>,
    /// Every error is tried again, whatever its class.
    pub(crate) any: bool,
    /// Which of the body's own errors are final, before all else.
    pub(crate) abort: Option<Expr>,
    /// Everything that is tried again, whether a word said so or a default.
    pub(crate) kinds: Vec<Kind>,
}
