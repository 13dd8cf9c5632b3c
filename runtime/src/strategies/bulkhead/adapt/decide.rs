//! From what attempts took to how many may run. Pure: handed the time and the roll of the die.
//!
//! ```text
//!              window over: step by the gradient
//!               ┌───┐
//!               │   ▼          now and then, or latency keeps rising
//!             steady ─────────────────────────────▶ settling (half the slots, until those from before have ended)
//!               ▲                                       │
//!               │  congested: the knee                  ▼
//!               └──────────────────────────────────  probing (half the slots, measured)
//!                  not congested: all slots back
//! ```
//!
//! Latencies are kept as binary logarithms, so that ratios are differences and a mean is geometric.
//!
//! Invariants: `floor <= slots <= ceiling`; a step never more than halves and never adds more than its square root; an
//! experiment ends after two windows or at the first window in which the slots were not in use.

use crate::base::clock::Moment;

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Answered,
    /// Cut off at the function's own timeout.
    TimedOut,
    /// Cut off by a deadline, or by another attempt's answer, which may have left it no time to speak of.
    OutOfTime,
}

/// An attempt that ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Nanoseconds.
    pub(super) took: u64,
    pub(super) ended: Ended,
    /// Every slot was taken when it ended.
    pub(super) busy: bool,
}

/// Fewer attempts than this make no window: their mean would say more about chance than about the dependency.
const SAMPLES: u32 = 30;
/// The shortest window in nanoseconds; longer where one attempt takes longer.
const SHORTEST: u64 = 100_000_000;
/// How far latency may rise above that of an undisturbed call: a quarter, as a binary logarithm. The dependency is kept
/// busy by a queue of that size.
const TOLERANCE: f64 = 0.26;
/// Half the slots and this much less latency, as a binary logarithm: the dependency was queueing. With the knee between
/// half and all it lies between 0 and 1; in the middle, chance is as unlikely to pass one way as the other.
const CONGESTED: f64 = 0.5;
/// Nearly in proportion: half the slots are still too many, so the next experiment follows at once.
const STILL_CONGESTED: f64 = 0.9;
/// The share of attempts cut off above which slots shrink whatever the others took.
const CUT_OFF: f64 = 0.1;
/// What shrinking by that leaves.
const BACK_OFF: f64 = 0.8;
/// What it leaves of the pace of growth, and by how much that recovers with each window: where the dependency's knee lies
/// beyond what the timeout allows, growing as fast as before would run into the timeout again and again.
const SLOWER: f64 = 0.5;
const FASTER: f64 = 1.03;
/// The share cut off above which it has stopped answering, and what is known of it is void.
const HANGS: f64 = 0.5;
/// So many windows running above the tolerance ask for an experiment, if latency is far above it,
const SUSPICIOUS: u32 = 3;
/// or still above it with this share of the slots: then it is not the slots.
const IN_VAIN: f64 = 0.75;
/// How long after an experiment the next one is due, in nanoseconds; spread by a quarter either way, so that processes
/// that started together do not experiment together.
const EVERY: f64 = 30e9;
/// The slots at first.
const START: u32 = 8;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Steady,
    /// The slots are half of `all`; attempts from before still run.
    Settling {
        all: f64,
        latency: f64,
    },
    Probing {
        all: f64,
        latency: f64,
    },
}

#[derive(Debug)]
pub(super) struct Controller {
    floor: f64,
    ceiling: f64,
    limit: f64,
    /// What an undisturbed call takes.
    alone: Option<f64>,
    phase: Phase,
    /// A share of the square root by which slots may grow.
    pace: f64,
    /// Windows running above the tolerance, and the slots at the first of them.
    risen: u32,
    risen_from: f64,
    probe_at: Moment,
    window: Window,
}

impl Controller {
    pub(super) fn new(floor: u32, ceiling: u32) -> Self {
        let (floor, ceiling) = (floor.min(ceiling), ceiling);
        Self {
            floor: f64::from(floor),
            ceiling: f64::from(ceiling),
            limit: f64::from(START.clamp(floor, ceiling)),
            alone: None,
            phase: Phase::Steady,
            pace: 1.0,
            risen: 0,
            risen_from: 0.0,
            probe_at: Moment::LONG_AGO,
            window: Window::default(),
        }
    }

    pub(super) fn slots(&self) -> u32 {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // within floor and ceiling, which are `u32`
        let slots = self.limit.round() as u32;
        slots
    }

    fn set(&mut self, limit: f64) {
        self.limit = limit.clamp(self.floor, self.ceiling);
    }

    /// Takes an attempt into account; the new number of slots when it has changed.
    pub(super) fn learn(&mut self, sample: Sample, now: Moment, roll: f64) -> Option<u32> {
        // One that was given less time than a call takes by itself says something about its caller.
        let long_enough = |alone| (sample.took.max(1) as f64).log2() > alone + TOLERANCE;
        if sample.ended == Ended::OutOfTime && !self.alone.is_some_and(long_enough) {
            return None;
        }
        let seen = self.window.add(sample, now)?;
        let before = self.slots();
        self.judge(seen, now, roll);
        (self.slots() != before).then(|| self.slots())
    }

    fn judge(&mut self, seen: Seen, now: Moment, roll: f64) {
        if seen.cut_off > CUT_OFF {
            self.phase = Phase::Steady;
            self.pace *= SLOWER;
            if seen.cut_off > HANGS {
                // What it takes by itself is asked anew as soon as it answers again, and as fast as at first.
                self.probe_at = Moment::LONG_AGO;
                self.pace = 1.0;
            }
            return self.set(self.limit * BACK_OFF);
        }
        match self.phase {
            Phase::Settling { all, latency } if seen.busy => self.phase = Phase::Probing { all, latency },
            Phase::Probing { all, latency } if seen.busy => self.conclude(all, latency, seen.latency, now, roll),
            // The load has gone down by itself: there is nothing to learn from fewer slots.
            Phase::Settling { all, .. } | Phase::Probing { all, .. } => {
                self.phase = Phase::Steady;
                self.set(all);
            }
            // Not all slots are in use, so they are not what holds anybody up: this is what a call takes alone.
            Phase::Steady if !seen.busy => {
                self.alone = Some(self.alone.map_or(seen.latency, |alone| f64::midpoint(alone, seen.latency)));
                self.risen = 0;
            }
            Phase::Steady => self.step(seen.latency, now),
        }
    }

    /// One step by the gradient, or the start of an experiment.
    fn step(&mut self, latency: f64, now: Moment) {
        let half = (self.limit / 2.0).max(self.floor).floor();
        if (now >= self.probe_at || self.is_suspicious(latency)) && half < self.limit.round() {
            self.phase = Phase::Settling { all: self.limit, latency };
            self.risen = 0;
            return self.set(half);
        }
        // At the floor nothing can be halved, and what is seen there is as undisturbed as it will get.
        let alone = *self.alone.get_or_insert(latency);
        let room = alone + TOLERANCE - latency;
        self.pace = (self.pace * FASTER).min(1.0);
        if room < 0.0 {
            if self.risen == 0 {
                self.risen_from = self.limit;
            }
            self.risen += 1;
            self.set(self.limit * (-((-room).min(1.0))).exp2());
        } else {
            self.risen = 0;
            self.set(self.limit + self.limit.sqrt() * (room / TOLERANCE).min(1.0) * self.pace);
        }
    }

    /// Whether latency has risen for another reason than the slots, as far as can be seen.
    fn is_suspicious(&self, latency: f64) -> bool {
        let far_above = self.alone.is_some_and(|alone| latency > alone + 2.0 * TOLERANCE);
        self.risen >= SUSPICIOUS && (far_above || self.limit < self.risen_from * IN_VAIN)
    }

    /// The end of an experiment: how much latency fell with half the slots.
    fn conclude(&mut self, all: f64, before: f64, latency: f64, now: Moment, roll: f64) {
        let fell = before - latency;
        self.phase = Phase::Steady;
        self.alone = Some(latency);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // half a minute, more or less
        let pause = (EVERY * (0.75 + roll / 2.0)) as u64;
        self.probe_at = if fell > STILL_CONGESTED { now } else { now.plus(pause) };
        self.set(if fell > CONGESTED { (all * (TOLERANCE - fell).exp2()).min(all) } else { all });
    }
}

/// What is collected until there is enough of it.
#[derive(Debug, Default)]
struct Window {
    since: Option<Moment>,
    all: u32,
    cut_off: u32,
    busy: u32,
    logarithms: f64,
}

/// A window that is over.
#[derive(Clone, Copy, Debug)]
struct Seen {
    latency: f64,
    /// A share.
    cut_off: f64,
    busy: bool,
}

impl Window {
    fn add(&mut self, sample: Sample, now: Moment) -> Option<Seen> {
        let since = *self.since.get_or_insert(now);
        self.all += 1;
        self.cut_off += u32::from(sample.ended != Ended::Answered);
        self.busy += u32::from(sample.busy);
        self.logarithms += (sample.took.max(1) as f64).log2();
        let all = f64::from(self.all);
        let latency = self.logarithms / all;
        // Twice the time of an attempt: whatever began under other slots has ended by the end of the window.
        let long_enough = (2.0 * latency.exp2()).max(SHORTEST as f64);
        if self.all < SAMPLES || (now.since(since) as f64) < long_enough {
            return None;
        }
        let cut_off = f64::from(self.cut_off) / all;
        let seen = Seen { latency, cut_off, busy: 2 * self.busy >= self.all };
        *self = Self { since: Some(now), ..Self::default() };
        Some(seen)
    }
}
