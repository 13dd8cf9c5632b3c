//! From what was declared to what is live. Runs once per site, at its first call; names are resolved here and never
//! again.

use super::floor::Floor;
use super::{Compartment, Pipeline, Retries, Throttle};
use crate::catalogue::Entry;
use crate::declaration::{Declaration, Form};
use crate::registry;
use crate::strategies::breaker::Causes;
use crate::strategies::bulkhead::DEFAULT_WAIT;
use crate::strategies::{deadline, timeout};

impl Pipeline {
    pub(crate) fn build(entry: Entry) -> Self {
        let declared = entry.declaration;
        let timeout = declared.timeout.map(timeout::Config::nanos);
        Self {
            identity: &declared.identity,
            tally: entry.tally,
            deadline: declared.deadline.map(deadline::Config::nanos),
            retry: declared.retry.map(|config| Retries { config, budget: registry::budget(&config) }),
            breaker: declared.breaker.map(|config| registry::breaker(declared, &config)),
            faults: declared.breaker.map_or(Causes::DEFAULT, |config| config.on),
            rate: declared.rate.map(|config| Throttle { rate: registry::rate(declared, &config), wait: config.wait }),
            bulkhead: compartment(declared, timeout),
            timeout,
            heeds_deadline: declared.can_refuse() || declared.fallback || declared.form == Form::ByHand,
            plain: declared.form == Form::Plain,
            floor: Floor::new(),
        }
    }
}

/// What a site takes its slots from. The attribute does not allow both.
fn compartment(declared: &Declaration, timeout: Option<u64>) -> Option<Compartment> {
    let wait = |wait: Option<u64>| wait.or(timeout).unwrap_or(DEFAULT_WAIT);
    if let Some(config) = declared.isolate {
        let threads = registry::isolate(&config);
        let (bulkhead, workers) = (threads.door, Some(threads.workers));
        return Some(Compartment { bulkhead, wait: wait(config.wait), learns: false, workers });
    }
    let config = declared.bulkhead?;
    let bulkhead = registry::bulkhead(&config);
    Some(Compartment { bulkhead, wait: wait(config.wait), learns: bulkhead.is_adaptive(), workers: None })
}
