//! What is wrong with what functions share: a breaker that does not close, threads that never come back.
//!
//! One alert each, however many functions name it; the message names all of them. A breaker that has opened and closed again
//! has done its work, so the alert waits until it has tried three times: three of its own cooldowns.
//!
//! Invariant: a name of which only an observing function knows raises no alert.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Monitoring;
use super::alerts::{Alert, CRITICAL, WARNING, breaker, places};
use super::figure::Figure;
use super::scope::{is, length, plain};
use crate::base::text::exact;
use crate::declaration::Declaration;
use crate::strategies::breaker::Rules;

/// Threads of which so many are lost are lost.
const LOST: f64 = 0.5;

type Named<'a> = BTreeMap<&'static str, Vec<&'a Declaration>>;

/// The functions behind each name.
fn named<'a>(functions: &[&'a Declaration], name: impl Fn(&Declaration) -> Option<&'static str>) -> Named<'a> {
    let mut all = Named::new();
    for &it in functions {
        if let Some(name) = name(it) {
            all.entry(name).or_default().push(it);
        }
    }
    all
}

pub(super) fn breakers(watch: &Monitoring, functions: &[&Declaration], all: &[&'static Declaration]) -> Vec<Alert> {
    let name = |it: &Declaration| {
        it.breaker.filter(|_| !it.observe.breaker).map(|breaker| breaker.name.unwrap_or(it.identity.name))
    };
    let alert = |(name, of): (&'static str, Vec<&Declaration>)| {
        let rules = of.iter().filter_map(|it| breaker(it, all)).reduce(Rules::stricter).unwrap_or(Rules::DEFAULT);
        let cooldown = Duration::from_nanos(rules.cooldown);
        Alert {
            name: "WatertightBreakerOpen",
            expr: format!("{}{{{}}} == 1", Figure::NotClosed.name(""), is("breaker", name)),
            hold: watch.hold.max(cooldown.saturating_mul(3)),
            severity: WARNING,
            labels: labels(&of),
            summary: format!("Breaker {} does not close: {} is refused", plain(name), who(&of)),
            description: format!(
                "It opens at {} % failures and probes {} after that, with {} at a time.",
                rules.failures * 100.0,
                exact(rules.cooldown),
                rules.probes
            ),
            runbook: "Its probes fail, so the dependency is down: mend that, and it closes by itself. If somebody holds it open, \
                      watertight::breaker::reset or the dashboard closes it."
                .to_owned(),
        }
    };
    named(functions, name).into_iter().map(alert).collect()
}

pub(super) fn threads(watch: &Monitoring, functions: &[&Declaration]) -> Vec<Alert> {
    let over = length(watch.window);
    let alert = |(name, of): (&'static str, Vec<&Declaration>)| {
        Alert {
        name: "WatertightThreadsStuck",
        expr: format!("{}{{{}}} >= {LOST}", Figure::Stuck.name(&over), is("isolate", name)),
        hold: watch.hold,
        severity: CRITICAL,
        labels: labels(&of),
        summary: format!(
            "Threads {}: {{{{ $value | humanizePercentage }}}} of them run what nobody waits for any more, of {}",
            plain(name),
            who(&of)
        ),
        description: "Their code does not return; nothing outside of it can end a thread.".to_owned(),
        runbook: "Give the call that blocks a limit of its own, such as the read timeout of its client; restart the process to have \
                  the threads back."
            .to_owned(),
    }
    };
    let name = |it: &Declaration| it.isolate.map(|it| it.name);
    named(functions, name).into_iter().map(alert).collect()
}

/// Where there is one function, the alert is that function's.
fn labels(of: &[&Declaration]) -> Vec<(&'static str, &'static str)> {
    match of {
        [one] => vec![("function", one.identity.name), ("module", one.identity.module)],
        _ => Vec::new(),
    }
}

fn who(of: &[&Declaration]) -> String {
    let each = of.iter().map(|it| format!("{} ({})", it.identity.name, places(&[*it])));
    plain(&each.collect::<Vec<_>>().join(", "))
}
