//! From what was declared to what is live. Runs once per site, at its first call; names are resolved here and never
//! again.

use super::floor::Floor;
use super::{Compartment, Pipeline, Retries};
use crate::catalogue::Entry;
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
            bulkhead: declared.bulkhead.map(|config| {
                let bulkhead = registry::bulkhead(&config);
                let wait = config.wait.or(timeout).unwrap_or(DEFAULT_WAIT);
                Compartment { bulkhead, wait, learns: bulkhead.is_adaptive() }
            }),
            timeout,
            heeds_deadline: declared.can_refuse() || declared.fallback || declared.by_hand,
            floor: Floor::new(),
        }
    }
}
