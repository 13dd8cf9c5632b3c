//! What a fallback's terms make of the end of a call: whether it is asked, and how long it may take.
//!
//! A fallback without terms answers for every failure for as long as it takes, and none of this is in its way. One that
//! has terms is weighed when the call has ended and the body is gone:
//!
//! ```text
//!   end ──▶ a success ─────────────────────────────────────────────▶ caller
//!      └──▶ a failure ──▶ named by `on`? ── no ────────────────────▶ caller, as if there were no fallback
//!                                    └─ yes ──▶ a place free? ─ no ▶ caller, the same, counted as `full`
//!                                                        └─ yes ───▶ fallback ──▶ caller
//!                                                                         └─ pending at the deadline ──▶ the first error
//! ```
//!
//! **What comes first when time is up.** A fallback that is ready when it is first asked answers, even after the deadline, as a
//! body does. One that is not is dropped there, and the caller gets the failure it was asked about; if it was given that
//! failure, the same refusal again, or the word that the fallback was cut off. A return type without a place for errors leaves nothing
//! else to say, so such a function waits.
//!
//! Invariants: a place is held from the question to the answer and given back in Drop; the user's predicate runs when the call
//! counts as answering, so a panic in it is the fallback's.

use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Switches;
use super::answer::refusal;
use super::call::Call;
use super::end::{End, Passes};
use super::kind::Kind;
use crate::call::{Error, FallbackUse, Fate};
use crate::strategies::fallback::{self, Cap, Inside, LastGood, On};

/// What a fallback answers for and with, beside the function that answers.
pub(crate) struct Answerer {
    on: On,
    cap: Option<Cap>,
    /// The most recent success, where failures are answered with it.
    pub(super) last_good: Option<LastGood>,
    /// By the call itself; a guard's runs ask for it.
    pub(super) serves: bool,
}

impl Answerer {
    /// Nothing for a fallback that is a function and has no terms, as most are.
    pub(super) fn of(config: fallback::Config, by_hand: bool) -> Option<Box<Self>> {
        let plain = fallback::Config { errors_alone: config.errors_alone, ..fallback::Config::new() };
        let kept = if config.keyed { LastGood::by_key } else { LastGood::new };
        let (last_good, cap) = (config.last_good.map(kept), config.limit.map(Cap::new));
        (config != plain)
            .then(|| Box::new(Self { on: config.on, cap, last_good, serves: !by_hand && config.last_good.is_some() }))
    }
}

/// On what terms a fallback is asked, for a function that returns `W`.
#[derive(Debug)]
pub struct Terms<W> {
    /// Its place among those that are answered for at once.
    #[expect(dead_code)] // for its Drop
    inside: Option<Inside>,
    /// Turns the first error into the answer when the deadline comes before the fallback's.
    pub(super) within: Option<fn(Error) -> W>,
}

impl<W> Terms<W> {
    pub(super) const NONE: Self = Self { inside: None, within: None };

    /// Bounded by the deadline, where there is a way to say so.
    #[inline]
    #[must_use]
    pub fn within(self, carry: Option<fn(Error) -> W>) -> Self {
        Self { within: carry, ..self }
    }
}

/// Terms of a fallback that answers for everything.
#[inline]
pub fn bounded<K: Kind>(_: &K) -> Terms<K::Whole> {
    Terms::NONE
}

/// Why a fallback is not asked, as it is counted.
#[derive(Debug)]
pub struct Spared(FallbackUse);

/// Whether the fallback is asked about this end, and on what terms.
///
/// # Errors
///
/// That it is not.
#[inline]
pub fn weigh<K: Kind>(kind: &K, call: &mut Pin<&mut Call>, end: &End<K::Whole>) -> Result<Terms<K::Whole>, Spared> {
    weigh_on(kind, call, end, |_| true)
}

/// The same, where a predicate says which of the function's own errors are meant.
///
/// # Errors
///
/// That it is not asked.
#[inline]
pub fn weigh_on<K: Kind>(
    _: &K,
    call: &mut Pin<&mut Call>,
    end: &End<K::Whole>,
    on: impl FnOnce(&K::Whole) -> bool,
) -> Result<Terms<K::Whole>, Spared> {
    let error = match end {
        End::Answered(whole) if !K::is_error(whole) => return Ok(Terms::NONE),
        End::Answered(whole) => Some(whole),
        End::Refused => None,
    };
    let inside = call.as_mut().weigh(error.is_some(), || error.is_none_or(on))?;
    Ok(Terms { inside, within: None })
}

impl Call {
    fn weigh(mut self: Pin<&mut Self>, is_error: bool, on: impl FnOnce() -> bool) -> Result<Option<Inside>, Spared> {
        self.as_mut().answers();
        let terms = self.pipeline.fallback.as_deref();
        let fate = if is_error { Fate::Error } else { self.fate };
        if !self.pipeline.live.switches.is_on(Switches::FALLBACK)
            || !terms.is_none_or(|terms| terms.on.names(fate))
            || !on()
        {
            return Err(Spared(FallbackUse::None));
        }
        match terms.and_then(|terms| terms.cap.as_ref()) {
            None => Ok(None),
            Some(cap) => cap.enter().map(Some).ok_or(Spared(FallbackUse::Full)),
        }
    }

    /// Ready at the deadline, for a fallback that is not.
    pub(super) fn poll_late(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.as_mut().project();
        *this.limit = this.pipeline.heeded(*this.deadline).at;
        self.poll_limit(cx)
    }
}

/// What the caller gets when the fallback is not asked.
pub fn pass<R: Passes>(call: &mut Pin<&mut Call>, Spared(counted): Spared, end: End<R>) -> R {
    call.as_mut().book(counted);
    match end {
        End::Answered(whole) => whole,
        End::Refused => R::passed(refusal(call.as_mut())),
    }
}

/// The same where the fallback answers for every refusal, or nothing can refuse.
///
/// # Panics
///
/// If a refusal was passed on all the same, which no declaration allows that says so.
pub fn pass_unrefused<R>(call: &mut Pin<&mut Call>, Spared(counted): Spared, end: End<R>) -> R {
    call.as_mut().book(counted);
    match end {
        End::Answered(whole) => whole,
        End::Refused => unreachable!("watertight passed on what a fallback answers for: {}", refusal(call.as_mut())),
    }
}

/// A return type, asked whether it has a place for our errors.
#[derive(Debug)]
pub struct Carrier<R>(PhantomData<fn() -> R>);

impl<R> Carrier<R> {
    /// Of a kind.
    pub const fn of<K: Kind<Whole = R>>(_: &K) -> Self {
        Self(PhantomData)
    }
}

/// It has.
pub trait Carries {
    /// The return type.
    type Whole;
    /// How one is put there.
    fn __wt_carry(&self) -> Option<fn(Error) -> Self::Whole>;
}

/// It has not.
pub trait CarriesNothing {
    /// The return type.
    type Whole;
    /// Nothing can be put there.
    fn __wt_carry(&self) -> Option<fn(Error) -> Self::Whole>;
}

impl<T, E: From<Error>> Carries for &Carrier<Result<T, E>> {
    type Whole = Result<T, E>;

    fn __wt_carry(&self) -> Option<fn(Error) -> Result<T, E>> {
        Some(|error| Err(error.into()))
    }
}

impl<R> CarriesNothing for Carrier<R> {
    type Whole = R;

    fn __wt_carry(&self) -> Option<fn(Error) -> R> {
        None
    }
}
