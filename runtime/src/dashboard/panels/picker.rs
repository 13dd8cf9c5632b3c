//! What another timeout would do, from the last hour.
//!
//! For each of some sixty candidates on a logarithmic scale: what share of attempts it cuts off, with the interval, and how
//! many an hour; how many attempts a call then has, and how many calls fail in the end, once if attempts fail independently
//! of each other and once if a dependency that is slow once is slow again; the longest a call can take; the slots that the
//! work needs. Beyond what anybody was watched the shares are `null`.

use std::time::Duration;

use serde_json::{Value, json};

use super::{View, compare, curve};
use crate::advice::{Curve, SiteAdvice, cut_by, ms, sizing};
use crate::call::ObservedFate;
use crate::dashboard::history::marks::Marks;
use crate::dashboard::history::outcome::no_slot;
use crate::declaration::Declaration;
use crate::listing::WorstCase;
use crate::strategies::timeout;

/// Candidates to a tenfold of the length.
const A_DECADE: f64 = 16.0;

pub(super) fn panel(view: &View<'_>) -> Value {
    let (Some(curve), Some(site)) = (curve(view), view.site()) else { return Value::Null };
    let Some(watched_until) = curve.watched_until() else { return Value::Null };
    let hour = site.last_hour();
    let over = (view.kept.seconds.min(3_600) as f64).max(1.0);
    // What was there before the dashboard came is in the curve, and its rate is not known.
    let recent: u64 = site.frames.frames(view.span).iter().map(|frame| u64::from(frame.attempts)).sum();
    let seconds = (site.frames.frames(view.span).len() * view.span.step()).max(1);
    let rate = recent as f64 / seconds as f64;
    // Whoever was refused a slot wanted one all the same.
    let refused: u64 = site.frames.frames(view.span).iter().map(|frame| no_slot(&frame.outcomes)).sum();
    let demand = (recent + refused) as f64 / seconds as f64;
    let advice = SiteAdvice::from(view.declaration, view.all, &curve, demand);
    let candidates = candidates(view.declaration, watched_until);
    let retried = retries_of_timeouts(view.declaration);
    json!({
        "count": curve.count(),
        "cut_off": curve.cut_off(),
        "observed": observed(&hour),
        "over": over,
        "calls": hour.calls(),
        "watched_until": ms(watched_until),
        "curve": points(&curve),
        "advice": advice.json(),
        "rate": rate,
        "demand": demand,
        "retries_of_timeouts": retried,
        "compare": compare::panel(view, &candidates),
        "candidates": candidates.iter().map(|it| candidate(view, &curve, *it, [rate, demand], retried)).collect::<Vec<_>>(),
    })
}

/// What ran on beyond its limit in the last hour: how many, what became of them, and how many do now.
fn observed(hour: &Marks) -> Value {
    let Some(seen) = &hour.observed else { return Value::Null };
    let fates: serde_json::Map<String, Value> =
        ObservedFate::ALL.into_iter().map(|fate| (fate.as_str().to_owned(), json!(seen.by(fate)))).collect();
    json!({ "watched": seen.watched(), "running": seen.running, "fates": fates })
}

/// How often a timeout is tried again.
fn retries_of_timeouts(declaration: &Declaration) -> u32 {
    let retry = declaration.retry.filter(|retry| retry.on.timeout && !declaration.observe.retry);
    retry.map_or(0, |retry| retry.max)
}

/// Length, share beyond, and the ends of the interval.
pub(super) fn points(curve: &Curve) -> Vec<[f64; 4]> {
    let all: Vec<_> = curve.steps().collect();
    let first = all.iter().position(|(_, beyond, _)| beyond.share < 1.0).unwrap_or(0);
    let kept = all
        .iter()
        .enumerate()
        .filter(|(at, (_, _, within))| *at + 1 >= first && (*within > 0.0 || at + 1 == all.len()));
    kept.map(|(_, (until, beyond, _))| [*until as f64 / 1e6, beyond.share, beyond.low, beyond.high]).collect()
}

fn candidates(declaration: &Declaration, watched_until: Duration) -> Vec<Duration> {
    let in_force = declaration.timeout.map(timeout::Config::nanos).map(Duration::from_nanos);
    let most = in_force.unwrap_or_default().max(watched_until).as_secs_f64() * 4.0;
    let steps = (0..).map(|step| 0.001 * 10_f64.powf(f64::from(step) / A_DECADE));
    let mut all: Vec<_> = steps.take_while(|length| *length <= most).map(two_figures).collect();
    all.extend(in_force);
    all.sort_unstable();
    all.dedup();
    // Four decades below the longest are as many as anybody looks at.
    let from = all.len().saturating_sub(64);
    all.split_off(from)
}

fn two_figures(seconds: f64) -> Duration {
    let scale = 10_f64.powf(seconds.log10().floor() - 1.0);
    Duration::from_secs_f64((seconds / scale).round() * scale)
}

fn candidate(view: &View<'_>, curve: &Curve, timeout: Duration, [rate, demand]: [f64; 2], retried: u32) -> Value {
    let cut = cut_by(curve, timeout);
    let hold = curve.mean_until(timeout);
    let declared =
        Declaration { timeout: Some(timeout::Config::new(crate::base::clock::nanos(timeout))), ..*view.declaration };
    let worst = WorstCase::of(&declared, view.all);
    let share = cut.map(|cut| cut.share);
    let attempts = share
        .map(|share| (0..=retried).map(|attempt| share.powi(i32::try_from(attempt).unwrap_or(i32::MAX))).sum::<f64>());
    json!({
        "ms": ms(timeout),
        "cut": cut.map(crate::advice::Share::json),
        "per_hour": share.map(|share| share * rate * 3_600.0),
        "attempts": attempts,
        "fails_if_independent": share.map(|share| share.powi(i32::try_from(retried + 1).unwrap_or(i32::MAX))),
        "fails_if_not": share,
        "hold": ms(hold),
        "occupied": sizing::occupied(demand, hold),
        "slots": sizing::slots(demand, hold),
        "worst": worst.without_deadline().map(ms),
        "deadline": worst.deadline.map(ms),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::histogram::Bands;
    use crate::dashboard::history::Kept;
    use crate::dashboard::history::ring::Span;
    use crate::strategies::retry;

    const SITE: Declaration = Declaration::new("f", "m", "f.rs", 1)
        .timeout(timeout::Config::new(300_000_000))
        .retry(retry::Config::new(2).on_timeout())
        .idempotent();

    #[test]
    fn candidates_are_round_in_order_and_hold_the_timeout_in_force() {
        let all = candidates(&SITE, Duration::from_secs(2));
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]) && all.len() <= 64);
        assert!(all.contains(&Duration::from_millis(300)));
        assert!(*all.last().expect("some") >= Duration::from_secs(7), "well beyond what was watched");
        assert_eq!(two_figures(0.004_216), Duration::from_micros(4_200));
    }

    #[test]
    fn a_shorter_timeout_cuts_more_and_what_lies_beyond_is_not_guessed() {
        let (mut completed, mut cut_off) = (Bands::default(), Bands::default());
        for turn in 0..1_000_u64 {
            if turn < 900 { completed.record(20_000_000 + turn * 100_000) } else { cut_off.record(300_000_000) }
        }
        let curve = Curve::new(&completed, &cut_off);
        let kept = Kept::default();
        let all = [&SITE];
        let view = View { kept: &kept, span: Span::Hour, id: "", declared: &SITE, declaration: &SITE, all: &all };
        let of = |length| candidate(&view, &curve, Duration::from_millis(length), [10.0, 12.0], 2);
        let cut = |length| of(length)["cut"]["share"].as_f64();
        assert!((cut(300).expect("in force") - 0.1).abs() < 1e-9);
        assert!(cut(60).expect("watched") > 0.5);
        assert_eq!(cut(1_000), None, "nobody was watched for so long");
        let in_force = of(300);
        assert!((in_force["attempts"].as_f64().expect("known") - 1.11).abs() < 1e-9, "1 + 0.1 + 0.01");
        assert!((in_force["fails_if_independent"].as_f64().expect("known") - 0.001).abs() < 1e-9);
        assert!((in_force["per_hour"].as_f64().expect("known") - 3_600.0).abs() < 1e-6);
        assert_eq!(in_force["worst"], 1_050.0, "three attempts and two pauses");
    }
}
