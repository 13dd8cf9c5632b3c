//! The breaker's states and what each event makes of them. Pure: handed the time, the roll and the number of successes.
//!
//! The rate is compared without dividing, so a share such as 50 % of 4 calls is met by exactly two failures.
//!
//! "Successes" are the quick ones that were counted outside the lock: all of the generation where the window counts
//! results, those of the window where it counts time.
//!
//! Invariants: see the module's essay; besides, `shut_until` lies in the past exactly when a caller has a chance; one
//! event makes one change of state at most.

use super::change::{Cause, Seen, State, Step};
use super::config::{Rules, Window};
use super::mark::Mark;
use super::window::{Fault, Faults};
use crate::base::clock::Moment;

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
    /// `watch` is set while a success may be the result that makes the rate countable; from `look_at` on a success is
    /// judged because older ones have left the window.
    Closed {
        faults: Faults,
        watch: bool,
        look_at: Moment,
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
    last: Option<Step>,
    /// Set by a change of state until somebody takes it.
    news: bool,
    closed: Closed,
}

/// For how long it has not been closed.
#[derive(Clone, Copy, Debug)]
struct Closed {
    since_not: Option<Moment>,
    not_before: u64,
}

impl Phase {
    fn closed(rules: &Rules) -> Self {
        Self::Closed { faults: Faults::new(rules.window), watch: false, look_at: Moment::NEVER }
    }
}

impl Machine {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            generation: 0,
            phase: Phase::closed(&rules),
            transitions: [0; 3],
            last: None,
            news: false,
            closed: Closed { since_not: None, not_before: 0 },
        }
    }

    pub(crate) fn rules(&self) -> Rules {
        self.rules
    }

    pub(crate) fn set_rules(&mut self, rules: Rules, now: Moment) {
        let other_window = match (self.rules.window, rules.window) {
            // By number, the same record serves every size.
            (Window::Calls(_), Window::Calls(_)) => false,
            (old, new) => old != new,
        };
        self.rules = rules;
        match &mut self.phase {
            // What was counted by one measure says nothing by another: the window begins anew.
            Phase::Closed { .. } if other_window => {
                self.generation = self.generation.wrapping_add(1);
                self.phase = Phase::closed(&rules);
            }
            // The next result, whichever it is, is judged by the new rules and settles this anew.
            Phase::Closed { watch, .. } => *watch = true,
            // Fewer probes are asked for than have succeeded: no further one would be let out to close it.
            Phase::HalfOpen { succeeded, .. } if *succeeded >= rules.probes => self.close(Cause::Settings, now),
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
        let measured = matches!(self.rules.window, Window::Time(_)) || self.rules.slow.is_some();
        Mark::new(self.generation, self.state(), watch, measured)
    }

    /// From when on a success is to be judged although nothing else is wrong.
    pub(crate) fn look_at(&self) -> Moment {
        if let Phase::Closed { look_at, .. } = self.phase { look_at } else { Moment::NEVER }
    }

    /// The last change of state, if nobody has taken it yet.
    pub(crate) fn take_news(&mut self) -> Option<Step> {
        if std::mem::take(&mut self.news) { self.last } else { None }
    }

    pub(crate) fn last(&self) -> Option<Step> {
        self.last
    }

    /// For how many nanoseconds it has not been closed, over its whole life.
    pub(crate) fn not_closed_for(&self, now: Moment) -> u64 {
        self.closed.not_before.saturating_add(self.closed.since_not.map_or(0, |since| now.since(since)))
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
            let half_open = Phase::HalfOpen { out: Vec::new(), succeeded: 0, next: 0 };
            self.enter(half_open, Cause::CooldownOver, Seen::default(), now);
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

    /// A failure or a slow answer of an attempt admitted in `generation`.
    pub(crate) fn fault(
        &mut self,
        fault: Fault,
        generation: u32,
        probe: Option<u32>,
        successes: u64,
        now: Moment,
        roll: f64,
    ) {
        if generation != self.generation {
            return;
        }
        match &mut self.phase {
            Phase::Closed { faults, .. } => {
                faults.record(fault, successes, now);
                self.judge(successes, now, roll);
            }
            // What opened it for being slow is not well while it is slow: a slow probe fails like any other.
            Phase::HalfOpen { out, .. } => {
                if take(out, probe) {
                    let cause = if fault.failed { Cause::ProbeFailed } else { Cause::ProbeSlow };
                    self.open(cause, Seen::default(), now, roll);
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
                    self.close(Cause::ProbesSucceeded, now);
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
        let Rules { window, min_calls, failures, slow, .. } = self.rules;
        let Phase::Closed { faults, watch, look_at } = &mut self.phase else { return };
        let seen = faults.seen(window, successes, now);
        let countable = seen.calls >= u64::from(min_calls);
        let at_fault = seen.failures > 0 || seen.slow > 0;
        *watch = !countable && at_fault;
        *look_at = if at_fault { faults.next_leaving(now) } else { Moment::NEVER };
        if !countable {
            return;
        }
        if reaches(seen.failures, failures, seen.calls) {
            self.open(Cause::Failures, seen, now, roll);
        } else if slow.is_some_and(|slow| reaches(seen.slow, slow.rate, seen.calls)) {
            self.open(Cause::Slow, seen, now, roll);
        }
    }

    /// What the window holds, while closed.
    pub(crate) fn seen(&mut self, successes: u64, now: Moment) -> Seen {
        let Phase::Closed { faults, .. } = &mut self.phase else { return Seen::default() };
        faults.seen(self.rules.window, successes, now)
    }

    fn open(&mut self, cause: Cause, seen: Seen, now: Moment, roll: f64) {
        // Shortened by up to a tenth, so that many processes do not come back in one instant, and never lengthened, so
        // that after one cooldown the door is open for sure.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and a tenth of the cooldown
        let off = (self.rules.cooldown as f64 * 0.1 * roll.clamp(0.0, 1.0)) as u64;
        let until = now.plus(self.rules.cooldown.saturating_sub(off));
        self.enter(Phase::Open { until }, cause, seen, now);
    }

    fn close(&mut self, cause: Cause, now: Moment) {
        self.enter(Phase::closed(&self.rules), cause, Seen::default(), now);
    }

    pub(crate) fn isolate(&mut self, now: Moment) {
        if !matches!(self.phase, Phase::Isolated) {
            self.enter(Phase::Isolated, Cause::ByHand, Seen::default(), now);
        }
    }

    pub(crate) fn reset(&mut self, now: Moment) {
        self.close(Cause::ByHand, now);
    }

    /// A new generation. Nothing is said of one that begins in the state the last one ended in.
    fn enter(&mut self, phase: Phase, cause: Cause, seen: Seen, now: Moment) {
        let from = self.state();
        self.generation = self.generation.wrapping_add(1);
        self.phase = phase;
        let to = self.state();
        if from == to {
            return;
        }
        match to {
            State::Open | State::Isolated => self.transitions[0] += 1,
            State::HalfOpen => self.transitions[1] += 1,
            State::Closed => self.transitions[2] += 1,
        }
        if to == State::Closed {
            self.closed = Closed { since_not: None, not_before: self.not_closed_for(now) };
        } else {
            self.closed.since_not.get_or_insert(now);
        }
        self.last = Some(Step { from, to, cause, seen });
        self.news = true;
    }
}

/// Whether `part` of `calls` is the share or more. A hair of slack, or 10 % of 30 would be a little more than 3.
fn reaches(part: u64, share: f64, calls: u64) -> bool {
    part > 0 && part as f64 + 1e-9 >= share * calls as f64
}

/// Takes a probe off the list of those out. False when it was written off before.
fn take(out: &mut Vec<Probe>, probe: Option<u32>) -> bool {
    let at = out.iter().position(|one| Some(one.number) == probe);
    at.map(|at| out.swap_remove(at)).is_some()
}

fn first_lease_end(out: &[Probe]) -> Moment {
    out.iter().map(|probe| probe.lease_end).min().unwrap_or(Moment::LONG_AGO)
}
