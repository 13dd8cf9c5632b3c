//! Names whose limit is that of all processes together.
//!
//! One declaration that says `/fleet` is enough: of two that disagree the stricter holds, and a limit over all processes is
//! stricter than the same number for each. What is in force in this process is an equal part until somebody gives it another
//! share.
//!
//! Slots that are found by measuring are never shared, whatever somebody else declares of the name.
//!
//! Invariant: a name that has become a fleet's stays one.

use super::declarations;
use crate::base::share::Share;
use crate::replicas;
use crate::strategies::bulkhead::{self, Bulkhead};
use crate::strategies::rate::{self, Rate};

fn equal_part() -> Share {
    Share::Part(replicas::known())
}

/// From here on it has a share, if anybody says that it is a fleet's.
pub(super) fn share_bulkhead(live: &'static Bulkhead, config: &bulkhead::Config) {
    if live.share() != Share::Whole || live.is_adaptive() {
        return;
    }
    let named = || declarations().filter_map(|it| it.bulkhead).filter(|it| it.name == config.name);
    if config.fleet || named().any(|it| it.fleet) {
        live.set_share(equal_part());
    }
}

/// The same for a rate.
pub(super) fn share_rate(live: &'static Rate, config: &rate::Config) {
    if live.share() != Share::Whole {
        return;
    }
    let named = || declarations().filter_map(|it| it.rate).filter(|it| it.name.is_some() && it.name == config.name);
    if config.fleet || named().any(|it| it.fleet) {
        live.begin_sharing(equal_part());
    }
}

/// The bulkheads of this process that are a fleet's.
#[cfg(feature = "redis")]
pub(crate) fn shared_bulkheads() -> Vec<&'static Bulkhead> {
    super::bulkheads().into_iter().filter(|it| it.share() != Share::Whole).collect()
}

/// The rates of this process that are a fleet's, each with a name that no other has: a function's own is known by the
/// function's module, too.
#[cfg(feature = "redis")]
pub(crate) fn shared_rates() -> Vec<(String, &'static Rate)> {
    // Makes those that no call has reached yet.
    super::rates();
    let registry = super::registry();
    let named = registry.rates.values().map(|kept| (kept.live.name().to_owned(), kept.live));
    let own = registry.own_rates.iter().map(|((_, module, ..), rate)| (format!("{module}::{}", rate.name()), *rate));
    named.chain(own).filter(|(_, rate)| rate.share() != Share::Whole).collect()
}
