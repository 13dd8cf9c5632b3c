//! From what was declared to what is live. Runs once per site, at its first call; names are resolved here and never
//! again.

use super::compartment::Compartment;
use super::floor::Floor;
use super::observe::{Observer, Twin};
use super::terms::Answerer;
use super::{Pipeline, Retries, Throttle};
use crate::catalogue::Entry;
use crate::declaration::{Declaration, Form, Observe};
use crate::registry;
use crate::strategies::breaker::Causes;
use crate::strategies::tail::Tail;
use crate::strategies::{bulkhead, deadline, hedge, rate, retry, timeout};

impl Pipeline {
    pub(crate) fn build(entry: Entry) -> Self {
        let declared = entry.declaration;
        let observe = declared.observe;
        let retry = declared.retry.filter(|_| !observe.retry).map(|config| Retries::build(config, false));
        let timeout = declared.timeout.filter(|_| !observe.timeout).map(timeout::Config::nanos);
        Self {
            identity: &declared.identity,
            tally: entry.tally,
            deadline: declared.deadline.filter(|_| !observe.deadline).map(deadline::Config::nanos),
            budget: budget(declared, retry.as_ref()),
            retry,
            hedge: declared.hedge.map(|config| Box::new(hedge::Pace::new(config))),
            breaker: declared.breaker.filter(|_| !observe.breaker).map(|config| registry::breaker(declared, &config)),
            faults: declared.breaker.map_or(Causes::DEFAULT, |config| config.on),
            rate: declared.rate.filter(|_| !observe.rate).map(|config| Throttle::build(declared, &config)),
            bulkhead: compartment(declared),
            timeout,
            tail: declared.tail.zip(timeout).map(|(config, timeout)| Box::new(Tail::new(config, timeout))),
            can_say_so: declared.can_be_told(),
            heeds_deadline: declared.can_be_told() && !observe.deadline,
            plain: declared.form == Form::Plain,
            fallback: declared.fallback.and_then(|config| Answerer::of(config, declared.form == Form::ByHand)),
            floor: Floor::new(),
            observer: (observe != Observe::NONE).then(|| Observer::build(declared)),
        }
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

impl Observer {
    fn build(declared: &'static Declaration) -> Self {
        let observe = declared.observe;
        Self {
            deadlines: observe.deadline,
            own_deadline: declared.deadline.map(deadline::Config::nanos),
            breaker: declared.breaker.filter(|_| observe.breaker).map(|config| registry::breaker(declared, &config)),
            rate: declared.rate.filter(|_| observe.rate).map(|config| Throttle::build(declared, &config)),
            bulkhead: declared.bulkhead.filter(|_| observe.bulkhead).map(|config| Twin {
                compartment: compartment_of(declared, &config, true),
                beside: registry::enforced(config.name),
            }),
            timeout: declared.timeout.filter(|_| observe.timeout).map(timeout::Config::nanos),
            retry: declared.retry.filter(|_| observe.retry).map(|config| Retries::build(config, true)),
        }
    }
}

fn compartment_of(declared: &Declaration, config: &bulkhead::Config, observing: bool) -> Compartment {
    let bulkhead = registry::bulkhead(config, observing);
    let keyed = config.keyed.then(|| bulkhead.by_key(registry::total(config, observing)));
    Compartment::of(bulkhead, declared.longest_wait(config.wait), keyed)
}

impl Throttle {
    fn build(declared: &'static Declaration, config: &rate::Config) -> Self {
        Self { rate: registry::rate(declared, config), wait: config.wait, keyed: config.keyed }
    }
}

impl Retries {
    fn build(config: retry::Config, observing: bool) -> Self {
        Self { config, budget: registry::budget(&config, observing) }
    }
}
