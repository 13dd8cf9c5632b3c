//! What is in force behind a name: what was declared, or what settings say instead, and of that this process's share.
//!
//! ```text
//!   declarations, the strictest ──▶ settings, figure by figure ──▶ share of a fleet ──▶ the live instance
//! ```
//!
//! The first is kept beside the instance, so that the second can be taken back; the third is the instance's own, beside the
//! limit it is a share of (`shared`).
//!
//! Invariants: an instance is changed in place and never replaced; what does not differ is not touched, so that settling is
//! free of effects when nothing has changed.

use super::{Threads, registry};
use crate::base::clock::Moment;
use crate::settings::{self, Merged, Subject};
use crate::strategies::breaker::{Breaker, Rules};
use crate::strategies::bulkhead::{Bulkhead, Limits};
use crate::strategies::rate::{Figures, Rate};
use crate::strategies::retry::{Allowance, Budget};

/// A live instance, and what was declared of it.
pub(super) struct Kept<T: 'static, F> {
    pub(super) live: &'static T,
    declared: F,
}

impl<T, F: Copy> Clone for Kept<T, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, F: Copy> Copy for Kept<T, F> {}

impl<T, F: Copy> Kept<T, F> {
    pub(super) fn new(live: &'static T, declared: F) -> Self {
        Self { live, declared }
    }

    /// Takes in one more declaration; the first replaces stand-in figures.
    pub(super) fn hear(&mut self, declared: Option<F>, is_first: bool, stricter: fn(F, F) -> F) {
        match declared {
            Some(declared) if is_first => self.declared = declared,
            Some(declared) => self.declared = stricter(self.declared, declared),
            None => {}
        }
    }
}

pub(super) fn settle_bulkhead(name: &str, kept: &Kept<Bulkhead, Limits>, merged: &Merged) {
    let now = kept.live.limits();
    let mut wanted = settings::limits(merged, name, kept.declared);
    if kept.live.is_adaptive() {
        // How many slots it has is what it has learned.
        wanted.slots = now.slots;
    }
    if wanted != now {
        kept.live.resize(wanted);
    }
}

pub(super) fn settle_isolate(name: &str, kept: &Kept<Threads, Limits>, merged: &Merged) {
    let wanted = settings::threads(merged, name, kept.declared);
    if wanted != kept.live.door.limits() {
        kept.live.door.resize(wanted);
    }
}

pub(super) fn settle_breaker(name: &str, kept: &Kept<Breaker, Rules>, merged: &Merged) {
    let wanted = settings::rules(merged, name, kept.declared);
    let now = Moment::now();
    if wanted != kept.live.rules() {
        kept.live.set_rules(wanted, now);
    }
    kept.live.hold_open(merged.force(name) == Some(settings::Force::Open), now);
}

pub(super) fn settle_rate(name: &str, kept: &Kept<Rate, Figures>, merged: &Merged) {
    let wanted = settings::figures(merged, name, kept.declared);
    if wanted != kept.live.limit() {
        kept.live.set_figures(wanted);
    }
}

pub(super) fn settle_budget(name: &str, kept: &Kept<Budget, Allowance>, merged: &Merged) {
    kept.live.allow(settings::allowance(merged, name, kept.declared));
}

/// Everything that has a name, as the settings see it.
pub(super) struct Names;

/// It.
pub(super) static NAMES: Names = Names;

impl Subject for Names {
    fn settle(&self, merged: &Merged) {
        // Copied out, so that nothing of theirs runs under the registry's lock.
        let all = {
            let it = registry();
            let bulkheads: Vec<_> = it.bulkheads.iter().map(|(key, kept)| (key.0, *kept)).collect();
            let isolates: Vec<_> = it.isolates.iter().map(|(name, kept)| (*name, *kept)).collect();
            let breakers: Vec<_> = it.breakers.iter().map(|(key, kept)| (key.0, *kept)).collect();
            let rates: Vec<_> = it.rates.iter().map(|(key, kept)| (key.0, *kept)).collect();
            let budgets: Vec<_> = it.budgets.iter().map(|(key, kept)| (key.0, *kept)).collect();
            (bulkheads, isolates, breakers, rates, budgets)
        };
        all.0.iter().for_each(|(name, kept)| settle_bulkhead(name, kept, merged));
        all.1.iter().for_each(|(name, kept)| settle_isolate(name, kept, merged));
        all.2.iter().for_each(|(name, kept)| settle_breaker(name, kept, merged));
        all.3.iter().for_each(|(name, kept)| settle_rate(name, kept, merged));
        all.4.iter().for_each(|(name, kept)| settle_budget(name, kept, merged));
    }
}
