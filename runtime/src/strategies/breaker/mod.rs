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
//! is the last so many results, or those of the last so many seconds, judged after every result that can open it, with a
//! minimum below which it does not judge at all. A window of results suits steady traffic; where calls come in bursts its
//! last hundred may be an hour old, and a window of time forgets them. (Sized badly: a short window or a low minimum opens
//! at every blip; a long window notices minutes late; a cooldown below the dependency's start-up time probes it to death.)
//!
//! **Slow is a failure in the making.** A dependency that drowns still answers, late; by the time its answers become
//! timeouts, every caller has been held up for as long as they last. So there is a second share: attempts that took at
//! least so long, whatever they answered, timed out ones included. A probe that slow has failed.
//!
//! Once open it refuses everyone; after the cooldown it lets exactly the set number of probes through at once and refuses the
//! rest, so that a recovering dependency meets one caller and not all of them. Cooldowns are shortened at random by up to
//! a tenth, so that a thousand processes do not return in one instant.
//!
//! **Nothing shared is written while all is well.** A window that every success wrote to would cost every call of every
//! thread a travelling cache line. Quick successes go to cells of the calling thread's own (by time, one cell for each tenth
//! of the window); only a fault, a failure or a slow answer, takes the lock and sums the cells. Adding a success to a window
//! can never raise a share in it, with two exceptions. Between the first fault and the minimum number of results it may be
//! the one that makes the share countable; the machine says when (`watch`), and then successes take the lock too. And by time,
//! older successes leave on their own, so while there are faults in the window the first success of each tenth is judged
//! (`look_at`). (A success that races a failure recorded at the same moment may be judged with the next result instead;
//! closing that gap would cost every success a memory fence. Results in sequence are judged one by one, exactly.)
//!
//! **Generations.** Each state change begins a new generation, and every admission carries the one it began in. A result
//! of an earlier generation is dropped: success cells are marked with their generation, so a late success cannot even be
//! counted by accident. A probe is known by a number; one that has not ended after a cooldown is written off and
//! replaced, and its late result has no number to answer to.
//!
//! **At the door the clock** is asked for by refusals only, and not by each when they come in a storm ([`look`] argues the cost).
//!
//! Invariants: at most `probes` probes are out at any time; a probe dropped without a result gives its place back; a
//! breaker that is half-open and refuses has that many probes out; results of an earlier state never decide a later one.

mod change;
mod config;
pub(crate) mod decide;
mod guard;
mod listen;
mod look;
mod mark;
mod window;

#[cfg(all(test, not(watertight_loom)))]
mod listen_tests;
#[cfg(all(test, watertight_loom))]
mod loom_tests;
#[cfg(all(test, not(watertight_loom)))]
mod tests;
#[cfg(all(test, not(watertight_loom)))]
mod window_tests;

use crate::base::clock::Moment;
use crate::base::lane::{CELLS, Lane, update};
use crate::base::rng::roll;
use crate::base::sync::{Apart, AtomicI64, AtomicU64, Mutex, Ordering};
use crate::call::Detail;

pub(crate) use change::Seen;
pub use change::{Cause, Change, State};
pub use config::Config;
pub(crate) use config::{Causes, Rules, Slow, Window};
use decide::{Decision, Machine};
pub(crate) use guard::Admission;
pub use listen::{on_any_change, on_change};
use look::Looks;
use mark::{Mark, Tagged, Timed};
use window::{Fault, PLACES};

/// How an admitted attempt came out, as far as a breaker cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Success,
    Failure,
    /// It says nothing about the dependency, unless it was slow.
    Neutral,
}

/// What every caller reads: written only when something is wrong.
#[derive(Debug)]
struct Gate {
    mark: AtomicU64,
    shut_until: AtomicI64,
    look_at: AtomicI64,
    /// From how many nanoseconds on an attempt is slow.
    slow_from: AtomicU64,
    /// The length of a part of a time window.
    part: AtomicU64,
}

impl Gate {
    fn new(machine: &Machine) -> Self {
        let gate = Self {
            mark: AtomicU64::new(0),
            shut_until: AtomicI64::new(0),
            look_at: AtomicI64::new(0),
            slow_from: AtomicU64::new(0),
            part: AtomicU64::new(0),
        };
        gate.show(machine);
        gate
    }

    fn show(&self, machine: &Machine) {
        let rules = machine.rules();
        self.slow_from.store(rules.slow.map_or(u64::MAX, |slow| slow.at_least), Ordering::Relaxed);
        self.part.store(rules.window.part_length(), Ordering::Relaxed);
        self.look_at.store(machine.look_at().to_raw(), Ordering::Relaxed);
        // The end of the refusal first: who reads the new state must not meet the old state's end.
        self.shut_until.store(machine.shut_until().to_raw(), Ordering::Release);
        self.mark.store(machine.mark().to_raw(), Ordering::Release);
    }
}

/// A thread's successes: one cell for each part of a time window, and one for a window of results.
type Ring = [AtomicU64; PLACES + 1];
const BY_NUMBER: usize = PLACES;

/// What a thread writes that no other does.
#[derive(Debug)]
struct Own {
    successes: Ring,
    looks: Looks,
}

/// A breaker.
#[derive(Debug)]
pub(crate) struct Breaker {
    name: &'static str,
    gate: Apart<Gate>,
    own: Box<[Apart<Own>; CELLS]>,
    locked: Mutex<Locked>,
}

/// What is changed under the lock.
#[derive(Debug)]
struct Locked {
    machine: Machine,
    outbox: listen::Outbox,
    /// By settings.
    held_open: bool,
}

/// How a breaker stands at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) state: State,
    pub(crate) transitions: [u64; 3],
    pub(crate) seen: Seen,
    pub(crate) last: Option<Change>,
    /// Nanoseconds.
    pub(crate) not_closed_for: u64,
}

impl Breaker {
    pub(crate) fn new(name: &'static str, rules: Rules) -> Self {
        let machine = Machine::new(rules);
        Self {
            name,
            gate: Apart(Gate::new(&machine)),
            own: Box::new(std::array::from_fn(|_| {
                Apart(Own { successes: std::array::from_fn(|_| AtomicU64::new(0)), looks: Looks::new() })
            })),
            locked: Mutex::new(Locked { machine, outbox: listen::Outbox::default(), held_open: false }),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Lets an attempt through, or says why not. `now` is asked for only when it is not closed, and not each time ([`look`]).
    #[inline]
    pub(crate) fn admit(&'static self, now: impl FnOnce() -> Moment) -> Result<Admission, Detail> {
        let mark = Mark::from_raw(self.gate.mark.load(Ordering::Acquire));
        if mark.state() == State::Closed {
            return Ok(Admission::of(self, mark.generation(), None));
        }
        self.admit_not_closed(mark, now)
    }

    #[cold]
    fn admit_not_closed(&'static self, mark: Mark, now: impl FnOnce() -> Moment) -> Result<Admission, Detail> {
        let shut_until = Moment::from_raw(self.gate.shut_until.load(Ordering::Acquire));
        let (lane, generation) = (Lane::here(), mark.generation());
        let looks = &self.own[lane.cell()].looks;
        // A half-open breaker with room for a probe is shut until long ago, whatever was seen before.
        if let Some(seen) = looks.spare(lane, generation)
            && seen < shut_until
        {
            return Err(self.describe(seen, shut_until));
        }
        let now = now();
        if now < shut_until {
            looks.note(lane, generation, now, shut_until);
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

    /// Changes the machine under the lock, shows the outcome to those who only read, and tells those who listen.
    fn step<T>(&self, change: impl FnOnce(&mut Machine) -> T) -> T {
        let mut locked = self.locked.lock();
        let Locked { machine, outbox, .. } = &mut *locked;
        let outcome = change(machine);
        self.gate.show(machine);
        let must_tell = machine.take_news().is_some_and(|news| outbox.put(news.of(self.name)));
        drop(locked);
        if must_tell {
            self.tell_all();
        }
        outcome
    }

    #[cold]
    fn tell_all(&self) {
        loop {
            // A binding of its own, or the lock would be held while the listeners run.
            let next = self.locked.lock().outbox.take();
            let Some(change) = next else { return };
            listen::tell(&change);
        }
    }

    /// The quick successes counted in a generation, over all threads: all of them, or those of a time window.
    fn successes(&self, machine: &Machine, now: Moment) -> u64 {
        let generation = machine.generation();
        match machine.rules().window {
            Window::Calls(_) => self
                .own
                .iter()
                .map(|own| Tagged::from_raw(own.successes[BY_NUMBER].load(Ordering::Relaxed)).count_in(generation))
                .sum(),
            window @ Window::Time(_) => {
                let parts = window::parts(window::part(now, window.part_length()));
                let in_part = |ring: &Ring, part| {
                    Timed::from_raw(ring[window::place(part)].load(Ordering::Relaxed)).count_in(generation, part)
                };
                self.own.iter().flat_map(|own| parts.clone().map(|part| in_part(&own.successes, part))).sum()
            }
        }
    }

    /// Takes in a result; false when it says nothing.
    #[inline]
    fn settle(&self, sign: Sign, took: u64, generation: u32, probe: Option<u32>, now: impl FnOnce() -> Moment) -> bool {
        let mark = Mark::from_raw(self.gate.mark.load(Ordering::Acquire));
        if sign == Sign::Success && mark.only_counts(generation) {
            self.count(generation);
            return true;
        }
        self.settle_with_care(mark, (sign, took), generation, probe, now)
    }

    #[inline(never)]
    fn settle_with_care(
        &self,
        mark: Mark,
        (sign, took): (Sign, u64),
        generation: u32,
        probe: Option<u32>,
        now: impl FnOnce() -> Moment,
    ) -> bool {
        let slow = mark.measures_successes() && took >= self.gate.slow_from.load(Ordering::Relaxed);
        if sign == Sign::Neutral && !slow {
            return false;
        }
        if sign == Sign::Failure || slow {
            self.faulted(Fault { failed: sign == Sign::Failure, slow }, generation, probe, now());
        } else if mark.generation() == generation {
            self.succeeded(mark, generation, probe, now);
        }
        true
    }

    fn succeeded(&self, mark: Mark, generation: u32, probe: Option<u32>, now: impl FnOnce() -> Moment) {
        if mark.state() != State::Closed {
            return self.judge_success(generation, probe, now());
        }
        let part = self.gate.part.load(Ordering::Relaxed);
        if part > 0 {
            let now = now();
            self.count_in_time(generation, window::part(now, part));
            if mark.watches_successes() || now >= Moment::from_raw(self.gate.look_at.load(Ordering::Relaxed)) {
                self.judge_success(generation, probe, now);
            }
            return;
        }
        self.count(generation);
        if mark.watches_successes() {
            self.judge_success(generation, probe, now());
        }
    }

    #[inline]
    fn count(&self, generation: u32) {
        let lane = Lane::here();
        update(&self.own[lane.cell()].successes[BY_NUMBER], lane, |raw| {
            Tagged::from_raw(raw).one_more(generation).to_raw()
        });
    }

    fn count_in_time(&self, generation: u32, part: i64) {
        let lane = Lane::here();
        update(&self.own[lane.cell()].successes[window::place(part)], lane, |raw| {
            Timed::from_raw(raw).one_more(generation, part).to_raw()
        });
    }

    #[cold]
    fn judge_success(&self, generation: u32, probe: Option<u32>, now: Moment) {
        self.step(|machine| {
            let successes = self.successes(machine, now);
            machine.success(generation, probe, successes, now, roll());
        });
    }

    #[cold]
    fn faulted(&self, fault: Fault, generation: u32, probe: Option<u32>, now: Moment) {
        self.step(|machine| {
            let successes = self.successes(machine, now);
            machine.fault(fault, generation, probe, successes, now, roll());
        });
    }

    /// A probe ends without a result.
    #[cold]
    fn give_back(&self, generation: u32, probe: u32) {
        self.step(|machine| machine.give_back(generation, probe));
    }

    /// Holds it open until [`Breaker::reset`].
    pub(crate) fn isolate(&self, now: Moment) {
        self.step(|machine| machine.isolate(now));
    }

    /// Closes it and forgets every result.
    pub(crate) fn reset(&self, now: Moment) {
        self.step(|machine| machine.reset(now));
    }

    /// Held open by settings, or no longer; told once for each change, so that it can be closed by hand meanwhile.
    pub(crate) fn hold_open(&self, hold: bool, now: Moment) {
        if std::mem::replace(&mut self.locked.lock().held_open, hold) == hold {
            return;
        }
        if hold { self.isolate(now) } else { self.reset(now) }
    }

    pub(crate) fn rules(&self) -> Rules {
        self.locked.lock().machine.rules()
    }

    /// Changes the rules; state and results stay, and are judged by the new rules from the next result on. Only results
    /// that a window of another kind, or of another length of time, has counted are forgotten.
    pub(crate) fn set_rules(&self, rules: Rules, now: Moment) {
        self.step(|machine| machine.set_rules(rules, now));
    }

    pub(crate) fn standing(&self, now: Moment) -> Standing {
        let mut locked = self.locked.lock();
        let machine = &mut locked.machine;
        let successes = self.successes(machine, now);
        Standing {
            state: machine.state(),
            transitions: machine.transitions(),
            seen: machine.seen(successes, now),
            last: machine.last().map(|step| step.of(self.name)),
            not_closed_for: machine.not_closed_for(now),
        }
    }
}
