//! A declaration in the attribute's own words.
//!
//! What is listed should be what somebody can search for in the source and paste back into it. Defaults are not written
//! out: a copy of one could not be told from a decision. (The few that became figures in the declaration itself, such as
//! those of a breaker, are compared with the default and left out where they are equal.) Predicates and fallbacks are
//! code, of which the declaration knows only that they are there.
//!
//! Invariant: every strategy that is declared has its key in the list.

use super::Setting;
use crate::base::text::exact;
use crate::declaration::Declaration;
use crate::strategies::breaker::{self, Rules, Window};
use crate::strategies::fallback::{self, On};
use crate::strategies::retry::{self, Allowance, Backoff, Causes, Curve, Jitter};
use crate::strategies::{bulkhead, deadline, hedge, isolate, rate, tail, timeout};

/// The keys, outermost strategy first.
pub(super) fn settings(it: &Declaration) -> Vec<Setting> {
    let observe = it.observe;
    let mut all = Vec::new();
    let mut say =
        |key, value: Option<String>, observes| all.extend(value.map(|value| Setting { key, value, observes }));
    let quoted = |nanos: u64| format!("\"{}\"", exact(nanos));
    say("fallback", it.fallback.map(fallback), false);
    say("deadline", it.deadline.map(deadline::Config::nanos).map(quoted), observe.deadline);
    say("retry", it.retry.as_ref().map(|retry| self::retry(retry, it.idempotent)), observe.retry);
    say("hedge", it.hedge.map(hedge), false);
    say("breaker", it.breaker.as_ref().map(breaker), observe.breaker);
    say("rate", it.rate.as_ref().map(rate), observe.rate);
    say("bulkhead", it.bulkhead.as_ref().map(bulkhead), observe.bulkhead);
    say("guards", it.bulkhead.and_then(|it| it.guards).map(|pool| format!("\"{pool}\"")), false);
    let keyed = it.bulkhead.is_some_and(|it| it.keyed) || it.rate.is_some_and(|it| it.keyed);
    say("key", keyed.then(String::new), false);
    say("isolate", it.isolate.as_ref().map(isolate), false);
    say("timeout", it.timeout.map(timeout::Config::nanos).map(quoted), observe.timeout);
    say("observe", it.tail.map(tail), false);
    say("idempotent", it.idempotent.then(String::new), false);
    all
}

/// What is kept, or nothing for code; in brackets with whatever narrows it.
fn fallback(it: fallback::Config) -> String {
    let kept = it.last_good.map(|oldest| format!("last_good(\"{}\")", exact(oldest)));
    let on = (it.on != On::ALL).then(|| format!("on = [{}]", it.on.words().join(", ")));
    let terms: Vec<_> = on.into_iter().chain(it.limit.map(|calls| format!("limit = {calls}"))).collect();
    if terms.is_empty() {
        return kept.unwrap_or_default();
    }
    format!("({}, {})", kept.as_deref().unwrap_or(".."), terms.join(", "))
}

/// `max` alone, or the long form where there is more to say.
fn retry(it: &retry::Config, idempotent: bool) -> String {
    let mut parts: Vec<String> = backoff(it.backoff).into_iter().collect();
    parts.extend(it.max_duration.map(|nanos| format!("max_duration = \"{}\"", exact(nanos))));
    parts.extend(causes(it.on, idempotent));
    let share = |Allowance { per_call, per_second }: Allowance| format!("{}%+{per_second}/s", per_call * 100.0);
    parts.extend(match (it.budget_name, it.budget) {
        (Some(name), Some(allowance)) => Some(format!("budget = \"{name}:{}\"", share(allowance))),
        (Some(name), None) => Some(format!("budget = \"{name}\"")),
        (None, None) => Some("budget = off".to_owned()),
        (None, Some(allowance)) => {
            (allowance != Allowance::DEFAULT).then(|| format!("budget = \"{}\"", share(allowance)))
        }
    });
    if parts.is_empty() { it.max.to_string() } else { format!("({}, {})", it.max, parts.join(", ")) }
}

/// The range where that says it all, else the long form; nothing for the default.
fn backoff(it: Backoff) -> Option<String> {
    let default = Backoff::DEFAULT;
    if it == default {
        return None;
    }
    let (first, cap) = (exact(it.first), exact(it.cap));
    if (it.curve, it.jitter) == (default.curve, default.jitter) {
        return Some(format!("backoff = \"{first}..{cap}\""));
    }
    let curve = match it.curve {
        Curve::Constant => "constant".to_owned(),
        Curve::Linear => "linear".to_owned(),
        Curve::Fibonacci => "fibonacci".to_owned(),
        Curve::Decorrelated => "decorrelated".to_owned(),
        curve if curve == default.curve => "exponential".to_owned(),
        Curve::Exponential { factor } => format!("exponential, factor = {factor}"),
    };
    let cap = if it.cap == u64::MAX { String::new() } else { format!(", cap = \"{cap}\"") };
    let jitter = match it.jitter {
        Jitter::Full => String::new(),
        Jitter::Equal => ", jitter = equal".to_owned(),
        Jitter::None => ", jitter = none".to_owned(),
        Jitter::Within(nanos) => format!(", jitter = \"{}\"", exact(nanos)),
    };
    Some(format!("backoff({curve}, first = \"{first}\"{cap}{jitter})"))
}

/// What is tried again, where that is not what it is without a word: errors, and timeouts too if that does no harm.
fn causes(it: Causes, idempotent: bool) -> Option<String> {
    let Causes { error, timeout, full, wait, rate, open } = it;
    if error && timeout == idempotent && !(full || wait || rate || open) {
        return None;
    }
    let words =
        [(error, "error"), (timeout, "timeout"), (full, "full"), (wait, "wait"), (rate, "rate"), (open, "open")];
    let named: Vec<_> = words.iter().filter(|(on, _)| *on).map(|(_, word)| *word).collect();
    Some(format!("on = [{}]", named.join(", ")))
}

fn hedge(it: hedge::Config) -> String {
    match it.after {
        hedge::After::Fixed(nanos) => format!("\"{}\"", exact(nanos)),
        hedge::After::Percentile(tenths) => format!("\"p{}\"", f64::from(tenths) / 10.0),
    }
}

fn breaker(it: &breaker::Config) -> String {
    let Some(rules) = it.rules else {
        return it.name.map_or_else(String::new, |name| format!("\"{name}\""));
    };
    let default = Rules::DEFAULT;
    let percent = |share: f64| format!("\"{}%\"", share * 100.0);
    let mut parts: Vec<String> = it.name.map(|name| format!("name = \"{name}\"")).into_iter().collect();
    let mut say = |differs: bool, what: &str, value: String| {
        if differs {
            parts.push(format!("{what} = {value}"));
        }
    };
    let window = match rules.window {
        Window::Calls(calls) => calls.to_string(),
        Window::Time(nanos) => format!("\"{}\"", exact(nanos)),
    };
    say(rules.window != default.window, "window", window);
    say(rules.failures.to_bits() != default.failures.to_bits(), "failures", percent(rules.failures));
    say(rules.min_calls != default.min_calls, "min_calls", rules.min_calls.to_string());
    if let Some(slow) = rules.slow {
        say(true, "slow", format!("\"{}\"", exact(slow.at_least)));
        say(true, "slow_rate", percent(slow.rate));
    }
    say(rules.cooldown != default.cooldown, "cooldown", format!("\"{}\"", exact(rules.cooldown)));
    say(rules.probes != default.probes, "probes", rules.probes.to_string());
    if parts.is_empty() { String::new() } else { format!("({})", parts.join(", ")) }
}

fn rate(it: &rate::Config) -> String {
    let name = it.name.unwrap_or_default();
    let Some(figures) = it.figures else { return format!("\"{name}\"") };
    let unit = exact(figures.unit);
    let unit = unit.strip_prefix('1').filter(|bare| bare.starts_with(char::is_alphabetic)).unwrap_or(&unit);
    let colon = if name.is_empty() { "" } else { ":" };
    let burst = if figures.burst == figures.count { String::new() } else { format!("/burst:{}", figures.burst) };
    let wait = if it.wait == 0 { String::new() } else { format!("/wait:{}", exact(it.wait)) };
    format!("\"{name}{colon}{}/{unit}{burst}{wait}{}\"", figures.count, fleet(it.fleet))
}

fn bulkhead(it: &bulkhead::Config) -> String {
    let Some(limits) = it.limits else { return format!("\"{}\"", it.name) };
    let slots = it
        .floor
        .map_or_else(|| limits.slots.to_string(), |floor| format!("auto/floor:{floor}/ceiling:{}", limits.slots));
    let total = it.total.map(|total| format!("/total:{total}")).unwrap_or_default();
    format!("\"{}:{slots}{}{total}{}\"", it.name, queue(limits.queue, it.wait), fleet(it.fleet))
}

fn fleet(fleet: bool) -> &'static str {
    if fleet { "/fleet" } else { "" }
}

fn tail(it: tail::Config) -> String {
    // A share of 0.07 is not quite 7 percent.
    let percent = (it.share * 1e8).round() / 1e6;
    let runs = it.runs.map(|runs| format!("/runs:{runs}")).unwrap_or_default();
    let cap = it.cap.map(|nanos| format!("/cap:{}", exact(nanos))).unwrap_or_default();
    format!("\"{percent}%{runs}{cap}\"")
}

fn isolate(it: &isolate::Config) -> String {
    let Some(limits) = it.limits else { return format!("\"{}\"", it.name) };
    format!("\"{}:{}{}\"", it.name, limits.threads, queue(limits.queue, it.wait))
}

fn queue(queue: u32, wait: Option<u64>) -> String {
    let wait = wait.map(|nanos| format!("/wait:{}", exact(nanos))).unwrap_or_default();
    if queue == 0 { wait } else { format!("/queue:{queue}{wait}") }
}
