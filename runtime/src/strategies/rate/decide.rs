//! Whether a token is there, by the generic cell rate algorithm of the `governor` crate. Pure: handed the time.
//!
//! The algorithm (ITU-T recommendation I.371, appendix 1) keeps one number, the *theoretical arrival
//! time*: when the next token would be due if everybody came at an even pace. A caller may be ahead of it by the
//! burst's tolerance. Taking a token moves it one interval on, giving one back moves it one interval back, and a bucket
//! that is full is simply one whose number lies in the past, so nothing ever has to be refilled.
//!
//! The arithmetic is `governor`'s; ours are its two ends. Its *clock* says what it is handed, so that no decision reads
//! a clock and a paused one drives everything. Its *state store* is one atomic number that we can move back. A limiter
//! is no more than its figures, so it is made where it is asked: figures may then change while the state stays.
//!
//! **Giving back exactly.** A token that is given back has to leave the bucket as if it had never been taken, and moving
//! the number back does so only if nothing has run over meanwhile. A bucket that was found full, or would have been without
//! the tokens that are out, has lost what came in after that; to return a token then would be to invent one (with bursts of
//! two, three calls would begin in the time for two). So the bucket counts the tokens that are out, neither spent nor given
//! back, and remembers when one was last taken while so little was missing that those that are out would have filled it.
//! A token from before that moment is not given back. Both are written before the number is moved, so that a thread
//! which is overtaken in between can lose a token and never make one.
//!
//! Invariants: over any stretch of time, no more tokens are kept than `burst` and one for each interval in it; a
//! token that was given back leaves everything as if it had never been taken; the last one taken can always be given back.

use super::config::Figures;
use crate::base::sync::{AtomicU64, Ordering};

/// A bucket's state. Moments are counted from the earliest there is (see [`stamp`]).
#[derive(Debug)]
pub(super) struct Tokens {
    /// The theoretical arrival time. 0 is a full bucket, as is every moment that is past.
    due: AtomicU64,
    /// When one was last taken from a bucket that the tokens that were out would have filled.
    filled_at: AtomicU64,
    /// Tokens that are out, and in the upper half how many were ever taken and not given back; the one number that is
    /// written for the one reason has room for the other.
    out: AtomicU64,
}

/// One token more that is out and taken.
const TAKEN: u64 = 1 | (1 << 32);

/// A moment as the arithmetic counts it: nothing is earlier than 0, and order is kept.
pub(super) fn stamp(moment: crate::base::clock::Moment) -> u64 {
    moment.to_raw().cast_unsigned() ^ (1 << 63)
}

/// The moment behind a stamp.
pub(super) fn moment(stamp: u64) -> crate::base::clock::Moment {
    crate::base::clock::Moment::from_raw((stamp ^ (1 << 63)).cast_signed())
}

impl Tokens {
    pub(super) fn full() -> Self {
        Self { due: AtomicU64::new(0), filled_at: AtomicU64::new(0), out: AtomicU64::new(0) }
    }

    /// When a token is there for a caller behind `ahead` others.
    pub(super) fn due_for(&self, figures: Figures, ahead: usize) -> u64 {
        let earliest = self.due.load(Ordering::Acquire).saturating_sub(figures.tolerance());
        earliest.saturating_add(figures.interval().saturating_mul(ahead as u64))
    }

    /// Whether nothing is missing, so that a new bucket would be as good.
    pub(super) fn is_full(&self, now: u64) -> bool {
        self.due.load(Ordering::Acquire) <= now
    }

    /// Takes a token.
    ///
    /// # Errors
    ///
    /// When the next one is due.
    #[inline]
    pub(super) fn take(&self, figures: Figures, now: u64) -> Result<(), u64> {
        // Most of those who come in vain are told so by one load.
        let due = self.due_for(figures, 0);
        if due > now {
            return Err(due);
        }
        self.out.fetch_add(TAKEN, Ordering::AcqRel);
        let taken = take(figures, self, now);
        if taken.is_err() {
            self.out.fetch_sub(TAKEN, Ordering::AcqRel);
        }
        taken
    }

    /// A token that is out is gone.
    #[inline]
    pub(super) fn spend(&self) {
        self.out.fetch_sub(1, Ordering::AcqRel);
    }

    /// Gives back a token taken at `taken`. False when it had come back by itself.
    pub(super) fn give_back(&self, figures: Figures, taken: u64) -> bool {
        let mut due = self.due.load(Ordering::Acquire);
        let given = loop {
            if self.filled_at.load(Ordering::Acquire) > taken {
                break false;
            }
            let back = due.saturating_sub(figures.interval());
            match self.due.compare_exchange_weak(due, back, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => break true,
                Err(now) => due = now,
            }
        };
        self.out.fetch_sub(TAKEN, Ordering::AcqRel);
        given
    }

    /// How many were ever taken and not given back, modulo 2^32.
    #[cfg(feature = "redis")]
    #[allow(clippy::cast_possible_truncation)] // the upper half
    pub(super) fn taken(&self) -> u32 {
        (self.out.load(Ordering::Relaxed) >> 32) as u32
    }

    /// Other figures from now on, for a bucket that shall hold what it held, and not more for having become larger: what
    /// one process gives up another gets, and tokens that came with the move would be nobody's. Tokens that have no place
    /// any more are gone.
    #[cfg(feature = "redis")]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // from lengths of time that are not negative
    pub(super) fn refit(&self, before: Figures, after: Figures, now: u64) {
        let mut due = self.due.load(Ordering::Acquire);
        loop {
            let missing = due.saturating_sub(now) as f64 / before.interval() as f64;
            let level = (f64::from(before.burst) - missing).clamp(0.0, f64::from(after.burst));
            let fitted = now.saturating_add(((f64::from(after.burst) - level) * after.interval() as f64).ceil() as u64);
            // Whatever is out may be given back later, and there must be room for it, or it would be one too many.
            self.filled_at.fetch_max(now, Ordering::AcqRel);
            match self.due.compare_exchange_weak(due, fitted, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(now) => due = now,
            }
        }
    }

    /// Moves the number on for a token taken now. A token that is being taken is out already.
    #[inline]
    #[cfg_attr(not(feature = "rate"), allow(dead_code))]
    fn advance(&self, due: u64, next: u64, interval: u64, now: u64) -> Result<u64, u64> {
        let out = self.out.load(Ordering::Acquire) & u64::from(u32::MAX);
        let others = out.saturating_sub(1);
        if others > 0 && due < now.saturating_add(others.saturating_mul(interval)) {
            self.filled_at.fetch_max(now, Ordering::AcqRel);
        }
        self.due.compare_exchange_weak(due, next, Ordering::AcqRel, Ordering::Acquire)
    }
}

#[cfg(feature = "rate")]
use with_governor::take;

#[cfg(feature = "rate")]
mod with_governor {
    use std::cell::Cell;
    use std::num::NonZeroU32;
    use std::time::Duration;

    use governor::clock::Clock;
    use governor::middleware::NoOpMiddleware;
    use governor::nanos::Nanos;
    use governor::state::{NotKeyed, StateStore};
    use governor::{Quota, RateLimiter};

    use super::{Figures, Ordering, Tokens};

    /// A clock that says what it was told.
    struct Told(Cell<u64>);

    impl Clock for Told {
        type Instant = Nanos;

        #[inline]
        fn now(&self) -> Nanos {
            self.0.get().into()
        }
    }

    type Limiter<'a> = RateLimiter<NotKeyed, Store<'a>, Told, NoOpMiddleware<Nanos>>;

    struct Store<'a> {
        tokens: &'a Tokens,
        interval: u64,
        now: u64,
    }

    impl StateStore for Store<'_> {
        type Key = NotKeyed;

        #[inline]
        fn measure_and_replace<T, F, E>(&self, _: &NotKeyed, decide: F) -> Result<T, E>
        where
            F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
        {
            let mut due = self.tokens.due.load(Ordering::Acquire);
            loop {
                let (taken, next) = decide(Some(due.into()))?;
                match self.tokens.advance(due, next.as_u64(), self.interval, self.now) {
                    Ok(_) => return Ok(taken),
                    Err(now) => due = now,
                }
            }
        }
    }

    /// Takes a token, or says when the next one is due.
    #[inline]
    pub(super) fn take(figures: Figures, tokens: &Tokens, now: u64) -> Result<(), u64> {
        let interval = figures.interval();
        // Both are 1 or more, so neither default is ever used; were one, it would be the strictest.
        let burst = NonZeroU32::new(figures.burst).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::with_period(Duration::from_nanos(interval)).unwrap_or(Quota::per_hour(NonZeroU32::MIN));
        let limiter: Limiter<'_> =
            RateLimiter::new(quota.allow_burst(burst), Store { tokens, interval, now }, Told(Cell::new(0)));
        limiter.clock().0.set(now);
        limiter.check().map_err(|until| until.earliest_possible().as_u64())
    }
}

/// Not reached: without the feature there is no way to declare a rate.
#[cfg(not(feature = "rate"))]
fn take(_: Figures, _: &Tokens, _: u64) -> Result<(), u64> {
    Ok(())
}
