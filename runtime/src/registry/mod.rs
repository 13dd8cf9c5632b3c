//! The live instances behind names: one bulkhead per name, one breaker per name, one rate per
//! name, one retry budget per name.
//!
//! State belongs to the name, so every site, type and instantiation that names it shares it. A name lives as long as the
//! process; names come from source code and settings, so there are as many as somebody wrote down.
//!
//! **Two declarations of one name** with different figures are a mistake that must not depend on who ran first. The
//! catalogue knows all declarations before the first call, so an instance is made by the strictest of them at once; one
//! that the catalogue had lost, or that a guard adds later, still tightens the live instance when it shows up. A name that
//! was only joined until then has stand-in figures, and the first declaration replaces them. The disagreement itself is
//! reported by [`crate::check`], with all source lines.
//!
//! **Settings come after declarations** ([`named`]). What is declared is kept beside each instance, and what settings say of the name
//! replaces it, figure by figure: an override beats the strictest declaration, and taken away leaves what was declared.
//!
//! **Those who only observe** share an instance of their own, the twin of the one that others enforce: observing must change
//! nothing for anyone, and figures that are tried out by observing must not tighten those in force. The twin of `recs` is
//! shown as `recs@observe`, a name that nobody can declare. Its figures are the strictest of those who observe, and where
//! all of them only join, those of the name.
//!
//! Invariants: a name resolves to the same instance for ever; the figures in force are never looser than any declaration
//! of the name, unless settings say so; resolving happens once per site, never on the path of a call.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{OnceLock, PoisonError};

mod named;
mod shared;

use named::Kept;
#[cfg(feature = "redis")]
pub(crate) use shared::{shared_bulkheads, shared_rates};

use crate::base::clock::Moment;
#[cfg(feature = "testing")]
use crate::call::world::{Copies, World};
use crate::catalogue;
use crate::declaration::Declaration;
use crate::settings;
use crate::strategies::breaker::{self, Breaker, Rules};
use crate::strategies::bulkhead::{self, Bulkhead, Limits};
use crate::strategies::isolate::{self, Workers};
use crate::strategies::rate::{self, Figures, Rate};
use crate::strategies::retry::{self, Allowance, Budget};

#[derive(Default)]
struct Registry {
    bulkheads: BTreeMap<Key, Kept<Bulkhead, Limits>>,
    isolates: BTreeMap<&'static str, Kept<Threads, Limits>>,
    breakers: BTreeMap<Key, Kept<Breaker, Rules>>,
    budgets: BTreeMap<Key, Kept<Budget, Allowance>>,
    rates: BTreeMap<Key, Kept<Rate, Figures>>,
    /// Breakers that belong to one function each; two functions of one name stay apart.
    own: BTreeMap<Owner, &'static Breaker>,
    /// Rates that belong to one function each.
    own_rates: BTreeMap<Owner, &'static Rate>,
    /// Names that were joined before anybody declared them, by strategy.
    stand_ins: BTreeSet<(&'static str, Key)>,
}

impl Registry {
    /// Whether a name gets its first figures now, after stand-ins; `exists` and `declared` as this resolution finds it.
    fn is_first_word(&mut self, strategy: &'static str, key: Key, exists: bool, declared: bool) -> bool {
        if declared {
            return self.stand_ins.remove(&(strategy, key));
        }
        if !exists {
            self.stand_ins.insert((strategy, key));
        }
        false
    }

    /// A number for a bulkhead, never 0 and never given twice.
    fn next_id(&self) -> u32 {
        u32::try_from(self.bulkheads.len() + self.isolates.len()).unwrap_or(u32::MAX - 1) + 1
    }
}

/// A name, and whether those who only observe it are meant.
type Key = (&'static str, bool);

/// A function, by name, module and line; and whether it only observes.
type Owner = (&'static str, &'static str, u32, bool);

/// The registry for somebody who resolves a name: whatever has one settles from then on when settings change.
fn resolving() -> std::sync::MutexGuard<'static, Registry> {
    settings::enrol_names(&named::NAMES);
    registry()
}

fn registry() -> std::sync::MutexGuard<'static, Registry> {
    static REGISTRY: OnceLock<std::sync::Mutex<Registry>> = OnceLock::new();
    let own = REGISTRY.get_or_init(Default::default);
    #[cfg(feature = "testing")]
    let own = World::here().map_or(own, |world| {
        static COPIES: Copies<std::sync::Mutex<Registry>> = Copies::new();
        COPIES.of(world, 0, Default::default)
    });
    own.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name under which the instance of a key is shown.
fn shown((name, observing): Key) -> &'static str {
    if observing { Box::leak(format!("{name}@observe").into_boxed_str()) } else { name }
}

/// What is declared under a key, the strictest of each figure: by those who mean the same instance, else by anyone.
fn declared<T>(
    (name, observing): Key,
    read: impl Fn(&Declaration) -> Option<(&'static str, bool, Option<T>)>,
    stricter: fn(T, T) -> T,
) -> Option<T> {
    let (same, others): (Vec<_>, Vec<_>) = declarations()
        .filter_map(read)
        .filter_map(|(other, observes, figures)| figures.filter(|_| other == name).map(|it| (observes, it)))
        .partition(|(observes, _)| *observes == observing);
    let strictest = |all: Vec<(bool, T)>| all.into_iter().map(|(_, figures)| figures).reduce(stricter);
    strictest(same).or_else(|| strictest(others))
}

/// The bulkhead a declaration names, or its twin for those who only observe.
pub(crate) fn bulkhead(config: &bulkhead::Config, observing: bool) -> &'static Bulkhead {
    let key = (config.name, observing);
    let read = |it: &Declaration| it.bulkhead.map(|config| (config.name, it.observe.bulkhead, config.limits));
    let declared = declared(key, read, Limits::stricter);
    let declared = [declared, config.limits].into_iter().flatten().reduce(Limits::stricter);
    let read = |it: &Declaration| it.bulkhead.map(|config| (config.name, it.observe.bulkhead, config.floor));
    let floor = [self::declared(key, read, u32::min), config.floor].into_iter().flatten().min();
    let mut registry = resolving();
    let exists = registry.bulkheads.contains_key(&key);
    let is_first = registry.is_first_word("bulkhead", key, exists, declared.is_some());
    let id = registry.next_id();
    // Leaked on purpose, here and below: a name lives as long as the process, and guards then need no count of owners.
    let kept = registry.bulkheads.entry(key).or_insert_with(|| {
        let made = match (declared, floor) {
            (None, _) => Bulkhead::stand_in(id, shown(key)),
            // Nothing is learned from calls that are all let in, so a twin has as many slots as there can be.
            (Some(limits), Some(floor)) if !observing => Bulkhead::adaptive(id, shown(key), limits, floor),
            (Some(limits), _) => Bulkhead::new(id, shown(key), limits),
        };
        Kept::new(Box::leak(Box::new(made)), declared.unwrap_or(Limits::UNDECLARED))
    });
    kept.hear(declared, is_first, Limits::stricter);
    let kept = *kept;
    drop(registry);
    if let (Some(limits), Some(floor), true) = (declared, floor, is_first && !observing) {
        kept.live.adapt(floor, limits);
    }
    named::settle_bulkhead(key.0, &kept, &settings::current());
    shared::share_bulkhead(kept.live, config);
    kept.live
}

/// Threads of their own, and the bulkhead in front that counts them.
pub(crate) struct Threads {
    pub(crate) door: &'static Bulkhead,
    pub(crate) workers: &'static Workers,
}

/// The threads a declaration names.
pub(crate) fn isolate(config: &isolate::Config) -> &'static Threads {
    let name = config.name;
    let named = declarations().filter_map(|declared| declared.isolate).filter(|other| other.name == name);
    let declared = named.filter_map(|other| other.limits).chain(config.limits).reduce(isolate::Limits::stricter);
    let in_words = |limits: isolate::Limits| Limits { slots: limits.threads, queue: limits.queue };
    let declared = declared.map(in_words);
    let mut registry = resolving();
    let exists = registry.isolates.contains_key(name);
    let is_first = registry.is_first_word("isolate", (name, false), exists, declared.is_some());
    let id = registry.next_id();
    let kept = registry.isolates.entry(name).or_insert_with(|| {
        let limits = declared.unwrap_or(in_words(isolate::Limits::UNDECLARED));
        let door = Box::leak(Box::new(Bulkhead::new(id, name, limits)));
        let threads = Threads { door, workers: Box::leak(Box::new(Workers::new(name))) };
        Kept::new(Box::leak(Box::new(threads)), limits)
    });
    kept.hear(declared, is_first, Limits::stricter);
    let kept = *kept;
    drop(registry);
    named::settle_isolate(name, &kept, &settings::current());
    kept.live
}

/// How many may run over all keys of a bulkhead together: the smallest number that is declared.
pub(crate) fn total(config: &bulkhead::Config, observing: bool) -> Option<u32> {
    let read = |it: &Declaration| it.bulkhead.map(|config| (config.name, it.observe.bulkhead, config.total));
    [declared((config.name, observing), read, u32::min), config.total].into_iter().flatten().min()
}

/// The bulkhead of a name as others enforce it, if anybody does.
pub(crate) fn enforced(name: &'static str) -> Option<&'static Bulkhead> {
    declarations()
        .filter(|it| !it.observe.bulkhead)
        .find_map(|it| it.bulkhead.filter(|config| config.name == name))
        .map(|config| bulkhead(&config, false))
}

/// The breaker a declaration names, or the function's own, which is known by the function's name; or the twin of either.
pub(crate) fn breaker(site: &'static Declaration, config: &breaker::Config, observing: bool) -> &'static Breaker {
    let Some(name) = config.name else {
        let identity = &site.identity;
        let owner = (identity.name, identity.module, identity.line, observing);
        let rules = config.rules.unwrap_or(Rules::DEFAULT);
        let make = || &*Box::leak(Box::new(Breaker::new(shown((identity.name, observing)), rules)));
        return registry().own.entry(owner).or_insert_with(make);
    };
    let key = (name, observing);
    let read = |it: &Declaration| it.breaker.and_then(|config| Some((config.name?, it.observe.breaker, config.rules)));
    let declared = declared(key, read, Rules::stricter);
    let declared = [declared, config.rules].into_iter().flatten().reduce(Rules::stricter);
    let mut registry = resolving();
    let exists = registry.breakers.contains_key(&key);
    let is_first = registry.is_first_word("breaker", key, exists, declared.is_some());
    let rules = declared.unwrap_or(Rules::DEFAULT);
    let make = || Kept::new(Box::leak(Box::new(Breaker::new(shown(key), rules))), rules);
    let kept = registry.breakers.entry(key).or_insert_with(make);
    kept.hear(declared, is_first, Rules::stricter);
    let kept = *kept;
    drop(registry);
    named::settle_breaker(name, &kept, &settings::current());
    kept.live
}

/// The rate a declaration names, or the one that is its function's own; or the twin of either.
pub(crate) fn rate(site: &'static Declaration, config: &rate::Config, observing: bool) -> &'static Rate {
    let Some(name) = config.name else {
        let identity = &site.identity;
        let figures = config.figures.unwrap_or(Figures::UNDECLARED);
        let mut registry = registry();
        let own = registry.own_rates.entry((identity.name, identity.module, identity.line, observing));
        let own = *own.or_insert_with(|| Box::leak(Box::new(Rate::new(shown((identity.name, observing)), figures))));
        shared::share_rate(own, config);
        return own;
    };
    let key = (name, observing);
    let read = |it: &Declaration| it.rate.and_then(|config| Some((config.name?, it.observe.rate, config.figures)));
    let declared = declared(key, read, Figures::stricter);
    let declared = [declared, config.figures].into_iter().flatten().reduce(Figures::stricter);
    let mut registry = resolving();
    let exists = registry.rates.contains_key(&key);
    let is_first = registry.is_first_word("rate", key, exists, declared.is_some());
    let figures = declared.unwrap_or(Figures::UNDECLARED);
    let make = || Kept::new(Box::leak(Box::new(Rate::new(shown(key), figures))), figures);
    let kept = registry.rates.entry(key).or_insert_with(make);
    kept.hear(declared, is_first, Figures::stricter);
    let kept = *kept;
    drop(registry);
    named::settle_rate(name, &kept, &settings::current());
    shared::share_rate(kept.live, config);
    kept.live
}

/// The retry budget a declaration names, or one of the function's own; `None` where it is off.
pub(crate) fn budget(config: &retry::Config, observing: bool) -> Option<&'static Budget> {
    let Some(name) = config.budget_name else {
        return config.budget.map(|allowance| &*Box::leak(Box::new(Budget::new(allowance))));
    };
    let key = (name, observing);
    let read =
        |it: &Declaration| it.retry.and_then(|config| Some((config.budget_name?, it.observe.retry, config.budget)));
    let declared = declared(key, read, Allowance::stricter);
    let declared = [declared, config.budget].into_iter().flatten().reduce(Allowance::stricter);
    let allowance = declared.unwrap_or(Allowance::DEFAULT);
    let mut registry = resolving();
    let exists = registry.budgets.contains_key(&key);
    let is_first = registry.is_first_word("budget", key, exists, declared.is_some());
    let make = || Kept::new(Box::leak(Box::new(Budget::new(allowance))), allowance);
    let kept = registry.budgets.entry(key).or_insert_with(make);
    kept.hear(declared, is_first, Allowance::stricter);
    let kept = *kept;
    drop(registry);
    named::settle_budget(name, &kept, &settings::current());
    Some(kept.live)
}

fn declarations() -> impl Iterator<Item = &'static Declaration> {
    catalogue::entries().into_iter().map(|entry| entry.declaration)
}

/// Every bulkhead by name, those included that no call has reached yet.
pub(crate) fn bulkheads() -> Vec<&'static Bulkhead> {
    let known: BTreeSet<_> = registry().bulkheads.keys().copied().collect();
    for declared in declarations() {
        if let Some(config) = declared.bulkhead
            && !known.contains(&(config.name, declared.observe.bulkhead))
        {
            bulkhead(&config, declared.observe.bulkhead);
        }
    }
    registry().bulkheads.values().map(|kept| kept.live).collect()
}

/// Every set of threads by name, those included that no call has reached yet.
pub(crate) fn isolates() -> Vec<&'static Threads> {
    let known: BTreeSet<_> = registry().isolates.keys().copied().collect();
    for config in declarations().filter_map(|declared| declared.isolate).filter(|it| !known.contains(it.name)) {
        isolate(&config);
    }
    registry().isolates.values().map(|kept| kept.live).collect()
}

/// Every rate by name, those included that no call has reached yet.
pub(crate) fn rates() -> Vec<&'static Rate> {
    let known: BTreeSet<_> = registry().rates.keys().copied().collect();
    for declared in declarations() {
        if let Some(config) = declared.rate
            && !config.name.is_some_and(|name| known.contains(&(name, declared.observe.rate)))
        {
            rate(declared, &config, declared.observe.rate);
        }
    }
    let registry = registry();
    let mut all: Vec<_> =
        registry.rates.values().map(|kept| kept.live).chain(registry.own_rates.values().copied()).collect();
    all.sort_by_key(|rate| rate.name());
    all
}

/// Every breaker by name, those included that no call has reached yet.
pub(crate) fn breakers() -> Vec<&'static Breaker> {
    // Only what is new: resolving a name reads every declaration, and whoever draws figures asks often.
    let known: BTreeSet<_> = registry().breakers.keys().copied().collect();
    for declared in declarations() {
        if let Some(config) = declared.breaker
            && !config.name.is_some_and(|name| known.contains(&(name, declared.observe.breaker)))
        {
            breaker(declared, &config, declared.observe.breaker);
        }
    }
    let registry = registry();
    let mut all: Vec<_> =
        registry.breakers.values().map(|kept| kept.live).chain(registry.own.values().copied()).collect();
    all.sort_by_key(|breaker| breaker.name());
    all
}

/// Holds every breaker of a name open until [`reset`]; returns how many there are.
///
/// A shared breaker has the name its declarations give it, a function's own breaker the function's name.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use watertight::{breaker, resilient, ErrorKind};
///
/// #[resilient(breaker)]
/// async fn ping() -> Result<(), watertight::Error> {
///     Ok(())
/// }
///
/// assert_eq!(breaker::isolate("ping"), 1);
/// assert_eq!(ping().await.unwrap_err().kind(), ErrorKind::BreakerOpen);
/// breaker::reset("ping");
/// ping().await.unwrap();
/// # }
/// ```
pub fn isolate_breaker(name: &str) -> usize {
    each_breaker(name, |breaker| breaker.isolate(Moment::now()))
}

/// Closes every breaker of a name and forgets its results; returns how many there are.
pub fn reset(name: &str) -> usize {
    each_breaker(name, |breaker| breaker.reset(Moment::now()))
}

fn each_breaker(name: &str, act: fn(&Breaker)) -> usize {
    let named: Vec<_> = breakers().into_iter().filter(|breaker| breaker.name() == name).collect();
    for breaker in &named {
        act(breaker);
    }
    named.len()
}
