//! The first screen: one row per function, those first that hurt most users now.
//!
//! Every annotated function is there, called or not, so that no data never looks like no such function. What is said of now
//! is said of the last ten seconds, what is drawn of the last minute.

use std::time::Duration;

use serde_json::{Value, json};

use super::breaker::noted;
use super::headline::{Row, say};
use super::{breaker_name, compartment_name, known};
use crate::call::Identity;
use crate::catalogue;
use crate::dashboard::history::changes;
use crate::dashboard::history::outcome::{CLASSES, failed, harmed, worst_reason};
use crate::dashboard::history::{Kept, SiteHistory, id};
use crate::declaration::Declaration;
use crate::metrics::BreakerState;
use crate::settings;
use crate::strategies::timeout;

/// What "now" is, in seconds.
const NOW: usize = 10;
/// What a row draws.
const DRAWN: usize = 60;
/// Changes on the first screen.
const CHANGES: usize = 12;

/// The whole wall.
pub(crate) fn panel(kept: &Kept, viewers: usize, shows: fn(&Identity) -> bool) -> Value {
    let (declared, hidden): (Vec<_>, Vec<_>) =
        catalogue::entries().into_iter().map(|entry| entry.declaration).partition(|it| shows(&it.identity));
    // What only hidden functions name is hidden, too; what nobody in the catalogue names is shown.
    let is_shown = |name: &str, names: fn(&Declaration) -> Option<&'static str>| {
        let named = |all: &[&'static Declaration]| all.iter().any(|it| names(it) == Some(name));
        named(&declared) || !named(&hidden)
    };
    let mut rows: Vec<_> = declared.iter().map(|it| row(kept, it)).collect();
    rows.sort_by(|one, other| {
        let key = |row: &(Value, u64, u64, Row<'_>)| (row.3.harmed, row.3.calls, row.2);
        key(other).cmp(&key(one))
    });
    let heads: Vec<_> = rows.iter().map(|row| row.3.clone()).collect();
    let (is_harmed, headline) = say(&heads, NOW);
    let seconds = usize::try_from(kept.seconds).unwrap_or(usize::MAX).clamp(1, NOW);
    let (calls, harmed) = heads.iter().fold((0, 0), |(calls, harmed), row| (calls + row.calls, harmed + row.harmed));
    json!({
        "seconds": kept.seconds,
        "now": seconds,
        "headline": headline,
        "harmed": is_harmed,
        "worst": heads.iter().max_by_key(|it| it.harmed).filter(|_| is_harmed).map(|it| {
            format!("{}: {}", it.name, it.reason.unwrap_or_default())
        }),
        "classes": CLASSES,
        "calls_per_second": calls as f64 / seconds as f64,
        "harmed_per_second": harmed as f64 / seconds as f64,
        "sites": rows.into_iter().map(|row| row.0).collect::<Vec<_>>(),
        "breakers": kept.now.breakers.iter().filter(|it| is_shown(it.name, breaker_name)).map(|it| json!({
            "name": it.name, "state": it.state.as_str(), "failures": it.failures, "results": it.calls, "opened": it.opened,
        })).collect::<Vec<_>>(),
        "bulkheads": kept.bulkheads.iter().filter(|(name, _)| is_shown(name, compartment_name)).filter_map(|(name, ring)| {
            let frame = ring.frames(super::Span::Minutes).back()?;
            let peak = ring.last(NOW).map(|it| it.peak_running).max().unwrap_or(0);
            Some(json!({ "name": name, "slots": frame.slots, "running": frame.running, "queued": frame.queued, "peak": peak }))
        }).collect::<Vec<_>>(),
        "changes": changes::all().iter().take(CHANGES).map(noted).collect::<Vec<_>>(),
        "viewers": viewers,
    })
}

/// The row as data, users harmed now, calls since the start, and what the headline needs.
fn row(kept: &Kept, declared: &'static Declaration) -> (Value, u64, u64, Row<'static>) {
    let Identity { name, module, file, line } = declared.identity;
    let id = id(&declared.identity);
    let in_force = settings::effective(&settings::current(), declared);
    let site = kept.sites.get(&id);
    let now = site.map(|site| site.outcomes(NOW)).unwrap_or_default();
    let minute = site.map(|site| site.outcomes(DRAWN)).unwrap_or_default();
    let seconds = usize::try_from(kept.seconds).unwrap_or(usize::MAX).clamp(1, NOW) as f64;
    let (harmed_now, failed_now, calls) = (harmed(&now), failed(&now), now.iter().sum::<u64>());
    let total: u64 = site.map_or(0, |site| site.total.calls());
    let attempts: u64 = site.map_or(0, |site| site.frames.last(NOW).map(|frame| u64::from(frame.attempts)).sum());
    let breaker = breaker_name(declared).and_then(|name| kept.now.breaker(name));
    let compartment = compartment_name(declared).and_then(|name| Some((name, kept.bulkheads.get(name)?)));
    let saturation = compartment.map(|(name, ring)| {
        let most = ring.last(NOW).max_by_key(|frame| frame.peak_running).copied().unwrap_or_default();
        let queued = ring.last(NOW).map(|frame| frame.peak_queued).max().unwrap_or(0);
        let keyed = kept.now.bulkhead(name).is_some_and(|it| it.keys.is_some());
        json!({ "name": name, "peak": most.peak_running, "slots": most.slots, "queued": queued, "keyed": keyed })
    });
    let head = Row {
        name,
        calls,
        harmed: harmed_now,
        failed: failed_now,
        reason: worst_reason(&now).map(|(reason, _)| reason),
        detail: detail(declared, saturation.as_ref(), worst_reason(&now).map(|(reason, _)| reason)),
    };
    let value = json!({
        "id": id,
        "name": name,
        "module": module,
        "source": format!("{file}:{line}"),
        "calls_per_second": calls as f64 / seconds,
        "harmed_per_second": harmed_now as f64 / seconds,
        "reason": head.reason,
        "minute": minute,
        "total": total,
        "rate": site.map(rates),
        "harm": site.map(harms),
        "latency": site.map(|site| latency(site, &in_force)),
        "saturation": saturation,
        "factor": (calls > 0).then(|| attempts as f64 / calls as f64),
        "breaker": breaker.map(|it| json!({ "name": it.name, "state": it.state.as_str() })),
        "alarming": breaker.is_some_and(|it| it.state != BreakerState::Closed),
        "deadline_used": site.and_then(deadline_used),
        "in_flight": site.map(|site| site.total.in_flight),
        "observing": in_force.observe != crate::declaration::Observe::NONE,
        "set": in_force != *declared,
    });
    (value, harmed_now, total, head)
}

/// What stands behind the reason.
fn detail(declared: &Declaration, saturation: Option<&Value>, reason: Option<&'static str>) -> String {
    match (reason, saturation) {
        (Some("no slot"), Some(it)) => {
            let name = it["name"].as_str().unwrap_or_default();
            if it["keyed"] == true {
                return format!("each key of `{name}` has slots of its own, and some have used theirs up");
            }
            format!("`{name}` had {} of {} slots taken and {} waiting", it["peak"], it["slots"], it["queued"])
        }
        (Some("timed out"), _) => declared
            .timeout
            .map_or_else(String::new, |it| format!("its timeout is {}", crate::base::text::exact(it.nanos()))),
        _ => String::new(),
    }
}

fn rates(site: &SiteHistory) -> Vec<u64> {
    site.frames.last(DRAWN).map(|frame| frame.outcomes.iter().map(|count| u64::from(*count)).sum()).collect()
}

fn harms(site: &SiteHistory) -> Vec<u64> {
    site.frames.last(DRAWN).map(|frame| harmed(&frame.outcomes.map(u64::from))).collect()
}

/// The quantiles of the newest second in which anything completed, and the timeout.
fn latency(site: &SiteHistory, declared: &Declaration) -> Value {
    let seen = site.frames.last(NOW).filter(|frame| frame.heat.iter().chain(&frame.cut).any(|shade| *shade > 0)).last();
    let timeout = declared.timeout.map(timeout::Config::nanos).map(Duration::from_nanos);
    json!({
        "quantiles": seen.map(|frame| frame.quantiles.map(known)),
        "timeout": timeout.map(crate::advice::ms),
    })
}

/// The mean share of a deadline that was used when calls came in.
fn deadline_used(site: &SiteHistory) -> Option<f64> {
    let tenths = site.last_hour().deadline_used;
    let count: u64 = tenths.iter().sum();
    let sum: f64 =
        tenths.iter().zip(0_u8..).map(|(count, tenth)| *count as f64 * (f64::from(tenth) + 0.5) / 10.0).sum();
    (count > 0).then(|| sum / count as f64)
}
