//! The estimates against distributions whose truth is known.

use std::time::Duration;

use super::*;
use crate::base::histogram::Bands;
use crate::call::ObservedFate;
use crate::call::beyond::Beyond;

const MS: u64 = 1_000_000;

/// Draws that are the same in every run.
struct Dice(fastrand::Rng);

impl Dice {
    fn new() -> Self {
        Self(fastrand::Rng::with_seed(7))
    }

    /// A normal draw (Box and Muller).
    fn normal(&mut self) -> f64 {
        let (one, two) = (self.0.f64().max(1e-12), self.0.f64());
        (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * two).cos()
    }

    /// 97 of 100 about 40 ms, 3 about 350 ms: in milliseconds.
    fn latency(&mut self) -> f64 {
        let (median, spread) = if self.0.f64() < 0.97 { (40.0, 0.6) } else { (350.0, 0.48) };
        median * f64::exp(spread * self.normal())
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn nanos(ms: f64) -> u64 {
    (ms * 1e6) as u64
}

/// Attempts under a timeout, of which a share was drawn before it began, to run on to a cap.
fn measured(attempts: usize, timeout: f64, observed: f64, cap: f64) -> (Curve, Vec<f64>) {
    measured_with(Dice::new(), attempts, timeout, observed, cap)
}

fn measured_with(mut dice: Dice, attempts: usize, timeout: f64, observed: f64, cap: f64) -> (Curve, Vec<f64>) {
    let mut truth = Vec::new();
    let (mut completed, mut cut_off, beyond) = (Bands::default(), Bands::default(), Beyond::new());
    for _ in 0..attempts {
        let latency = dice.latency();
        truth.push(latency);
        let is_drawn = dice.0.f64() < observed;
        if latency <= timeout {
            completed.record(nanos(latency));
            continue;
        }
        cut_off.record(nanos(timeout));
        if is_drawn && beyond.begin(1) {
            let fate = if latency <= cap { ObservedFate::Answered } else { ObservedFate::Capped };
            beyond.end(fate, nanos(timeout), nanos(latency.min(cap)));
        }
    }
    truth.sort_by(f64::total_cmp);
    (Curve::observing(&completed, &cut_off, beyond.read().as_ref()), truth)
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let at = (share * sorted.len() as f64) as usize;
    sorted[at.min(sorted.len() - 1)]
}

fn ms(length: Duration) -> f64 {
    length.as_secs_f64() * 1e3
}

#[test]
fn a_tail_of_which_two_in_a_hundred_are_left_running_is_known() {
    let (curve, truth) = measured(200_000, 300.0, 0.02, 3_000.0);
    let estimate = |share| curve.quantile(share).expect("seen");
    let (p99, p999) = (estimate(0.99), estimate(0.999));
    assert!((ms(p99.length) / quantile(&truth, 0.99) - 1.0).abs() < 0.1, "{p99:?}");
    assert!((ms(p999.length) / quantile(&truth, 0.999) - 1.0).abs() < 0.3, "{p999:?}");
    for (estimate, share) in [(p99, 0.99), (p999, 0.999)] {
        let truth = quantile(&truth, share);
        let high = estimate.high.map_or(f64::INFINITY, ms);
        assert!(ms(estimate.low) * 0.94 <= truth && truth <= high * 1.07, "{estimate:?} holds {truth}");
    }
}

#[test]
fn what_was_observed_changes_nothing_below_the_limit_and_not_what_the_limit_cuts_off() {
    let (with, _) = measured(200_000, 300.0, 0.02, 3_000.0);
    let (without, _) = measured(200_000, 300.0, 0.0, 3_000.0);
    assert_eq!((with.count(), with.cut_off()), (without.count(), without.cut_off()));
    assert!(with.observed() > 50 && without.observed() == 0);
    for share in [0.5, 0.9, 0.95] {
        assert_eq!(with.quantile(share).map(|it| it.length), without.quantile(share).map(|it| it.length));
    }
    let limit = Duration::from_millis(300);
    assert_eq!(cut_by(&with, limit), cut_by(&without, limit), "counted, and not estimated");
    assert!(without.beyond(Duration::from_millis(500)).is_none());
    let beyond = with.beyond(Duration::from_millis(500)).expect("observed");
    assert!(beyond.low < 0.007 && 0.007 < beyond.high, "0.7 % take longer than 500 ms: {beyond:?}");
}

#[test]
fn a_few_that_were_observed_are_no_tail_and_the_advice_says_how_many_are_needed() {
    let (curve, _) = measured(200_000, 300.0, 0.002, 3_000.0);
    assert!((1..20).contains(&curve.observed()), "{}", curve.observed());
    assert_eq!(curve.quantile(0.999), None);
    let site = Declaration::new("tail", "m", "f.rs", 1).timeout(timeout::Config::new(300 * MS));
    let text = SiteAdvice::from(&site, &[], &curve, 1.0).to_string();
    assert!(text.contains("nobody has seen how long") && text.contains("20 are needed"), "{text}");
}

#[test]
fn when_the_last_of_a_few_has_ended_it_is_not_certain_that_nothing_takes_longer() {
    let (curve, _) = measured(200_000, 300.0, 0.02, 60_000.0);
    let (_, last, _) = curve.steps().last().expect("seen");
    assert!(last.share <= 0.0, "all that ran on have answered");
    assert!(last.high > 3.0 / 200_000.0 * 5.0, "two hundred thousand did not see it: {last:?}");
}

#[test]
fn a_tail_that_is_cut_off_is_said_to_be_unknown_and_not_to_be_short() {
    let (curve, truth) = measured(200_000, 300.0, 0.0, 0.0);
    assert!(quantile(&truth, 0.99) > 400.0);
    assert_eq!(curve.quantile(0.99), None, "nobody was watched for so long");
    let cut = cut_by(&curve, Duration::from_millis(300)).expect("that is what it cuts off");
    let share = truth.iter().filter(|latency| **latency > 300.0).count() as f64 / truth.len() as f64;
    assert!(cut.low * 0.98 <= share && share <= cut.high * 1.02, "{cut:?} holds {share}");
    let advised = Advised::from(&curve);
    assert!(matches!(advised, Advised::Unknown { running, .. } if (running - share).abs() < 0.002), "{advised:?}");
}

#[test]
fn what_a_shorter_timeout_would_cut_off_is_known_from_a_longer_one() {
    let (curve, truth) = measured(200_000, 3_000.0, 0.0, 0.0);
    for limit in [100_u32, 150, 200, 300, 400, 500, 1_000] {
        let share = truth.iter().filter(|latency| **latency > f64::from(limit)).count() as f64 / truth.len() as f64;
        let cut = curve.beyond(Duration::from_millis(limit.into())).expect("watched longer");
        // A band is a sixteenth of a doubling wide, and the limit lies somewhere in it.
        assert!(cut.share >= share * 0.99 && cut.share < share * 1.5 + 0.001, "{limit}: {cut:?} for {share}");
    }
    let none = curve.beyond(Duration::from_secs(100)).expect("all have completed");
    assert!(none.share <= 0.0 && none.high > 0.0 && none.high < 0.0001, "{none:?}");
}

#[test]
fn two_kinds_of_answers_are_two_bands_and_one_is_one() {
    let mut dice = Dice::new();
    let (mut one, mut two) = (Bands::default(), Bands::default());
    for turn in 0..50_000 {
        let (median, spread) = if turn % 100 < 97 { (40.0, 0.3) } else { (350.0, 0.2) };
        two.record(nanos(median * f64::exp(spread * dice.normal())));
    }
    let bands = bands::find(&Curve::new(&two, &Bands::default()));
    assert_eq!(bands.len(), 2, "{bands:?}");
    assert!((bands[0].share - 0.97).abs() < 0.005 && (bands[1].share - 0.03).abs() < 0.005, "{bands:?}");
    assert!((300.0..400.0).contains(&ms(bands[1].peak)), "{bands:?}");
    assert!(bands[0].to <= bands[1].from + Duration::from_millis(20));
    for _ in 0..50_000 {
        one.record(nanos(40.0 * f64::exp(0.6 * dice.normal())));
    }
    let bands = bands::find(&Curve::new(&one, &Bands::default()));
    assert_eq!(bands.len(), 1, "{bands:?}");
    assert!((bands[0].share - 1.0).abs() < 1e-9);
}

#[test]
fn a_timeout_is_advised_in_round_figures_and_above_the_last_band() {
    let (curve, truth) = measured(200_000, 5_000.0, 0.0, 0.0);
    let Advised::Timeout(length) = Advised::from(&curve) else { panic!("everything was seen") };
    let p999 = quantile(&truth, 0.999);
    assert!(ms(length.length) >= p999 && ms(length.length) < p999 * 1.2, "{length:?} for {p999}");
    assert_eq!(nanos(ms(length.length)) % (10 * MS), 0, "two figures: {length:?}");
    assert_eq!(Advised::from(&Curve::new(&Bands::default(), &Bands::default())), Advised::TooFew);
}

#[test]
fn the_mean_up_to_a_limit_is_what_a_slot_is_held_for() {
    let (mut completed, mut cut_off) = (Bands::default(), Bands::default());
    for _ in 0..900 {
        completed.record(100 * MS);
    }
    for _ in 0..100 {
        cut_off.record(300 * MS);
    }
    let curve = Curve::new(&completed, &cut_off);
    let mean = ms(curve.mean_until(Duration::from_millis(300)));
    assert!((mean - (0.9 * 100.0 + 0.1 * 300.0)).abs() < 4.0, "{mean}");
    assert_eq!(Curve::new(&Bands::default(), &Bands::default()).mean_until(Duration::from_secs(1)), Duration::ZERO);
}

#[test]
fn slots_follow_from_the_load_and_leave_room() {
    let hold = Duration::from_millis(100);
    assert!((sizing::occupied(80.0, hold) - 8.0).abs() < 1e-9, "Little's law");
    // Worked out by hand from the formula with factorials.
    assert!((sizing::share_that_waits(8.0, 14) - 0.0393).abs() < 0.0001);
    assert_eq!(sizing::slots(80.0, hold), 14);
    assert_eq!(sizing::slots(0.0, hold), 1);
    assert!((sizing::share_that_waits(8.0, 8) - 1.0).abs() < 1e-9, "a full house");
    let mut last = 0;
    for rate in 1..400 {
        let slots = sizing::slots(f64::from(rate), hold);
        assert!(slots >= last && f64::from(slots) > f64::from(rate) * 0.1);
        last = slots;
    }
}

/// Two hundred thousand calls each, of which some eighty are watched on.
#[test]
fn of_twenty_services_with_that_tail_almost_all_are_told_it_and_the_intervals_hold_it() {
    let (mut near, mut held) = ([0; 2], [0; 2]);
    for seed in 0..20 {
        let (curve, truth) = measured_with(Dice(fastrand::Rng::with_seed(seed)), 200_000, 300.0, 0.02, 3_000.0);
        for (at, (share, within)) in [(0.99, 0.1), (0.999, 0.3)].into_iter().enumerate() {
            let (truth, estimate) = (quantile(&truth, share), curve.quantile(share).expect("observed"));
            near[at] += u32::from((ms(estimate.length) / truth - 1.0).abs() < within);
            let high = estimate.high.map_or(f64::INFINITY, ms);
            held[at] += u32::from(ms(estimate.low) * 0.94 <= truth && truth <= high);
        }
    }
    println!("of 20: p99 within 10 % {}, p99.9 within 30 % {}; intervals hold {held:?}", near[0], near[1]);
    assert!(near[0] >= 16 && near[1] >= 18, "{near:?}");
    assert!(held.iter().all(|held| *held >= 18), "{held:?}");
}
