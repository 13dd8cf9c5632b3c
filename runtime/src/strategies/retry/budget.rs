//! The allowance that all calls of a site share, or of all sites that give it one name, over a sliding window of ten seconds.
//!
//! Each call deposits a share of a retry, and so many retries a second are granted on top; the window starts as if it had
//! granted that for its whole length. A retry is withdrawn before its pause begins, so sleeping retries count, and given
//! back if the pause is dropped.
//!
//! Deposits happen on every call and so may not touch a shared line: each lane counts its own, per second, in a ring of
//! cells marked with the second they belong to. Withdrawals happen on failures alone and take a lock.
//!
//! Invariants: a retry is withdrawn only while the window ending then has one left (deposits that leave the window later
//! do not call back what was withdrawn against them); a second that left the window counts for
//! nothing, however it was stored.

use crate::base::clock::Moment;
use crate::base::lane::{CELLS, Lane, update};
use crate::base::sync::{Apart, AtomicU64, Mutex, Ordering};

use super::config::Allowance;

/// The window, in seconds.
const WINDOW: i64 = 10;
/// Places in a ring: more than the window has seconds, so that a place being reused is never one still counted.
const PLACES: usize = 16;
const PLACES_AS_SECONDS: i64 = 16;

/// The seconds since the origin and a count, in one cell.
#[derive(Clone, Copy)]
struct Tagged(u64);

impl Tagged {
    const COUNT_BITS: u32 = 28;
    const COUNT_MASK: u64 = (1 << Self::COUNT_BITS) - 1;

    #[inline]
    fn tag(second: i64) -> u64 {
        // A paused clock may stand before the origin, so a second may be negative: its low bits tell it from others.
        second.cast_unsigned() << Self::COUNT_BITS
    }

    #[inline]
    fn count_in(self, second: i64) -> u64 {
        if self.0 & !Self::COUNT_MASK == Self::tag(second) { self.0 & Self::COUNT_MASK } else { 0 }
    }

    #[inline]
    fn one_more(self, second: i64) -> Self {
        Self(Self::tag(second) | (self.count_in(second) + 1).min(Self::COUNT_MASK))
    }
}

type Ring = [AtomicU64; PLACES];

#[inline]
fn place(second: i64) -> usize {
    usize::try_from(second.rem_euclid(PLACES_AS_SECONDS)).unwrap_or(0)
}

/// A site's budget.
#[derive(Debug)]
pub(crate) struct Budget {
    deposits: Box<[Apart<Ring>; CELLS]>,
    ledger: Mutex<Ledger>,
}

/// What is read and written on failures alone.
#[derive(Debug)]
struct Ledger {
    allowance: Allowance,
    withdrawn: [(i64, u64); PLACES],
}

impl Budget {
    pub(crate) fn new(allowance: Allowance) -> Self {
        Self {
            deposits: Box::new(std::array::from_fn(|_| Apart(std::array::from_fn(|_| AtomicU64::new(0))))),
            ledger: Mutex::new(Ledger { allowance, withdrawn: [(i64::MIN, 0); PLACES] }),
        }
    }

    /// Replaces what it grants.
    pub(crate) fn allow(&self, allowance: Allowance) {
        self.ledger.lock().allowance = allowance;
    }

    /// A call has begun to run.
    #[inline]
    pub(crate) fn deposit(&self, lane: Lane, now: Moment) {
        let second = now.second();
        update(&self.deposits[lane.cell()][place(second)], lane, |raw| Tagged(raw).one_more(second).0);
    }

    /// Takes a retry, if the window has one left.
    pub(crate) fn withdraw(&'static self, now: Moment) -> Option<Ticket> {
        let second = now.second();
        let Ledger { allowance, withdrawn } = &mut *self.ledger.lock();
        let spent: u64 = withdrawn.iter().filter(|(at, _)| within(*at, second)).map(|(_, n)| n).sum();
        if (spent + 1) as f64 > self.granted(*allowance, second) + 1e-9 {
            return None;
        }
        let (at, count) = &mut withdrawn[place(second)];
        if *at != second {
            (*at, *count) = (second, 0);
        }
        *count += 1;
        Some(Ticket { budget: self, second, used: false })
    }

    /// What the window ending in this second was granted.
    fn granted(&self, allowance: Allowance, second: i64) -> f64 {
        let calls: u64 = self
            .deposits
            .iter()
            .flat_map(|ring| {
                (second - WINDOW + 1..=second).map(|at| Tagged(ring[place(at)].load(Ordering::Relaxed)).count_in(at))
            })
            .sum();
        allowance.per_call * calls as f64 + allowance.per_second * WINDOW as f64
    }

    fn give_back(&self, second: i64) {
        let (at, count) = &mut self.ledger.lock().withdrawn[place(second)];
        if *at == second {
            *count = count.saturating_sub(1);
        }
    }
}

fn within(at: i64, second: i64) -> bool {
    at <= second && at > second - WINDOW
}

/// A retry taken from the budget; given back unless the attempt is made.
#[derive(Debug)]
pub(crate) struct Ticket {
    budget: &'static Budget,
    second: i64,
    used: bool,
}

impl Ticket {
    /// The attempt is made.
    pub(crate) fn spend(mut self) {
        self.used = true;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.used {
            self.budget.give_back(self.second);
        }
    }
}
