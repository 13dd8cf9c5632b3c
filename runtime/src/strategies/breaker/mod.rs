//! Stops asking a dependency once failure is undeniable, and asks again carefully.
//!
//! ```text
//!            failure rate reached,                  cooldown over,
//!            enough results in the window           one caller comes
//!   ┌────────┐ ──────────────────────▶ ┌──────┐ ──────────────────▶ ┌───────────┐
//!   │ closed │                         │ open │                     │ half-open │
//!   └────────┘ ◀──────────┐            └──────┘ ◀────────────────── └───────────┘
//!        ▲                │                ▲      one probe failed       │
//!        │ reset          └────────────────┼─────────────────────────────┘
//!        │                isolate          │      all probes succeeded
//!        └──────────────────────────── (held open by hand)
//! ```
//!
//! Against a dependency that hangs, a timeout bounds what one call loses; the breaker bounds how many lose it. Its window
//! is the last so many results, judged after every result, with a minimum below which it does not judge at all. Once
//! open it refuses everyone; after the cooldown it lets exactly the set number of probes through at once and refuses the
//! rest, so that a recovering dependency meets one caller and not all of them. Cooldowns are shortened at random by up to
//! a tenth, so that a thousand processes do not return in one instant.
//!
//! **Nothing shared is written while all is well.** A window that every success wrote to would cost every call of every
//! thread a travelling cache line. Successes go to cells of the calling thread's own; only a failure takes the lock, sums
//! the cells, and so learns its own place in the sequence of results. A window over the last `n` results is then the
//! failures whose place is among the last `n`, exactly. A success needs judging only between the first failure and the
//! minimum number of results, for only there can it be the result that makes the rate countable; the machine says when
//! (`watch`), and then successes take the lock too. (A success that races a failure recorded at the same moment may be
//! judged with the next result instead; closing that gap would cost every success a memory fence. Results in sequence are
//! judged one by one, exactly.)
//!
//! **Generations.** Each state change begins a new generation, and every admission carries the one it began in. A result
//! of an earlier generation is dropped: success cells are marked with their generation, so a late success cannot even be
//! counted by accident. A probe is known by a number; one that has not ended after a cooldown is written off and
//! replaced, and its late result has no number to answer to.
//!
//! Invariants: at most `probes` probes are out at any time; a probe dropped without a result gives its place back; a
//! breaker that is half-open and refuses has that many probes out; results of an earlier state never decide a later one.

mod config;
pub(crate) mod decide;
mod guard;

#[cfg(all(test, watertight_loom))]
mod loom_tests;
#[cfg(all(test, not(watertight_loom)))]
mod tests;

use crate::base::clock::Moment;
use crate::base::lane::{CELLS, Lane, update};
use crate::base::rng::roll;
use crate::base::sync::{Apart, AtomicI64, AtomicU64, Mutex, Ordering};
use crate::call::Detail;

pub use config::Config;
pub(crate) use config::Rules;
pub(crate) use decide::State;
use decide::{Decision, Machine, Mark};
pub(crate) use guard::Admission;

/// How an admitted attempt came out, as far as a breaker cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Success,
    Failure,
}

/// What every caller reads: written only when the state changes.
#[derive(Debug)]
struct Gate {
    mark: AtomicU64,
    shut_until: AtomicI64,
}

/// A breaker.
#[derive(Debug)]
pub(crate) struct Breaker {
    name: &'static str,
    gate: Apart<Gate>,
    successes: Box<[Apart<AtomicU64>; CELLS]>,
    machine: Mutex<Machine>,
}

/// How a breaker stands at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) state: State,
    pub(crate) transitions: [u64; 3],
    pub(crate) failures: usize,
    pub(crate) calls: u64,
}

impl Breaker {
    pub(crate) fn new(name: &'static str, rules: Rules) -> Self {
        let machine = Machine::new(rules);
        Self {
            name,
            gate: Apart(Gate {
                mark: AtomicU64::new(machine.mark().to_raw()),
                shut_until: AtomicI64::new(machine.shut_until().to_raw()),
            }),
            successes: Box::new(std::array::from_fn(|_| Apart(AtomicU64::new(0)))),
            machine: Mutex::new(machine),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Lets an attempt through, or says why not. `now` is asked for only when the breaker is not closed.
    #[inline]
    pub(crate) fn admit(&'static self, now: impl FnOnce() -> Moment) -> Result<Admission, Detail> {
        let mark = Mark::from_raw(self.gate.mark.load(Ordering::Acquire));
        if mark.state() == State::Closed {
            return Ok(Admission::of(self, mark.generation(), None));
        }
        self.admit_not_closed(now())
    }

    #[cold]
    fn admit_not_closed(&'static self, now: Moment) -> Result<Admission, Detail> {
        let shut_until = Moment::from_raw(self.gate.shut_until.load(Ordering::Acquire));
        if now < shut_until {
            return Err(self.describe(now, shut_until));
        }
        let decision = self.step(|machine| machine.admit(now));
        match decision {
            Decision::Pass { generation } => Ok(Admission::of(self, generation, None)),
            Decision::Probe { generation, number } => Ok(Admission::of(self, generation, Some(number))),
            Decision::Refuse { until } => Err(self.describe(now, until)),
        }
    }

    fn describe(&self, now: Moment, until: Moment) -> Detail {
        Detail::Open { name: self.name, retry_after: until.since(now), isolated: until == Moment::NEVER }
    }

    /// Whether an attempt begun now would be refused; takes nothing.
    pub(crate) fn refuses(&self, now: Moment) -> bool {
        let mark = Mark::from_raw(self.gate.mark.load(Ordering::Acquire));
        mark.state() != State::Closed && now < Moment::from_raw(self.gate.shut_until.load(Ordering::Acquire))
    }

    /// Changes the machine under the lock and shows the outcome to those who only read.
    fn step<T>(&self, change: impl FnOnce(&mut Machine) -> T) -> T {
        let mut machine = self.machine.lock();
        let outcome = change(&mut machine);
        // The end of the refusal first: who reads the new state must not meet the old state's end.
        self.gate.shut_until.store(machine.shut_until().to_raw(), Ordering::Release);
        self.gate.mark.store(machine.mark().to_raw(), Ordering::Release);
        outcome
    }

    /// The successes counted in a generation, over all threads.
    fn successes(&self, generation: u32) -> u64 {
        self.successes
            .iter()
            .map(|cell| decide::Tagged::from_raw(cell.load(Ordering::Relaxed)).count_in(generation))
            .sum()
    }

    #[inline]
    fn succeeded(&self, generation: u32, probe: Option<u32>, now: impl FnOnce() -> Moment) {
        let mark = Mark::from_raw(self.gate.mark.load(Ordering::Acquire));
        if mark.generation() != generation {
            return;
        }
        let lane = Lane::here();
        if mark.state() == State::Closed {
            update(&self.successes[lane.cell()].0, lane, |raw| {
                decide::Tagged::from_raw(raw).one_more(generation).to_raw()
            });
            if !mark.watches_successes() {
                return;
            }
        }
        self.judge_success(generation, probe, now());
    }

    #[cold]
    fn judge_success(&self, generation: u32, probe: Option<u32>, now: Moment) {
        self.step(|machine| {
            let successes = self.successes(machine.generation());
            machine.success(generation, probe, successes, now, roll());
        });
    }

    fn failed(&self, generation: u32, probe: Option<u32>, now: Moment) {
        self.step(|machine| {
            let successes = self.successes(machine.generation());
            machine.failure(generation, probe, successes, now, roll());
        });
    }

    /// A probe ends without a result.
    #[cold]
    fn give_back(&self, generation: u32, probe: u32) {
        self.step(|machine| machine.give_back(generation, probe));
    }

    /// Holds it open until [`Breaker::reset`].
    pub(crate) fn isolate(&self) {
        self.step(Machine::isolate);
    }

    /// Closes it and forgets every result.
    pub(crate) fn reset(&self) {
        self.step(Machine::reset);
    }

    pub(crate) fn rules(&self) -> Rules {
        self.machine.lock().rules()
    }

    /// Changes the rules; state and results stay, and are judged by the new rules from the next result on.
    pub(crate) fn set_rules(&self, rules: Rules) {
        self.step(|machine| machine.set_rules(rules));
    }

    pub(crate) fn standing(&self) -> Standing {
        let machine = self.machine.lock();
        let successes = self.successes(machine.generation());
        Standing {
            state: machine.state(),
            transitions: machine.transitions(),
            failures: machine.failures_in_window(successes),
            calls: machine.calls_in_window(successes),
        }
    }
}
