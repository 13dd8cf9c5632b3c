//! The figures of a pipeline that settings change while calls are in it.
//!
//! A pipeline is built once and lives as long as the process, so that a call can hold a plain reference to it. What settings
//! may change is therefore not replaced but written over, one number at a time: a length is an atomic in which 0 stands for
//! "none", the strategies that are switched on are bits of one word. A relaxed load is the instruction that a plain field
//! takes too, so nothing is paid for settings that nobody changes; whoever is in the middle of an attempt goes on by the
//! numbers it began with, since those are in the call by then.
//!
//! What only a failing, waiting or hedged attempt reads (the pauses, the waits, the pace) is behind atomics and locks of its
//! own, where the strategy keeps it.
//!
//! **Switched off is passed by.** The part stays where it is: what calls hold of it goes back to it, those who wait in its line
//! are served, its counts go on from where they were when it is switched on again. A call counts the attempts that may follow
//! by what held when it began, because the arguments of the last one are given away; fewer take effect at once, more with the
//! next call.
//!
//! Invariants: a change loses nothing that a call holds; a strategy that the attribute does not have is never switched on,
//! but for a limit in time where there is a place for refusals; every number here is one that the settings' reader let through.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::{Pipeline, Retries};
use crate::base::clock::Moment;
use crate::declaration::{Declaration, Observe};
use crate::settings::{self, Force, Merged, Subject};
use crate::strategies::breaker::Breaker;
use crate::strategies::{deadline, retry, timeout};

/// A length of time, or none.
pub(crate) struct Length(AtomicU64);

impl Length {
    pub(crate) fn new(nanos: Option<u64>) -> Self {
        Self(AtomicU64::new(nanos.unwrap_or(0)))
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<u64> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            nanos => Some(nanos),
        }
    }

    pub(crate) fn set(&self, nanos: Option<u64>) {
        self.0.store(nanos.unwrap_or(0), Ordering::Relaxed);
    }
}

/// Which of a site's strategies are asked.
pub(crate) struct Switches(AtomicU32);

impl Switches {
    pub(crate) const BREAKER: u32 = 1;
    pub(crate) const RATE: u32 = 2;
    pub(crate) const BULKHEAD: u32 = 4;
    pub(crate) const RETRY: u32 = 8;
    pub(crate) const HEDGE: u32 = 16;
    pub(crate) const FALLBACK: u32 = 32;
    /// Whether a deadline around the call is heeded before its body starts.
    pub(crate) const DEADLINES: u32 = 64;
    pub(crate) const TIMEOUT: u32 = 128;

    pub(crate) fn new(on: u32) -> Self {
        Self(AtomicU32::new(on))
    }

    #[inline]
    pub(crate) fn is_on(&self, strategy: u32) -> bool {
        self.0.load(Ordering::Relaxed) & strategy != 0
    }

    pub(crate) fn set(&self, on: u32) {
        self.0.store(on, Ordering::Relaxed);
    }

    /// What is enforced of a declaration.
    fn enforced(it: &Declaration) -> u32 {
        let observe = it.observe;
        bits(&[
            (Self::BREAKER, it.breaker.is_some() && !observe.breaker),
            (Self::RATE, it.rate.is_some() && !observe.rate),
            // Threads are no strategy that could be passed by: the body has to run on one.
            (Self::BULKHEAD, it.isolate.is_some() || it.bulkhead.is_some() && !observe.bulkhead),
            (Self::RETRY, it.retry.is_some() && !observe.retry),
            (Self::HEDGE, it.hedge.is_some()),
            (Self::FALLBACK, it.fallback.is_some()),
            (Self::DEADLINES, !observe.deadline),
        ])
    }

    /// What is only observed of it.
    pub(super) fn observed(it: &Declaration) -> u32 {
        let observe = it.observe;
        bits(&[
            (Self::BREAKER, it.breaker.is_some() && observe.breaker),
            (Self::RATE, it.rate.is_some() && observe.rate),
            (Self::BULKHEAD, it.bulkhead.is_some() && observe.bulkhead),
            (Self::RETRY, it.retry.is_some() && observe.retry),
            (Self::DEADLINES, observe.deadline),
            (Self::TIMEOUT, it.timeout.is_some() && observe.timeout),
        ])
    }
}

fn bits(all: &[(u32, bool)]) -> u32 {
    all.iter().filter(|(_, on)| *on).map(|(bit, _)| bit).sum()
}

/// The numbers that every call reads.
pub(crate) struct Live {
    pub(crate) switches: Switches,
    pub(crate) deadline: Length,
    pub(crate) timeout: Length,
    most_retries: AtomicU32,
}

impl Live {
    pub(super) fn new() -> Self {
        Self {
            switches: Switches::new(0),
            deadline: Length::new(None),
            timeout: Length::new(None),
            most_retries: AtomicU32::new(0),
        }
    }

    /// How many attempts may follow the first.
    #[inline]
    pub(crate) fn most_retries(&self) -> u32 {
        self.most_retries.load(Ordering::Relaxed)
    }
}

impl Pipeline {
    /// Makes what is in force that of `to`, which is this site's declaration as settings have changed it.
    pub(super) fn adopt(&self, to: &Declaration) {
        let observe = to.observe;
        let live = &self.live;
        live.timeout.set(to.timeout.filter(|_| !observe.timeout).map(timeout::Config::nanos));
        live.deadline.set(to.deadline.filter(|_| !observe.deadline).map(deadline::Config::nanos));
        let retry = to.retry.filter(|_| !observe.retry && self.retry.is_some());
        live.most_retries.store(retry.map_or(0, |retry| retry.max), Ordering::Relaxed);
        if let (Some(retries), Some(retry)) = (&self.retry, to.retry) {
            retries.adopt(retry);
        }
        if let (Some(pace), Some(hedge)) = (&self.hedge, to.hedge) {
            pace.adopt(hedge);
        }
        if let Some(compartment) = &self.bulkhead {
            let own = to.isolate.map_or_else(|| to.bulkhead.and_then(|it| it.wait), |it| it.wait);
            compartment.wait.store(to.longest_wait(own), Ordering::Relaxed);
        }
        if let (Some(throttle), Some(rate)) = (&self.rate, to.rate) {
            throttle.wait.store(rate.wait, Ordering::Relaxed);
            if let (None, Some(figures)) = (rate.name, rate.figures)
                && throttle.rate.limit() != figures
            {
                throttle.rate.set_figures(figures);
            }
        }
        if to.observe != Observe::NONE || self.observer.get().is_some() {
            self.observer.get_or_init(|| super::observer::Observer::new(self.declared)).adopt(to);
        }
        // Last: what is switched on finds its figures.
        live.switches.set(Switches::enforced(to) & self.can_do);
    }

    /// The same for a breaker that is this site's alone.
    fn adopt_breaker(&self, breaker: &'static Breaker, to: &Declaration, merged: &Merged) {
        if self.declared.breaker.is_none_or(|config| config.name.is_some()) {
            return;
        }
        let now = Moment::now();
        if let Some(rules) = to.breaker.and_then(|config| config.rules)
            && breaker.rules() != rules
        {
            breaker.set_rules(rules, now);
        }
        breaker.hold_open(merged.own_force(&self.declared.identity) == Some(Force::Open), now);
    }
}

impl Subject for Pipeline {
    fn settle(&self, merged: &Merged) {
        let to = settings::effective(merged, self.declared);
        self.adopt(&to);
        if let Some(breaker) = self.breaker {
            self.adopt_breaker(breaker, &to, merged);
        }
    }
}

impl Retries {
    fn adopt(&self, to: retry::Config) {
        *self.config.lock() = to;
        // A budget with a name is the name's.
        if let (None, Some(budget), Some(allowance)) = (to.budget_name, self.budget, to.budget) {
            budget.allow(allowance);
        }
    }
}
