//! The parts of a site that only observe, made when they are first wanted.
//!
//! Most sites observe nothing and have no observer. One whose attribute says `mode = observe` gets it when its pipeline is built; one
//! that is told so by settings gets it then, with the parts that observe and no others, since each is a twin that is shown in
//! the figures. Told to act again, it keeps the parts, and no call asks them.
//!
//! Invariants: a part that was made once is that part for ever, so what a call holds of it can go back; what is switched on has
//! been made.

use std::sync::OnceLock;

use super::build::compartment_of;
use super::compartment::Compartment;
use super::live::{Length, Switches};
use super::{Pipeline, Retries, Throttle};
use crate::declaration::Declaration;
use crate::registry;
use crate::strategies::breaker::Breaker;
use crate::strategies::bulkhead::Bulkhead;
use crate::strategies::{deadline, timeout};

/// A site's strategies that only observe. A new one gets a field here, and a step in `Call::observe_start`.
///
/// Which they are is a set that settings may change, so each part is made when it is first wanted, and stays.
pub(super) struct Observer {
    declared: &'static Declaration,
    on: Switches,
    pub(super) own_deadline: Length,
    timeout: Length,
    pub(super) breaker: OnceLock<&'static Breaker>,
    pub(super) rate: OnceLock<Throttle>,
    pub(super) bulkhead: OnceLock<Twin>,
    pub(super) retry: OnceLock<Retries>,
}

/// The compartment of those who observe a name, and that of those who enforce it, if anybody does.
pub(super) struct Twin {
    pub(super) compartment: Compartment,
    pub(super) beside: Option<&'static Bulkhead>,
}

impl Observer {
    pub(super) fn new(declared: &'static Declaration) -> Self {
        Self {
            declared,
            on: Switches::new(0),
            own_deadline: Length::new(None),
            timeout: Length::new(None),
            breaker: OnceLock::new(),
            rate: OnceLock::new(),
            bulkhead: OnceLock::new(),
            retry: OnceLock::new(),
        }
    }

    /// Observes what `to` says, which is this site's declaration as settings have changed it.
    pub(super) fn adopt(&self, to: &Declaration) {
        let on = Switches::observed(to);
        let is_on = |strategy| on & strategy != 0;
        let declared = self.declared;
        if let (Some(config), true) = (declared.breaker, is_on(Switches::BREAKER)) {
            self.breaker.get_or_init(|| registry::breaker(declared, &config, true));
        }
        if let (Some(config), true) = (declared.rate, is_on(Switches::RATE)) {
            self.rate.get_or_init(|| Throttle::build(declared, &config, true));
        }
        if let (Some(config), true) = (declared.bulkhead, is_on(Switches::BULKHEAD)) {
            self.bulkhead.get_or_init(|| Twin {
                compartment: compartment_of(declared, &config, true),
                beside: registry::enforced(config.name),
            });
        }
        if let (Some(config), true) = (to.retry, is_on(Switches::RETRY)) {
            *self.retry.get_or_init(|| Retries::build(config, true)).config.lock() = config;
        }
        self.own_deadline.set(to.deadline.map(deadline::Config::nanos));
        self.timeout.set(to.timeout.map(timeout::Config::nanos));
        self.on.set(on);
    }

    /// Whether it observes anything now.
    pub(super) fn is_on(&self) -> bool {
        self.on.is_on(u32::MAX)
    }

    /// Whether it observes deadlines: the one around, and its own.
    pub(super) fn deadlines(&self) -> bool {
        self.on.is_on(Switches::DEADLINES)
    }

    pub(super) fn timeout(&self) -> Option<u64> {
        self.timeout.get().filter(|_| self.on.is_on(Switches::TIMEOUT))
    }

    pub(super) fn breaker(&self) -> Option<&'static Breaker> {
        self.breaker.get().copied().filter(|_| self.on.is_on(Switches::BREAKER))
    }

    pub(super) fn rate(&self) -> Option<&Throttle> {
        self.rate.get().filter(|_| self.on.is_on(Switches::RATE))
    }

    pub(super) fn bulkhead(&self) -> Option<&Twin> {
        self.bulkhead.get().filter(|_| self.on.is_on(Switches::BULKHEAD))
    }

    pub(super) fn retry(&self) -> Option<&Retries> {
        self.retry.get().filter(|_| self.on.is_on(Switches::RETRY))
    }
}

impl Pipeline {
    /// What only observes, if anything does.
    #[inline]
    pub(super) fn observer(&self) -> Option<&Observer> {
        self.observer.get().filter(|observer| observer.is_on())
    }
}
