//! Which series there are, and what each of them says: written once, for every way of publishing.
//!
//! The facade and the text endpoint must not drift apart, and a series that one of them forgets would be found by
//! whoever moves from one to the other in an incident. So the walk over a snapshot stands here, and an exporter is a
//! [`Sink`] for what the walk meets.
//!
//! Invariants: every series is met exactly once at every walk, those at zero included, if their function declares what they
//! count; the labels of a metric come in the order of
//! [`names`]; user text is in label values only.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::named::{BulkheadFigures, IsolateFigures};
use super::names;
use super::snapshot::{Rung, SiteFigures, Snapshot};
use crate::base::histogram::Bands;
use crate::call::tally::{AttemptFate, StopReason, WaitFate};
use crate::call::would::Cut;
use crate::call::{FallbackUse, Fate, HedgeFate, ObservedFate, Refusal};
use crate::strategies::breaker::State as BreakerState;

/// A label: its key, which is ours, and its value, which may be anything.
pub(crate) type Label = (&'static str, &'static str);

/// What takes the series.
pub(crate) trait Sink {
    fn counter(&mut self, name: &'static str, labels: &[Label], total: u64);
    fn gauge(&mut self, name: &'static str, labels: &[Label], value: f64);
    fn histogram(&mut self, name: &'static str, labels: &[Label], bands: &Bands);
}

/// Hands over every series of a snapshot.
pub(crate) fn walk(snapshot: &Snapshot, sink: &mut impl Sink) {
    for site in merged(&snapshot.sites) {
        walk_calls(&site, sink);
        walk_attempts(&site, sink);
        walk_lengths(&site, sink);
    }
    for bulkhead in &snapshot.bulkheads {
        walk_bulkhead(bulkhead, sink);
    }
    for rate in &snapshot.rates {
        sink.gauge(names::RATE_WAITING, &[("rate", rate.name)], rate.waiting.into());
    }
    for isolate in &snapshot.isolates {
        walk_isolate(isolate, sink);
    }
    for breaker in &snapshot.breakers {
        let name = ("breaker", breaker.name);
        for state in BreakerState::ALL {
            let is_in = if breaker.state == state { 1.0 } else { 0.0 };
            sink.gauge(names::BREAKER_STATE, &[name, ("state", state.as_str())], is_in);
        }
        for (to, count) in [("open", breaker.opened), ("half_open", breaker.half_opened), ("closed", breaker.closed)] {
            sink.counter(names::BREAKER_TRANSITIONS, &[name, ("to", to)], count);
        }
    }
}

/// Functions that have their labels in common, such as two types' methods of one name in one module, as one: a series
/// that is there twice is unreadable to some, and of two values one would vanish for the others.
fn merged(sites: &[SiteFigures]) -> Vec<Cow<'_, SiteFigures>> {
    let mut places = HashMap::new();
    let mut all: Vec<Cow<'_, SiteFigures>> = Vec::with_capacity(sites.len());
    for site in sites {
        match places.entry((site.name, site.module)) {
            Entry::Vacant(place) => {
                place.insert(all.len());
                all.push(Cow::Borrowed(site));
            }
            Entry::Occupied(place) => all[*place.get()].to_mut().merge(site),
        }
    }
    all
}

/// A function's own labels.
fn of(site: &SiteFigures) -> [Label; 2] {
    [("function", site.name), ("module", site.module)]
}

/// And one more.
fn with(site: &SiteFigures, label: Label) -> [Label; 3] {
    let [function, module] = of(site);
    [function, module, label]
}

fn walk_calls(site: &SiteFigures, sink: &mut impl Sink) {
    let [function, module] = of(site);
    for fate in Fate::ALL {
        let reason = if let Fate::Refused(reason) = fate { reason.as_str() } else { "" };
        for fallback in FallbackUse::ALL {
            let (fate_label, fallback_label) = (("fate", fate.as_str()), ("fallback", fallback.as_str()));
            let labels = [function, module, fate_label, ("reason", reason), fallback_label];
            sink.counter(names::CALLS, &labels, site.fate_with(fate, fallback));
        }
    }
    sink.gauge(names::IN_FLIGHT, &of(site), site.in_flight as f64);
    for reason in Refusal::ALL {
        let labels = with(site, ("reason", reason.as_str()));
        sink.counter(names::WOULD_REFUSE, &labels, site.would_refuse_for(reason));
    }
    for cause in Cut::ALL {
        sink.counter(names::WOULD_CUT, &with(site, ("reason", cause.as_str())), site.would_cut_by(cause));
    }
    sink.counter(names::WOULD_QUEUE, &of(site), site.would_queue);
    sink.counter(names::WOULD_RETRY, &of(site), site.would_retry);
}

fn walk_attempts(site: &SiteFigures, sink: &mut impl Sink) {
    for fate in AttemptFate::ALL {
        sink.counter(names::ATTEMPTS, &with(site, ("outcome", fate.as_str())), site.attempts_by(fate));
    }
    sink.counter(names::RETRIES, &of(site), site.retries);
    for reason in StopReason::ALL {
        sink.counter(names::RETRY_STOPS, &with(site, ("reason", reason.as_str())), site.stopped_for(reason));
    }
    for (attempt, rung) in Rung::NAMES.into_iter().zip(site.ladder()) {
        sink.counter(names::ANSWERS, &with(site, ("attempt", attempt)), rung.answered);
    }
    for fate in HedgeFate::ALL {
        sink.counter(names::HEDGES, &with(site, ("outcome", fate.as_str())), site.hedges_by(fate));
    }
    sink.counter(names::OVERRUNS, &of(site), site.overruns);
    sink.counter(names::LENT, &of(site), site.lent);
}

fn walk_lengths(site: &SiteFigures, sink: &mut impl Sink) {
    sink.histogram(names::LATENCY, &of(site), &site.latency);
    sink.histogram(names::CUT_OFF, &of(site), &site.cut_off);
    // A histogram is two dozen lines, so one that can never have anything in it is left out.
    let [slots, tokens, last_good, observes] = site.declares;
    if last_good {
        sink.histogram(names::LAST_GOOD_AGE, &of(site), &site.last_good_age);
    }
    if observes {
        walk_observed(site, sink);
    }
    for fate in WaitFate::ALL {
        let labels = with(site, ("outcome", fate.as_str()));
        if slots {
            sink.histogram(names::QUEUE_WAIT, &labels, site.waits(fate));
        }
        if tokens {
            sink.histogram(names::TOKEN_WAIT, &labels, site.token_waits(fate));
        }
    }
}

fn walk_observed(site: &SiteFigures, sink: &mut impl Sink) {
    let seen = site.observed.as_ref().map_or_else(Cow::default, Cow::Borrowed);
    for fate in ObservedFate::ALL {
        sink.counter(names::OBSERVED, &with(site, ("outcome", fate.as_str())), seen.by(fate));
    }
    sink.gauge(names::OBSERVED_RUNNING, &of(site), seen.running.into());
    sink.histogram(names::OBSERVED_LATENCY, &of(site), &seen.answered);
    sink.histogram(names::OBSERVED_UNANSWERED, &of(site), &seen.unanswered);
}

fn walk_bulkhead(bulkhead: &BulkheadFigures, sink: &mut impl Sink) {
    let figures = [
        (names::BULKHEAD_SLOTS, bulkhead.slots),
        (names::BULKHEAD_LIMIT, bulkhead.limit),
        (names::BULKHEAD_RUNNING, bulkhead.running),
        (names::BULKHEAD_RUNNING_PEAK, bulkhead.peak_running),
        (names::BULKHEAD_QUEUED, bulkhead.queued),
        (names::BULKHEAD_QUEUED_PEAK, bulkhead.peak_queued),
    ];
    for (name, figure) in figures {
        sink.gauge(name, &[("bulkhead", bulkhead.name)], figure.into());
    }
}

fn walk_isolate(isolate: &IsolateFigures, sink: &mut impl Sink) {
    let label = [("isolate", isolate.name)];
    let figures = [
        (names::ISOLATE_THREADS, isolate.threads.into()),
        (names::ISOLATE_STARTED, isolate.started.into()),
        (names::ISOLATE_RUNNING, isolate.running.into()),
        (names::ISOLATE_RUNNING_PEAK, isolate.peak_running.into()),
        (names::ISOLATE_AT_LARGE, isolate.running_abandoned),
        (names::ISOLATE_QUEUED, isolate.queued.into()),
        (names::ISOLATE_QUEUED_PEAK, isolate.peak_queued.into()),
    ];
    for (name, figure) in figures {
        sink.gauge(name, &label, figure as f64);
    }
    sink.counter(names::ISOLATE_ABANDONED, &label, isolate.abandoned);
    sink.histogram(names::ISOLATE_OVERRAN, &label, &isolate.overran);
}
