//! From what is declared to what is in force: the same declaration with other figures.
//!
//! A declaration is plain data, so settings need no vocabulary of their own for their outcome. What they make of an attribute
//! is an attribute, and whatever reads declarations (the listing, its worst cases, the check, the pipeline) reads this.
//!
//! A strategy that is switched off is missing from it. A fallback is never missing unless it is switched off by name: whoever
//! turns everything off has an incident, and answers are the last thing to lose then.
//!
//! Invariants: pure; with nothing set, the outcome is the declaration; a strategy is never added, but for a limit in time at
//! a site that has a place for refusals.

use super::address::Scope;
use super::figure::{figure, put};
use super::keys::{Key, Of};
use super::merged::{Held, Merged};
use super::value::{Force, Value};
use crate::declaration::Declaration;
use crate::strategies::breaker::{Rules, Slow, Window};
use crate::strategies::bulkhead::Limits;
use crate::strategies::fallback::{self, On};
use crate::strategies::rate::Figures;
use crate::strategies::retry::Allowance;

/// The strategies that can be switched, with the keys that do it. Threads cannot: their bodies block.
pub(crate) const SWITCHED: [(&str, &str, Option<&str>); 8] = [
    ("fallback", "fallback.enabled", None),
    ("deadline", "deadline.enabled", Some("deadline.mode")),
    ("retry", "retry.enabled", Some("retry.mode")),
    ("hedge", "hedge.enabled", None),
    ("breaker", "breaker.enabled", Some("breaker.mode")),
    ("rate", "rate.enabled", Some("rate.mode")),
    ("bulkhead", "bulkhead.enabled", Some("bulkhead.mode")),
    ("timeout", "timeout.enabled", Some("timeout.mode")),
];

/// What is in force at a site.
pub(crate) fn effective(merged: &Merged, declared: &Declaration) -> Declaration {
    if merged.all.is_empty() {
        return *declared;
    }
    let scopes = Merged::scopes_of(&declared.identity);
    let mut it = *declared;
    for key in Key::all_of(Of::Function) {
        if let Some((scope, held)) = merged.find(&scopes, key.name)
            && (figure(declared, key.name).is_some() || adds(declared, scope, key.name))
        {
            put(&mut it, key.name, held.value);
        }
    }
    for (strategy, enabled, mode) in SWITCHED {
        if let Some(mode) = mode
            && let Some((_, held)) = merged.find_either(&scopes, mode, "mode")
            && held.value == Value::Observes(true)
            && may_observe(declared, strategy)
        {
            observe(&mut it, strategy);
        }
        if !is_enabled(merged, &scopes, strategy, enabled).0 && may_be_switched(declared, strategy) {
            remove(&mut it, strategy);
        }
    }
    if is_held_closed(merged, declared) {
        it.breaker = None;
    }
    named(merged, &mut it);
    it
}

/// A limit in time can be added at a site, where there is a place for refusals.
pub(super) fn adds(declared: &Declaration, scope: &Scope, key: &str) -> bool {
    matches!(scope, Scope::Site(_)) && matches!(key, "timeout" | "deadline") && declared.can_be_told()
}

/// Whether a strategy is asked, and what says so.
pub(super) fn is_enabled<'a>(
    merged: &'a Merged,
    scopes: &'a [Scope],
    strategy: &str,
    key: &'static str,
) -> (bool, Option<&'a Held>) {
    let is_fallback = strategy == "fallback";
    let found = if is_fallback { merged.find(scopes, key) } else { merged.find_either(scopes, key, "enabled") };
    match (found, merged.kill_switch()) {
        (Some((_, held)), _) => (held.value == Value::Enabled(true), Some(held)),
        (None, Some(kill)) if !is_fallback => (false, Some(kill)),
        (None, _) => (true, None),
    }
}

/// Whether a call can go on without: a fallback's can only where the attribute has left a way past it.
pub(super) fn may_be_switched(declared: &Declaration, strategy: &str) -> bool {
    let can_pass = |it: fallback::Config| {
        let is_narrowed = it.limit.is_some() || it.on != On::ALL;
        is_narrowed && (it.errors_alone || it.limit.is_some() || !it.on.has(On::OTHER))
    };
    strategy != "fallback" || declared.fallback.is_none_or(can_pass)
}

/// Whether a strategy can be told to observe: one with keys holds compartments of theirs in the one or in the other.
pub(super) fn may_observe(declared: &Declaration, strategy: &str) -> bool {
    match strategy {
        "bulkhead" => declared.bulkhead.is_some_and(|it| !it.keyed),
        "rate" => declared.rate.is_some_and(|it| !it.keyed),
        _ => true,
    }
}

fn observe(it: &mut Declaration, strategy: &str) {
    let observe = it.observe;
    it.observe = match strategy {
        "deadline" => observe.deadline(),
        "retry" => observe.retry(),
        "breaker" => observe.breaker(),
        "rate" => observe.rate(),
        "bulkhead" => observe.bulkhead(),
        _ => observe.timeout(),
    };
}

fn remove(it: &mut Declaration, strategy: &str) {
    match strategy {
        "fallback" => it.fallback = None,
        "deadline" => it.deadline = None,
        "retry" => it.retry = None,
        "hedge" => it.hedge = None,
        "breaker" => it.breaker = None,
        "rate" => it.rate = None,
        "bulkhead" => it.bulkhead = None,
        _ => it.timeout = None,
    }
}

fn is_held_closed(merged: &Merged, declared: &Declaration) -> bool {
    let force = match declared.breaker {
        None => None,
        Some(config) => config.name.map_or_else(|| merged.own_force(&declared.identity), |name| merged.force(name)),
    };
    force == Some(Force::Closed)
}

/// What is set of names, in the declarations that state their figures.
fn named(merged: &Merged, it: &mut Declaration) {
    if let Some(config) = &mut it.bulkhead {
        config.limits = config.limits.map(|declared| limits(merged, config.name, declared));
    }
    if let Some(config) = &mut it.isolate
        && let Some(declared) = &mut config.limits
    {
        let set = threads(merged, config.name, Limits { slots: declared.threads, queue: declared.queue });
        (declared.threads, declared.queue) = (set.slots, set.queue);
    }
    if let Some(config) = &mut it.breaker
        && let Some(name) = config.name
    {
        config.rules = config.rules.map(|declared| rules(merged, name, declared));
    }
    if let Some(config) = &mut it.rate
        && let Some(name) = config.name
    {
        config.figures = config.figures.map(|declared| figures(merged, name, declared));
    }
    if let Some(config) = &mut it.retry
        && let Some(name) = config.budget_name
    {
        config.budget = config.budget.map(|declared| allowance(merged, name, declared));
    }
}

fn whole(merged: &Merged, scope: &Scope, key: &'static str) -> Option<u32> {
    match merged.get(scope, key)?.value {
        Value::Whole(number) => Some(number),
        _ => None,
    }
}

/// The slots and the queue of a bulkhead, as settings have changed what is declared.
pub(crate) fn limits(merged: &Merged, name: &str, declared: Limits) -> Limits {
    let scope = Scope::Bulkhead(name.to_owned());
    Limits {
        slots: whole(merged, &scope, "slots").unwrap_or(declared.slots),
        queue: whole(merged, &scope, "queue").unwrap_or(declared.queue),
    }
}

/// The same of threads.
pub(crate) fn threads(merged: &Merged, name: &str, declared: Limits) -> Limits {
    let scope = Scope::Isolate(name.to_owned());
    Limits {
        slots: whole(merged, &scope, "threads").unwrap_or(declared.slots),
        queue: whole(merged, &scope, "queue").unwrap_or(declared.queue),
    }
}

/// The same of a breaker.
pub(crate) fn rules(merged: &Merged, name: &str, declared: Rules) -> Rules {
    let scope = Scope::Breaker(name.to_owned());
    let mut rules = declared;
    for key in Key::all_of(Of::Breaker) {
        if let Some(held) = merged.get(&scope, key.name) {
            put_rule(&mut rules, key.name, held.value);
        }
    }
    rules
}

/// One figure of a breaker.
pub(super) fn put_rule(rules: &mut Rules, key: &str, value: Value) {
    match (key, value) {
        ("window", Value::Window(window)) => {
            rules.window = window;
            if let Window::Calls(calls) = window {
                // As in the attribute: a window below the minimum lowers that to itself.
                rules.min_calls = rules.min_calls.min(calls);
            }
        }
        ("failures", Value::Share(share)) => rules.failures = share,
        ("min_calls", Value::Whole(calls)) => rules.min_calls = calls,
        ("slow", Value::Length(nanos)) => {
            let rate = rules.slow.map_or(Slow::RATE, |slow| slow.rate);
            rules.slow = Some(Slow { at_least: nanos, rate });
        }
        ("slow_rate", Value::Share(share)) => rules.slow = rules.slow.map(|slow| Slow { rate: share, ..slow }),
        ("cooldown", Value::Length(nanos)) => rules.cooldown = nanos,
        ("probes", Value::Whole(probes)) => rules.probes = probes,
        _ => {}
    }
}

/// The same of a rate.
pub(crate) fn figures(merged: &Merged, name: &str, declared: Figures) -> Figures {
    match merged.get(&Scope::Rate(name.to_owned()), "").map(|held| held.value) {
        Some(Value::Rate(figures)) => figures,
        _ => declared,
    }
}

/// The same of a retry budget.
pub(crate) fn allowance(merged: &Merged, name: &str, declared: Allowance) -> Allowance {
    match merged.get(&Scope::Budget(name.to_owned()), "").map(|held| held.value) {
        Some(Value::Allowance(allowance)) => allowance,
        _ => declared,
    }
}
