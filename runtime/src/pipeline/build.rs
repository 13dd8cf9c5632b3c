//! From what was declared to what is live. Runs once per site, at its first call; names are resolved here and never
//! again.

use super::compartment::Compartment;
use super::floor::Floor;
use super::terms::Answerer;
use super::{Live, Pipeline, Retries, Switches, Throttle};
use crate::base::sync::Mutex;
use crate::catalogue::Entry;
use crate::declaration::{Declaration, Form};
use crate::registry;
use crate::settings::{self, Subject};
use crate::strategies::breaker::Causes;
use crate::strategies::tail::Tail;
use crate::strategies::{bulkhead, hedge, rate, retry};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

impl Pipeline {
    pub(crate) fn build(entry: Entry) -> Self {
        let declared = entry.declaration;
        let observe = declared.observe;
        let retry = declared.retry.filter(|_| !observe.retry).map(|config| Retries::build(config, false));
        let built = Self {
            declared,
            identity: &declared.identity,
            tally: entry.tally,
            live: Live::new(),
            can_do: can_do(declared),
            budget: budget(declared, retry.as_ref()),
            retry,
            hedge: declared.hedge.map(|config| Box::new(hedge::Pace::new(config))),
            breaker: declared
                .breaker
                .filter(|_| !observe.breaker)
                .map(|config| registry::breaker(declared, &config, false)),
            faults: declared.breaker.map_or(Causes::DEFAULT, |config| config.on),
            rate: declared.rate.filter(|_| !observe.rate).map(|config| Throttle::build(declared, &config, false)),
            bulkhead: compartment(declared),
            tail: declared.tail.map(|config| Box::new(Tail::new(config))),
            can_say_so: declared.can_be_told(),
            plain: declared.form == Form::Plain,
            fallback: declared.fallback.and_then(|config| Answerer::of(config, declared.form == Form::ByHand)),
            floor: Floor::new(),
            is_enrolled: AtomicBool::new(false),
            observer: OnceLock::new(),
        };
        built.settle(&settings::current());
        built
    }

    /// The same once it has its place among those that settings reach.
    pub(crate) fn enrolled(&'static self) -> &'static Self {
        if !self.is_enrolled.swap(true, Ordering::Relaxed) {
            settings::enrol(self);
        }
        self
    }
}

/// What retries and hedges are paid from. A site that hedges and never retries has the budget that it would have if it did.
fn budget(declared: &Declaration, retry: Option<&Retries>) -> Option<&'static retry::Budget> {
    match retry {
        Some(retry) => retry.budget,
        None => declared.hedge.and_then(|_| registry::budget(&retry::Config::new(0), false)),
    }
}

/// What a site takes its slots from. The attribute does not allow both.
fn compartment(declared: &Declaration) -> Option<Compartment> {
    if let Some(config) = declared.isolate {
        let threads = registry::isolate(&config);
        return Some(Compartment::of_threads(threads.door, declared.longest_wait(config.wait), threads.workers));
    }
    let config = declared.bulkhead.filter(|_| !declared.observe.bulkhead)?;
    Some(compartment_of(declared, &config, false))
}

/// What could be switched on. Retry needs the loop that the attribute writes for it, and a refusal a place to go.
fn can_do(declared: &Declaration) -> u32 {
    if declared.can_be_told() { u32::MAX } else { !Switches::DEADLINES }
}

pub(super) fn compartment_of(declared: &Declaration, config: &bulkhead::Config, observing: bool) -> Compartment {
    let bulkhead = registry::bulkhead(config, observing);
    let keyed = config.keyed.then(|| bulkhead.by_key(registry::total(config, observing)));
    Compartment::of(bulkhead, declared.longest_wait(config.wait), keyed)
}

impl Throttle {
    pub(super) fn build(declared: &'static Declaration, config: &rate::Config, observing: bool) -> Self {
        Self { rate: registry::rate(declared, config, observing), wait: config.wait.into(), keyed: config.keyed }
    }
}

impl Retries {
    pub(super) fn build(config: retry::Config, observing: bool) -> Self {
        Self { config: Mutex::new(config), budget: registry::budget(&config, observing) }
    }
}
