//! One figure of a declaration, read and written by its key.
//!
//! Invariants: what was put is what is read; a figure is there exactly when its strategy is, and is that function's own.

use super::effective::put_rule;
use super::value::Value;
use crate::declaration::Declaration;
use crate::strategies::breaker::{self, Rules};
use crate::strategies::{deadline, timeout};

/// What a declaration says for a key; nothing where it has no such figure of its own.
pub(crate) fn figure(it: &Declaration, key: &str) -> Option<Value> {
    if let Some(rule) = key.strip_prefix("breaker.") {
        return own_rules(it).and_then(|rules| rule_of(&rules, rule));
    }
    Some(match key {
        "deadline" => Value::Length(it.deadline?.nanos()),
        "timeout" => Value::Length(it.timeout?.nanos()),
        "retry" => Value::Whole(it.retry?.max),
        "retry.backoff" => Value::Pauses { first: it.retry?.backoff.first, cap: it.retry?.backoff.cap },
        "retry.max_duration" => Value::Length(it.retry?.max_duration.unwrap_or(u64::MAX)),
        "retry.budget" => Value::Allowance(it.retry.filter(|retry| retry.budget_name.is_none())?.budget?),
        "hedge" => Value::After(it.hedge?.after),
        "rate" => Value::Rate(it.rate.filter(|rate| rate.name.is_none())?.figures?),
        "rate.wait" => Value::Length(it.rate?.wait),
        "bulkhead.wait" => {
            let own = it.bulkhead.filter(|_| it.isolate.is_none())?.wait;
            Value::Length(it.longest_wait(own))
        }
        "isolate.wait" => Value::Length(it.longest_wait(it.isolate?.wait)),
        _ => return None,
    })
}

/// The rules of a breaker that is this function's alone.
fn own_rules(it: &Declaration) -> Option<Rules> {
    let config = it.breaker.filter(|config| config.name.is_none())?;
    Some(config.rules.unwrap_or(Rules::DEFAULT))
}

/// One rule; a length that counts as slow reads as none can be where there is none.
pub(super) fn rule_of(rules: &Rules, key: &str) -> Option<Value> {
    Some(match key {
        "window" => Value::Window(rules.window),
        "failures" => Value::Share(rules.failures),
        "min_calls" => Value::Whole(rules.min_calls),
        "slow" => Value::Length(rules.slow.map_or(u64::MAX, |slow| slow.at_least)),
        "slow_rate" => Value::Share(rules.slow.map_or(breaker::Slow::RATE, |slow| slow.rate)),
        "cooldown" => Value::Length(rules.cooldown),
        "probes" => Value::Whole(rules.probes),
        _ => return None,
    })
}

/// Writes a figure where there is a place for it.
pub(super) fn put(it: &mut Declaration, key: &str, value: Value) {
    match (key, value) {
        ("deadline", Value::Length(nanos)) => it.deadline = Some(deadline::Config::new(nanos)),
        ("timeout", Value::Length(nanos)) => it.timeout = Some(timeout::Config::new(nanos)),
        ("retry", Value::Whole(max)) => it.retry.iter_mut().for_each(|retry| retry.max = max),
        ("retry.backoff", Value::Pauses { first, cap }) => it.retry.iter_mut().for_each(|retry| {
            (retry.backoff.first, retry.backoff.cap) = (first, cap);
        }),
        ("retry.max_duration", Value::Length(nanos)) => {
            it.retry.iter_mut().for_each(|retry| retry.max_duration = Some(nanos));
        }
        ("retry.budget", Value::Allowance(allowance)) => {
            it.retry.iter_mut().for_each(|retry| retry.budget = Some(allowance));
        }
        ("hedge", Value::After(after)) => it.hedge.iter_mut().for_each(|hedge| hedge.after = after),
        ("rate", Value::Rate(figures)) => it.rate.iter_mut().for_each(|rate| rate.figures = Some(figures)),
        ("rate.wait", Value::Length(nanos)) => it.rate.iter_mut().for_each(|rate| rate.wait = nanos),
        ("bulkhead.wait", Value::Length(nanos)) => it.bulkhead.iter_mut().for_each(|it| it.wait = Some(nanos)),
        ("isolate.wait", Value::Length(nanos)) => it.isolate.iter_mut().for_each(|it| it.wait = Some(nanos)),
        (key, value) => {
            if let (Some(rule), Some(config)) = (key.strip_prefix("breaker."), &mut it.breaker)
                && config.name.is_none()
            {
                put_rule(config.rules.get_or_insert(Rules::DEFAULT), rule, value);
            }
        }
    }
}
