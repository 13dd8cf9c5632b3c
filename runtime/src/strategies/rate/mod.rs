//! So many in so long: what a dependency has been promised, or what a caller may ask for.
//!
//! ```text
//!             a token is there, nobody waits
//!   caller ─────────────────────────────────────▶ token ──▶ spent, when the body starts
//!      │                                            ▲  │
//!      │ not yet, and it will be in time     due    │  │ refused by a later stage, or dropped before the body started
//!      ├───────────────────────────────▶ waiting ───┘  ▼
//!      │ not in time                        │        given back
//!      ▼                                    └─ dropped: leaves the line, those behind move up
//!   refused at once, told when to come back
//! ```
//!
//! A bulkhead bounds how much runs at once; it says nothing about how often. A dependency that bills by the call, or bans
//! those who call too often, needs the other bound: a bucket that holds a burst of tokens and regains one each interval.
//! Sized too small it turns away work the dependency would have done; too large, or with one per process where the
//! promise was one for all of them, it is no bound. What it cannot do is protect from slowness: a hundred calls a second
//! that each hang for a minute are six thousand calls.
//!
//! **A token stands for a body that runs.** It is taken by every attempt, after the breaker has let it pass, and handed
//! back when the bulkhead has no slot, when a wait for one was in vain, when the deadline is spent by then, and when the
//! call is dropped before its body started. Other limiters spend it all the same, and a full bulkhead then uses up the
//! rate with calls that never reached anybody.
//!
//! **Waiting is bounded by being foreseen.** The line is served in order at a known pace, so the moment of one's turn is
//! known on arrival ([`turn`]). A wait that cannot end within the site's patience and before the deadline is not begun, and
//! the error says exactly how long it would have been.
//!
//! **Keys** have a bucket each ([`keyed`]).
//!
//! **A rate of all processes together** is in force here with this one's share of it ([`shared`]).
//!
//! **No lock while nobody waits.** A bucket's state is one number ([`decide`]), moved by one compare-and-swap; only
//! waiting takes the lock around the line.
//!
//! Invariants: over any stretch of time no more bodies start than `burst` and one for each interval in it; whoever waits is
//! served before whoever comes later; whatever way an attempt takes out before its body starts, its token is there again.

mod config;
mod decide;
mod guard;
mod keyed;
#[cfg(all(test, watertight_loom, feature = "rate"))]
mod loom_tests;
mod shared;
#[cfg(all(test, not(watertight_loom), feature = "rate", feature = "redis"))]
mod shared_tests;
#[cfg(all(test, not(watertight_loom), feature = "rate"))]
mod tests;
mod turn;

use std::sync::OnceLock;
use std::task::{Context, Waker};

use crate::base::clock::Moment;
use crate::base::line::Waiters;
use crate::base::sync::{Apart, AtomicU32, AtomicU64, Mutex, Ordering};
use crate::base::table::Place;
use crate::call::Detail;

pub use config::Config;
pub(crate) use config::Figures;
use decide::{Tokens, stamp};
pub(crate) use guard::{Looked, Token, Waiting};
use shared::Whole;
#[cfg(feature = "redis")]
pub(crate) use shared::{KeyPace, Pace};
use turn::{Patience, Turn, View};

/// The parts every call touches, on lines of their own.
#[derive(Debug)]
struct Front {
    tokens: Tokens,
    /// How many stand in line: changed under the lock, read without it.
    waiting: AtomicU32,
    count: AtomicU32,
    burst: AtomicU32,
    unit: AtomicU64,
}

/// A bucket of tokens and those who wait for one.
#[derive(Debug)]
pub(crate) struct Rate {
    name: &'static str,
    front: Apart<Front>,
    line: Mutex<Waiters>,
    /// The figures that somebody wrote down, and which share of them is in force.
    whole: Whole,
    /// The buckets of keys, once somebody has one.
    keyed: OnceLock<keyed::Buckets>,
}

/// What asking for a token came to.
pub(crate) enum Asked {
    Token(Token),
    Waiting(Waiting),
    Refused(Detail),
}

impl Rate {
    pub(crate) fn new(name: &'static str, figures: Figures) -> Self {
        let Figures { count, unit, burst } = figures;
        Self {
            name,
            front: Apart(Front {
                tokens: Tokens::full(),
                waiting: AtomicU32::new(0),
                count: AtomicU32::new(count),
                burst: AtomicU32::new(burst),
                unit: AtomicU64::new(unit),
            }),
            line: Mutex::new(Waiters::default()),
            whole: Whole::new(figures),
            keyed: OnceLock::new(),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The figures in force.
    #[inline]
    pub(crate) fn figures(&self) -> Figures {
        Figures {
            count: self.front.count.load(Ordering::Relaxed),
            unit: self.front.unit.load(Ordering::Relaxed),
            burst: self.front.burst.load(Ordering::Relaxed),
        }
    }

    /// Changes the figures without losing a waiter or a token that is out. Whoever reads them in this very moment may
    /// see some old and some new; the next one does not.
    pub(crate) fn set_figures(&self, figures: Figures) {
        self.whole.set(figures);
        self.put_in_force(figures.under(self.whole.share()));
    }

    fn put_in_force(&self, Figures { count, unit, burst }: Figures) {
        self.front.count.store(count, Ordering::Relaxed);
        self.front.unit.store(unit, Ordering::Relaxed);
        self.front.burst.store(burst, Ordering::Relaxed);
        self.wake_line();
    }

    /// How many wait for a token.
    pub(crate) fn waiting(&self) -> u32 {
        self.front.waiting.load(Ordering::Relaxed) + self.waiting_by_key()
    }

    /// A token, a place in line, or neither: it must be there within `wait` nanoseconds, and before the deadline.
    #[inline]
    pub(crate) fn ask(
        &'static self,
        bucket: Option<Place>,
        now: Moment,
        wait: u64,
        deadline: Moment,
        cx: &Context<'_>,
    ) -> Asked {
        let at = stamp(now);
        let patience = Patience { latest: stamp(now.plus(wait)), deadline: stamp(deadline) };
        if let Some(bucket) = bucket {
            return self.ask_key(bucket, at, patience, cx);
        }
        if self.front.waiting.load(Ordering::Acquire) == 0 {
            match self.front.tokens.take(self.figures(), at) {
                Ok(()) => return Asked::Token(Token::of(self, None, at)),
                Err(due) if !patience.allows(due) => return Asked::Refused(self.describe(due.saturating_sub(at))),
                Err(_) => {}
            }
        }
        self.ask_in_line(at, patience, cx.waker().clone())
    }

    /// The same under the lock, where the line cannot change.
    #[cold]
    fn ask_in_line(&'static self, now: u64, patience: Patience, waker: Waker) -> Asked {
        match self.view(None, |mut view| view.ask(now, patience, waker)) {
            Turn::Taken => Asked::Token(Token::of(self, None, now)),
            Turn::Waiting(ticket, due) => Asked::Waiting(Waiting::of(self, None, ticket, patience, due)),
            Turn::Refused(due) => Asked::Refused(self.describe(due.saturating_sub(now))),
        }
    }

    /// Looks at the bucket under the lock.
    fn view<T>(&self, bucket: Option<Place>, look: impl FnOnce(View<'_>) -> T) -> T {
        if let Some(bucket) = bucket {
            return self.view_key(bucket, look);
        }
        let mut line = self.line.lock();
        // Counted as one more while it looks: a token given back meanwhile then finds somebody to wake and comes for the
        // lock. Were it counted only once it waits, the one would miss the other. A read-modify-write, so that whichever
        // of the two is second sees what the first has done.
        self.front.waiting.fetch_add(1, Ordering::AcqRel);
        let seen = look(View { figures: self.figures(), tokens: &self.front.tokens, line: &mut line });
        let waiting = u32::try_from(line.len()).unwrap_or(u32::MAX);
        self.front.waiting.store(waiting, Ordering::Release);
        seen
    }

    #[inline]
    fn spend(&self, bucket: Option<Place>) {
        match bucket {
            None => self.front.tokens.spend(),
            Some(bucket) => self.spend_of(bucket),
        }
    }

    fn give_back(&self, bucket: Option<Place>, taken: u64) {
        if let Some(bucket) = bucket {
            return self.give_back_to(bucket, taken);
        }
        // As a read-modify-write, for the reason above.
        if self.front.tokens.give_back(self.figures(), taken) && self.front.waiting.fetch_add(0, Ordering::AcqRel) > 0 {
            self.wake_line();
        }
    }

    #[cold]
    fn wake_line(&self) {
        let woken: Vec<Waker> = self.line.lock().take_wakers(0, usize::MAX).collect();
        woken.into_iter().for_each(Waker::wake);
    }

    /// Wakes everybody who waits for a token, so that they look around.
    pub(crate) fn wake_all(&self) {
        self.wake_line();
        self.wake_keys();
    }

    #[cold]
    fn describe(&self, retry_after: u64) -> Detail {
        let Figures { count, unit, .. } = self.whole.figures();
        let retry_after = self.whole.refused(retry_after, unit);
        Detail::Limited { name: self.name, count, unit, retry_after }
    }
}
