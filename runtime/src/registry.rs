//! The live instances behind names: one bulkhead per name, one breaker per name.
//!
//! State belongs to the name, so every site, type and instantiation that names it shares it. A name lives as long as the
//! process; names come from source code and settings, so there are as many as somebody wrote down.
//!
//! **Two declarations of one name** with different figures are a mistake that must not depend on who ran first. The
//! catalogue knows all declarations before the first call, so an instance is made by the strictest of them at once; one
//! that the catalogue had lost still tightens the live instance when it shows up. The disagreement
//! itself is reported by [`crate::check`], with all source lines.
//!
//! Invariants: a name resolves to the same instance for ever; the figures in force are never looser than any declaration
//! of the name; resolving happens once per site, never on the path of a call.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{OnceLock, PoisonError};

use crate::base::sync::Mutex;
use crate::catalogue;
use crate::declaration::Declaration;
use crate::strategies::breaker::{self, Breaker};
use crate::strategies::bulkhead::{self, Bulkhead, Limits};

#[derive(Default)]
struct Registry {
    bulkheads: HashMap<&'static str, &'static Bulkhead>,
    breakers: HashMap<&'static str, &'static Breaker>,
}

fn registry() -> std::sync::MutexGuard<'static, Registry> {
    static REGISTRY: OnceLock<std::sync::Mutex<Registry>> = OnceLock::new();
    REGISTRY.get_or_init(Default::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// The bulkhead a declaration names.
pub(crate) fn bulkhead(config: &bulkhead::Config) -> &'static Bulkhead {
    let name = config.name;
    let declared = declared_limits(name).chain(config.limits).reduce(Limits::stricter);
    let mut registry = registry();
    let id = u32::try_from(registry.bulkheads.len()).unwrap_or(u32::MAX - 1) + 1;
    let live = *registry.bulkheads.entry(name).or_insert_with(|| {
        // Leaked on purpose: a name lives as long as the process, and guards then need no count of owners.
        Box::leak(Box::new(Bulkhead::new(id, name, declared.unwrap_or(Limits::UNDECLARED))))
    });
    drop(registry);
    if let Some(declared) = declared {
        let tightened = live.limits().stricter(declared);
        if tightened != live.limits() {
            live.resize(tightened);
        }
    }
    live
}

fn declared_limits(name: &'static str) -> impl Iterator<Item = Limits> {
    declarations()
        .filter_map(|declared| declared.bulkhead)
        .filter(move |config| config.name == name)
        .filter_map(|config| config.limits)
}

/// The breaker a declaration names; a site's own is known by the site's name.
pub(crate) fn breaker(site: &'static Declaration, config: &breaker::Config) -> &'static Breaker {
    let Some(name) = config.name else {
        // A site's own: nobody else can name it, so it needs no place in the table of shared ones, and two functions of
        // one name in different modules stay apart.
        let rules = config.rules.unwrap_or(breaker::Rules::DEFAULT);
        let own: &'static Breaker = Box::leak(Box::new(Breaker::new(site.identity.name, rules)));
        own_breakers().lock().push(own);
        return own;
    };
    let declared = declarations()
        .filter_map(|declared| declared.breaker)
        .filter(|other| other.name == Some(name))
        .filter_map(|other| other.rules)
        .chain(config.rules)
        .reduce(breaker::Rules::stricter);
    let live = *registry()
        .breakers
        .entry(name)
        .or_insert_with(|| Box::leak(Box::new(Breaker::new(name, declared.unwrap_or(breaker::Rules::DEFAULT)))));
    if let Some(declared) = declared {
        let tightened = live.rules().stricter(declared);
        if tightened != live.rules() {
            live.set_rules(tightened);
        }
    }
    live
}

fn own_breakers() -> &'static Mutex<Vec<&'static Breaker>> {
    static OWN: OnceLock<Mutex<Vec<&'static Breaker>>> = OnceLock::new();
    OWN.get_or_init(|| Mutex::new(Vec::new()))
}

fn declarations() -> impl Iterator<Item = &'static Declaration> {
    catalogue::entries().into_iter().map(|entry| entry.declaration)
}

/// Every live bulkhead, by name.
pub(crate) fn bulkheads() -> Vec<&'static Bulkhead> {
    sorted(&registry().bulkheads)
}

/// Every live breaker, by name.
pub(crate) fn breakers() -> Vec<&'static Breaker> {
    let mut all = sorted(&registry().breakers);
    all.extend(own_breakers().lock().iter());
    all.sort_by_key(|breaker| breaker.name());
    all
}

fn sorted<K: Ord + Copy + Hash, V: Copy>(map: &HashMap<K, V>) -> Vec<V> {
    let mut pairs: Vec<(K, V)> = map.iter().map(|(key, value)| (*key, *value)).collect();
    pairs.sort_by_key(|(key, _)| *key);
    pairs.into_iter().map(|(_, value)| value).collect()
}

/// Holds every breaker of a name open until [`reset`]; returns how many there are.
///
/// A shared breaker has the name its declarations give it, a function's own breaker the function's name. Only breakers
/// that a call has reached exist.
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
/// ping().await.unwrap();
/// assert_eq!(breaker::isolate("ping"), 1);
/// assert_eq!(ping().await.unwrap_err().kind(), ErrorKind::BreakerOpen);
/// breaker::reset("ping");
/// ping().await.unwrap();
/// # }
/// ```
pub fn isolate(name: &str) -> usize {
    each_breaker(name, Breaker::isolate)
}

/// Closes every breaker of a name and forgets its results; returns how many there are.
pub fn reset(name: &str) -> usize {
    each_breaker(name, Breaker::reset)
}

fn each_breaker(name: &str, act: fn(&Breaker)) -> usize {
    let named: Vec<_> = breakers().into_iter().filter(|breaker| breaker.name() == name).collect();
    for breaker in &named {
        act(breaker);
    }
    named.len()
}
