//! A declaration as the list that an attribute is.
//!
//! Generated code hands over what was written, figure by figure, and this is where it becomes a [`Declaration`]. It could
//! as well call a method per strategy, and once did. But whatever stands in the initialiser of a static is type-checked,
//! borrow-checked and looked over for hidden mutability once per annotated function, and a call is the dearest thing to stand
//! there. An array of enum values is none; the calls are in here, where they are compiled once. (Counted in
//! `docs/compile-cost.md`.)
//!
//! A strategy whose figures are all left out, or that has one or two, is stated by them; what is richer comes as its
//! strategy's own `Config`.
//!
//! Invariant: the order of the list changes nothing, and of two settings of one strategy the later holds (the attribute
//! refuses to have two).

use super::{Declaration, Form, Observe};
use crate::strategies::{breaker, bulkhead, deadline, fallback, hedge, isolate, rate, retry, tail, timeout};

/// One thing that an attribute says.
#[derive(Clone, Copy, Debug)]
pub enum Setting {
    /// The longest an attempt may run, in nanoseconds.
    Timeout(u64),
    /// The longest the call may take, in nanoseconds.
    Deadline(u64),
    /// A bulkhead: its name, how many run and how many wait.
    Slots(&'static str, u32, u32),
    /// A bulkhead of which more is said.
    Bulkhead(bulkhead::Config),
    /// Threads of its own.
    Isolate(isolate::Config),
    /// How often bodies start.
    Rate(rate::Config),
    /// A breaker.
    Breaker(breaker::Config),
    /// So many more attempts.
    Retries(u32),
    /// More attempts, of which more is said.
    Retry(retry::Config),
    /// A second attempt beside a slow one.
    Hedge(hedge::Config),
    /// A fallback that answers for everything.
    FallsBack,
    /// A fallback of which more is said.
    Fallback(fallback::Config),
    /// Attempts that are left running at their limit.
    Tail(tail::Config),
    /// Running it twice does no more than running it once.
    Idempotent,
    /// It is no async function.
    Plain,
    /// What only observes.
    Observing(Observe),
}

impl Declaration {
    /// What an attribute says of one function.
    pub(crate) const fn of<const N: usize>(
        (name, module): (&'static str, &'static str),
        (file, line): (&'static str, u32),
        settings: [Setting; N],
    ) -> Self {
        let mut declared = Self::new(name, module, file, line);
        let mut at = 0;
        // `for` is not to be had in a constant.
        while at < N {
            declared.note(settings[at]);
            at += 1;
        }
        declared
    }

    // In place: the methods that return a changed copy are interpreted field by field, at every annotated function.
    const fn note(&mut self, setting: Setting) {
        match setting {
            Setting::Timeout(nanos) => self.timeout = Some(timeout::Config::new(nanos)),
            Setting::Deadline(nanos) => self.deadline = Some(deadline::Config::new(nanos)),
            Setting::Slots(name, slots, queue) => {
                self.bulkhead = Some(bulkhead::Config::new(name, slots).queue(queue));
            }
            Setting::Bulkhead(config) => self.bulkhead = Some(config),
            Setting::Isolate(config) => self.isolate = Some(config),
            Setting::Rate(config) => self.rate = Some(config),
            Setting::Breaker(config) => self.breaker = Some(config),
            Setting::Retries(times) => self.retry = Some(retry::Config::new(times)),
            Setting::Retry(config) => self.retry = Some(config),
            Setting::Hedge(config) => self.hedge = Some(config),
            Setting::FallsBack => self.fallback = Some(fallback::Config::new()),
            Setting::Fallback(config) => self.fallback = Some(config),
            Setting::Tail(config) => self.tail = Some(config),
            Setting::Idempotent => self.idempotent = true,
            Setting::Plain => self.form = Form::Plain,
            Setting::Observing(observe) => self.observe = observe,
        }
    }
}
