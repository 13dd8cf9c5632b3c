//! The breaker's states and what each event makes of them. Pure: handed the time, the roll and the number of successes.
//!
//! The rate is compared without dividing, so a share such as 50 % of 4 calls is met by exactly two failures.
//!
//! Invariants: see the module's essay; besides, `shut_until` lies in the past exactly when a caller has a chance.

use std::collections::VecDeque;

use super::config::Rules;
use crate::base::clock::Moment;

/// The states, as shown to callers and figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Closed,
    Open,
    HalfOpen,
    Isolated,
}

/// Generation, state, and whether successes must be judged, in one word for those who only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark(u64);

impl Mark {
    fn new(generation: u32, state: State, watch: bool) -> Self {
        Self((u64::from(generation) << 32) | (u64::from(watch) << 2) | state as u64)
    }

    #[inline]
    pub(crate) fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    #[inline]
    pub(crate) fn to_raw(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    pub(crate) fn state(self) -> State {
        match self.0 & 3 {
            0 => State::Closed,
            1 => State::Open,
            2 => State::HalfOpen,
            _ => State::Isolated,
        }
    }

    #[inline]
    pub(crate) fn watches_successes(self) -> bool {
        self.0 & 4 != 0
    }
}

/// A thread's count of successes, marked with the generation it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tagged(u64);

impl Tagged {
    const COUNT_BITS: u32 = 40;
    const COUNT_MASK: u64 = (1 << Self::COUNT_BITS) - 1;

    #[inline]
    pub(crate) fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    #[inline]
    pub(crate) fn to_raw(self) -> u64 {
        self.0
    }

    /// Twenty-four bits of the generation tell sixteen million states apart.
    #[inline]
    fn tag(generation: u32) -> u64 {
        u64::from(generation) << Self::COUNT_BITS
    }

    #[inline]
    pub(crate) fn count_in(self, generation: u32) -> u64 {
        if self.0 & !Self::COUNT_MASK == Self::tag(generation) { self.0 & Self::COUNT_MASK } else { 0 }
    }

    /// A success of `generation`: starts afresh over the count of an earlier one, leaves that of a later one alone.
    #[inline]
    pub(crate) fn one_more(self, generation: u32) -> Self {
        const HALF: u64 = 1 << 63;
        let is_later = (Self::tag(generation).wrapping_sub(self.0 & !Self::COUNT_MASK)) >= HALF;
        // A cell that was never used has the tag of generation 0, which is later than half of all others.
        if is_later && self.0 != 0 {
            return self;
        }
        Self(Self::tag(generation) | ((self.count_in(generation) + 1) & Self::COUNT_MASK))
    }
}

/// What a caller at the door is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Pass { generation: u32 },
    Probe { generation: u32, number: u32 },
    Refuse { until: Moment },
}

#[derive(Clone, Copy, Debug)]
struct Probe {
    number: u32,
    lease_end: Moment,
}

#[derive(Debug)]
enum Phase {
    /// `failures` holds the places of the failures among the results of this generation, ascending. `watch` is set
    /// while a success may be the result that makes the rate countable.
    Closed {
        failures: VecDeque<u64>,
        failed: u64,
        watch: bool,
    },
    Open {
        until: Moment,
    },
    HalfOpen {
        out: Vec<Probe>,
        succeeded: u32,
        next: u32,
    },
    Isolated,
}

/// A breaker without its locks and atomics.
#[derive(Debug)]
pub(crate) struct Machine {
    rules: Rules,
    generation: u32,
    phase: Phase,
    transitions: [u64; 3],
}

impl Phase {
    fn closed() -> Self {
        Self::Closed { failures: VecDeque::new(), failed: 0, watch: false }
    }
}

impl Machine {
    pub(crate) fn new(rules: Rules) -> Self {
        Self { rules, generation: 0, phase: Phase::closed(), transitions: [0; 3] }
    }

    pub(crate) fn rules(&self) -> Rules {
        self.rules
    }

    pub(crate) fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
        match &mut self.phase {
            // The next result, whichever it is, is judged by the new rules and settles this anew.
            Phase::Closed { watch, .. } => *watch = true,
            // Fewer probes are asked for than have succeeded: no further one would be let out to close it.
            Phase::HalfOpen { succeeded, .. } if *succeeded >= rules.probes => self.close(),
            Phase::HalfOpen { .. } | Phase::Open { .. } | Phase::Isolated => {}
        }
    }

    #[inline]
    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }

    /// How often it has opened, half-opened and closed.
    pub(crate) fn transitions(&self) -> [u64; 3] {
        self.transitions
    }

    #[inline]
    pub(crate) fn state(&self) -> State {
        match self.phase {
            Phase::Closed { .. } => State::Closed,
            Phase::Open { .. } => State::Open,
            Phase::HalfOpen { .. } => State::HalfOpen,
            Phase::Isolated => State::Isolated,
        }
    }

    pub(crate) fn mark(&self) -> Mark {
        let watch = matches!(self.phase, Phase::Closed { watch: true, .. });
        Mark::new(self.generation, self.state(), watch)
    }

    /// Until when every caller is refused without asking the machine.
    pub(crate) fn shut_until(&self) -> Moment {
        match &self.phase {
            Phase::Closed { .. } => Moment::LONG_AGO,
            Phase::Open { until } => *until,
            Phase::HalfOpen { out, succeeded, .. } if self.has_room(out, *succeeded) => Moment::LONG_AGO,
            Phase::HalfOpen { out, .. } => first_lease_end(out),
            Phase::Isolated => Moment::NEVER,
        }
    }

    /// As many probes may be out as are still needed to close.
    fn has_room(&self, out: &[Probe], succeeded: u32) -> bool {
        (out.len() as u64) + u64::from(succeeded) < u64::from(self.rules.probes)
    }

    pub(crate) fn admit(&mut self, now: Moment) -> Decision {
        if let Phase::Open { until } = self.phase {
            if now < until {
                return Decision::Refuse { until };
            }
            self.enter(Phase::HalfOpen { out: Vec::new(), succeeded: 0, next: 0 }, 1);
        }
        let generation = self.generation;
        match &mut self.phase {
            Phase::Closed { .. } => Decision::Pass { generation },
            Phase::Isolated => Decision::Refuse { until: Moment::NEVER },
            Phase::Open { until } => Decision::Refuse { until: *until },
            Phase::HalfOpen { out, succeeded, next } => {
                // A probe that has not ended within a cooldown is written off, or it would hold the door for ever.
                out.retain(|probe| now < probe.lease_end);
                if out.len() as u64 + u64::from(*succeeded) >= u64::from(self.rules.probes) {
                    return Decision::Refuse { until: first_lease_end(out) };
                }
                let number = *next;
                *next = next.wrapping_add(1);
                out.push(Probe { number, lease_end: now.plus(self.rules.cooldown.max(1)) });
                Decision::Probe { generation, number }
            }
        }
    }

    /// A failure of an attempt admitted in `generation`; `successes` is what this generation has counted so far.
    pub(crate) fn failure(&mut self, generation: u32, probe: Option<u32>, successes: u64, now: Moment, roll: f64) {
        if generation != self.generation {
            return;
        }
        match &mut self.phase {
            Phase::Closed { failures, failed, .. } => {
                *failed += 1;
                failures.push_back(successes + *failed);
                self.judge(successes, now, roll);
            }
            Phase::HalfOpen { out, .. } => {
                if take(out, probe) {
                    self.open(now, roll);
                }
            }
            Phase::Open { .. } | Phase::Isolated => {}
        }
    }

    /// A success; in the closed state `successes` counts it already.
    pub(crate) fn success(&mut self, generation: u32, probe: Option<u32>, successes: u64, now: Moment, roll: f64) {
        if generation != self.generation {
            return;
        }
        match &mut self.phase {
            Phase::Closed { .. } => self.judge(successes, now, roll),
            Phase::HalfOpen { out, succeeded, .. } => {
                *succeeded += u32::from(take(out, probe));
                if *succeeded >= self.rules.probes {
                    self.close();
                }
            }
            Phase::Open { .. } | Phase::Isolated => {}
        }
    }

    /// A probe ends without having learned anything.
    pub(crate) fn give_back(&mut self, generation: u32, probe: u32) {
        if let Phase::HalfOpen { out, .. } = &mut self.phase
            && generation == self.generation
        {
            take(out, Some(probe));
        }
    }

    fn judge(&mut self, successes: u64, now: Moment, roll: f64) {
        let Phase::Closed { failures, failed, watch } = &mut self.phase else { return };
        let results = successes + *failed;
        let before_window = results.saturating_sub(u64::from(self.rules.window));
        while failures.front().is_some_and(|&place| place <= before_window) {
            failures.pop_front();
        }
        let calls = results - before_window;
        let countable = calls >= u64::from(self.rules.min_calls);
        *watch = !countable && !failures.is_empty();
        // A hair of slack, or 10 % of 30 would be a little more than 3.
        if countable && failures.len() as f64 + 1e-9 >= self.rules.failures * calls as f64 {
            self.open(now, roll);
        }
    }

    /// The failures among the last results.
    pub(crate) fn failures_in_window(&self, successes: u64) -> usize {
        let Phase::Closed { failures, failed, .. } = &self.phase else { return 0 };
        let before_window = (successes + failed).saturating_sub(u64::from(self.rules.window));
        failures.iter().filter(|&&place| place > before_window).count()
    }

    /// How many results the window holds.
    pub(crate) fn calls_in_window(&self, successes: u64) -> u64 {
        let Phase::Closed { failed, .. } = &self.phase else { return 0 };
        (successes + failed).min(u64::from(self.rules.window))
    }

    fn open(&mut self, now: Moment, roll: f64) {
        // Shortened by up to a tenth, so that many processes do not come back in one instant, and never lengthened, so
        // that after one cooldown the door is open for sure.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and a tenth of the cooldown
        let off = (self.rules.cooldown as f64 * 0.1 * roll.clamp(0.0, 1.0)) as u64;
        let until = now.plus(self.rules.cooldown.saturating_sub(off));
        self.enter(Phase::Open { until }, 0);
    }

    fn close(&mut self) {
        self.enter(Phase::closed(), 2);
    }

    pub(crate) fn isolate(&mut self) {
        if !matches!(self.phase, Phase::Isolated) {
            self.enter(Phase::Isolated, 0);
        }
    }

    pub(crate) fn reset(&mut self) {
        let was_closed = self.state() == State::Closed;
        self.close();
        self.transitions[2] -= u64::from(was_closed);
    }

    fn enter(&mut self, phase: Phase, transition: usize) {
        self.generation = self.generation.wrapping_add(1);
        self.phase = phase;
        self.transitions[transition] += 1;
    }
}

/// Takes a probe off the list of those out. False when it was written off before.
fn take(out: &mut Vec<Probe>, probe: Option<u32>) -> bool {
    let at = out.iter().position(|one| Some(one.number) == probe);
    at.map(|at| out.swap_remove(at)).is_some()
}

fn first_lease_end(out: &[Probe]) -> Moment {
    out.iter().map(|probe| probe.lease_end).min().unwrap_or(Moment::LONG_AGO)
}
