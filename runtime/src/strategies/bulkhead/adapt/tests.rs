//! The controller against a model of a dependency, and its bounds against anything.

#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a model's lengths are positive and small

use proptest::prelude::*;

use super::decide::*;
use crate::base::clock::Moment;

const MS: u64 = 1_000_000;

/// A dependency with so many workers: what a call takes when so many are in flight.
fn takes(workers: f64, length: f64, in_flight: f64) -> u64 {
    (length * (in_flight / workers).max(1.0) * MS as f64) as u64
}

/// Time passes as calls end, all slots in use.
struct World {
    controller: Controller,
    now: Moment,
}

impl World {
    fn new(floor: u32, ceiling: u32) -> Self {
        Self { controller: Controller::new(floor, ceiling), now: Moment::from_raw(0) }
    }

    /// The most slots there were: at any one moment an experiment may be under way.
    fn run(&mut self, calls: u32, takes: impl Fn(f64) -> u64) -> u32 {
        let mut highest = 0;
        for _ in 0..calls {
            let slots = f64::from(self.controller.slots());
            let took = takes(slots);
            self.now = self.now.plus((took as f64 / slots) as u64);
            self.controller.learn(Sample { took, ended: Ended::Answered, busy: true }, self.now, 0.5);
            highest = highest.max(self.controller.slots());
        }
        highest
    }

    fn hang(&mut self, calls: u32) {
        for _ in 0..calls {
            let took = 300 * MS;
            self.now = self.now.plus(took / u64::from(self.controller.slots()));
            self.controller.learn(Sample { took, ended: Ended::TimedOut, busy: true }, self.now, 0.5);
        }
    }
}

#[test]
fn it_finds_the_knee_from_below_and_from_above() {
    for workers in [3_u32, 8, 40, 100] {
        let mut world = World::new(2, 200);
        world.run(60_000, |slots| takes(f64::from(workers), 50.0, slots));
        let found = world.run(1_000, |slots| takes(f64::from(workers), 50.0, slots));
        assert!((workers..=workers * 3 / 2 + 1).contains(&found), "{workers} workers, {found} slots");
        // Most of them are taken away.
        world.run(60_000, |slots| takes(f64::from(workers) / 3.0, 50.0, slots));
        let found = world.run(1_000, |slots| takes(f64::from(workers) / 3.0, 50.0, slots));
        assert!(found <= workers / 2 + 2, "{workers} workers less two thirds, {found} slots");
    }
}

#[test]
fn slowness_without_congestion_costs_no_slots_for_long() {
    let mut world = World::new(2, 64);
    world.run(20_000, |slots| takes(40.0, 50.0, slots));
    let before = world.run(1_000, |slots| takes(40.0, 50.0, slots));
    world.run(5_000, |slots| takes(40.0, 200.0, slots));
    let after = world.run(1_000, |slots| takes(40.0, 200.0, slots));
    assert!(after >= before * 4 / 5, "{before} before, {after} after");
}

#[test]
fn a_hanging_dependency_is_left_to_the_floor_and_asked_again_when_it_answers() {
    let mut world = World::new(3, 64);
    world.run(20_000, |slots| takes(40.0, 50.0, slots));
    world.hang(2_000);
    assert_eq!(world.controller.slots(), 3);
    world.run(20_000, |slots| takes(40.0, 50.0, slots));
    let again = world.run(1_000, |slots| takes(40.0, 50.0, slots));
    assert!(again >= 40, "{again}");
}

#[test]
fn an_attempt_that_was_given_no_time_says_nothing() {
    let mut world = World::new(2, 64);
    world.run(20_000, |slots| takes(40.0, 50.0, slots));
    let before = world.controller.slots();
    for _ in 0..5_000 {
        world.now = world.now.plus(MS);
        let late = Sample { took: 10 * MS, ended: Ended::OutOfTime, busy: true };
        assert_eq!(world.controller.learn(late, world.now, 0.5), None);
    }
    assert_eq!(world.controller.slots(), before);
}

#[test]
fn slots_that_nobody_uses_stay_as_they_are() {
    let mut controller = Controller::new(2, 64);
    let mut now = Moment::from_raw(0);
    for _ in 0..1_000 {
        now = now.plus(20 * MS);
        assert_eq!(controller.learn(Sample { took: 50 * MS, ended: Ended::Answered, busy: false }, now, 0.5), None);
    }
}

fn sample() -> impl Strategy<Value = (Sample, u64, f64)> {
    let ended = prop_oneof![8 => Just(Ended::Answered), 1 => Just(Ended::TimedOut), 1 => Just(Ended::OutOfTime)];
    (any::<u64>(), ended, any::<bool>(), any::<u64>(), 0.0..1.0)
        .prop_map(|(took, ended, busy, gap, roll)| (Sample { took: took >> 20, ended, busy }, gap >> 30, roll))
}

proptest! {
    #[test]
    fn whatever_it_is_told_it_stays_between_floor_and_ceiling(
        floor in 1_u32..50,
        more in 0_u32..200,
        told in prop::collection::vec(sample(), 0..2_000),
    ) {
        let ceiling = floor + more;
        let mut controller = Controller::new(floor, ceiling);
        let mut now = Moment::from_raw(0);
        for (sample, gap, roll) in told {
            now = now.plus(gap);
            let before = controller.slots();
            let changed = controller.learn(sample, now, roll);
            let after = controller.slots();
            prop_assert!((floor..=ceiling).contains(&after));
            prop_assert_eq!(changed.is_some(), before != after);
        }
    }
}
