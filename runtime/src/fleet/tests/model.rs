//! The rule by which shares are given: the sum, fairness, and what happens to those who die.

use proptest::prelude::*;

use super::super::grant::Grants;
use super::*;

/// Asks for one limit after another as long as shares change, as processes do that put in force what they are told.
fn settle(grants: &mut Grants, now: &mut u64, whole: u32, wants: &[u32], shares: &mut [u32], rounds: u64) {
    for _ in 0..rounds {
        *now += 200;
        for (at, want) in wants.iter().enumerate() {
            let number = *now + at as u64;
            let asked = ask(&format!("p{at}"), number, vec![claim("recs", whole, shares[at], *want)]);
            shares[at] = grants.sync(*now, &asked).expect("in order").shares[0];
        }
    }
}

fn shares(whole: u32, wants: &[u32]) -> Vec<u32> {
    let (mut grants, mut now, mut shares) = (Grants::default(), 0, vec![0; wants.len()]);
    settle(&mut grants, &mut now, whole, wants, &mut shares, 12);
    shares
}

#[test]
fn an_idle_fleet_has_equal_parts() {
    assert_eq!(shares(64, &[1; 8]), [8; 8]);
}

#[test]
fn one_that_is_busy_has_what_the_others_do_not_use() {
    assert_eq!(shares(64, &[64, 1, 1, 1, 1, 1, 1, 1]), [57, 1, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn two_that_want_all_have_half_each_of_what_is_left() {
    assert_eq!(shares(64, &[64, 64, 4, 4]), [28, 28, 4, 4]);
}

#[test]
fn what_nobody_wants_is_dealt_out_from_below() {
    assert_eq!(shares(64, &[40, 1, 1, 1]), [40, 8, 8, 8]);
}

#[test]
fn with_fewer_slots_than_processes_all_have_their_turn() {
    let wants = [1; 8];
    let (mut grants, mut now) = (Grants::default(), 0);
    let (mut shares, mut turns) = (vec![0; 8], vec![0_u32; 8]);
    for round in 0..400_u64 {
        now += 200;
        for (at, want) in wants.iter().enumerate() {
            let mut asked = ask(&format!("p{at}"), round + 1, vec![claim("recs", 2, shares[at], *want)]);
            asked.dice = at as u32 * 125_000;
            shares[at] = grants.sync(now, &asked).expect("in order").shares[0];
        }
        assert!(shares.iter().sum::<u32>() <= 2);
        turns.iter_mut().zip(&shares).for_each(|(turns, share)| *turns += share);
    }
    assert!(turns.iter().all(|turns| (50..=150).contains(turns)), "about a hundred of four hundred each: {turns:?}");
}

#[test]
fn a_share_that_shrinks_is_somebody_elses_only_once_it_was_said() {
    let (mut grants, mut now, mut both) = (Grants::default(), 0, vec![0; 2]);
    settle(&mut grants, &mut now, 10, &[10, 1], &mut both, 12);
    assert_eq!(both, [9, 1]);
    now += 100;
    let at = |grants: &mut Grants, process: &str, number: u64, held, want| {
        grants.sync(now, &ask(process, number, vec![claim("recs", 10, held, want)])).expect("in order")
    };
    assert_eq!(at(&mut grants, "p1", 100_000, 1, 10).shares, [1], "nothing is free");
    let told = at(&mut grants, "p0", 100_000, 9, 10);
    assert_eq!((told.shares, told.hurry), (vec![5], true), "and somebody waits");
    assert_eq!(at(&mut grants, "p1", 100_001, 1, 10).shares, [1], "nine may still run over there");
    assert_eq!(at(&mut grants, "p0", 100_001, 7, 10).shares, [5], "of which seven do");
    assert_eq!(at(&mut grants, "p1", 100_002, 1, 10).shares, [3]);
    assert_eq!(at(&mut grants, "p0", 100_002, 5, 10).shares, [5]);
    assert_eq!(at(&mut grants, "p1", 100_003, 3, 10).shares, [5]);
}

#[test]
fn what_a_dead_process_had_is_there_one_lease_later() {
    let (mut grants, mut now, mut both) = (Grants::default(), 0, vec![0; 2]);
    settle(&mut grants, &mut now, 10, &[10, 10], &mut both, 12);
    assert_eq!(both, [5, 5]);
    let last = now;
    let mut share = 5;
    for number in 1..=5 {
        now += 200;
        share = grants
            .sync(now, &ask("p0", 1_000_000 + number, vec![claim("recs", 10, share, 10)]))
            .expect("in order")
            .shares[0];
        assert_eq!(share, if now - last < 1_000 { 5 } else { 10 }, "after {} ms", now - last);
    }
}

#[test]
fn an_emptied_store_honours_what_is_held_and_gives_nobody_more_for_one_lease() {
    let mut grants = Grants::default();
    let mut at = |now, process: &str, held, want| {
        grants.sync(now, &ask(process, now, vec![claim("recs", 64, held, want)])).expect("in order").shares[0]
    };
    assert_eq!(at(1, "p0", 4, 64), 4, "although the store knows of nobody else");
    assert_eq!(at(100, "p1", 60, 64), 32, "to shrink is no danger");
    assert_eq!(at(300, "p0", 4, 64), 4);
    assert_eq!(at(400, "p1", 32, 64), 32);
    assert_eq!(at(900, "p0", 4, 64), 4, "not yet");
    assert_eq!(at(1_100, "p0", 4, 64), 32);
}

#[test]
fn of_two_releases_that_disagree_the_smaller_limit_holds_while_it_is_heard() {
    let (mut grants, mut now, mut share) = (Grants::default(), 0, [0, 0]);
    for round in 0..20_u64 {
        now += 200;
        for (at, whole) in [(0, 32), (1, 64)] {
            if at == 1 || round < 10 {
                let asked = ask(&format!("p{at}"), round + 1, vec![claim("recs", whole, share[at], whole)]);
                share[at] = grants.sync(now, &asked).expect("in order").shares[0];
            }
        }
        if round == 9 {
            assert_eq!(share, [16, 16]);
        }
    }
    assert_eq!(share[1], 64, "the old release has gone");
}

/// What can happen to a process.
#[derive(Clone, Debug)]
enum Happens {
    /// It asks and hears the answer.
    Sync { process: usize, want: u32, running: u32 },
    /// It asks, is heard, and does not hear the answer.
    Lost { process: usize, want: u32 },
    /// The store hears a question again that it has heard before.
    Again { process: usize },
    /// It dies, and another takes its place.
    Restart { process: usize },
    /// It leaves.
    Leave { process: usize },
    /// Time goes on.
    Wait { millis: u64 },
    /// The store loses everything.
    Flush,
}

fn happens() -> impl Strategy<Value = Happens> {
    let process = || 0..6_usize;
    prop_oneof![
        8 => (process(), 0..80_u32, 0..80_u32).prop_map(|(process, want, running)| Happens::Sync { process, want, running }),
        2 => (process(), 0..80_u32).prop_map(|(process, want)| Happens::Lost { process, want }),
        2 => process().prop_map(|process| Happens::Again { process }),
        1 => process().prop_map(|process| Happens::Restart { process }),
        1 => process().prop_map(|process| Happens::Leave { process }),
        3 => (1..700_u64).prop_map(|millis| Happens::Wait { millis }),
        1 => Just(Happens::Flush),
    ]
}

/// A process as it sees itself. `held` is what it may be using until `ends`.
#[derive(Clone, Default)]
struct Seen {
    life: u32,
    number: u64,
    share: u32,
    running: u32,
    ends: u64,
    last: Option<Ask>,
}

impl Seen {
    fn question(&mut self, at: usize, whole: u32, want: u32, now: u64) -> Ask {
        self.number += 1;
        // After the end of its lease it uses nothing here, so that the sum is only of what was leased.
        if self.ends <= now {
            (self.share, self.running) = (0, 0);
        }
        let held = self.share.max(self.running);
        let asked = ask(&format!("p{at}.{}", self.life), self.number, vec![claim("recs", whole, held, want)]);
        self.last = Some(asked.clone());
        asked
    }

    /// What it may be running.
    fn uses(&self, now: u64) -> u32 {
        if self.ends <= now { 0 } else { self.share.max(self.running) }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn no_more_is_leased_than_there_is_whatever_happens(whole in 1..64_u32, events in prop::collection::vec(happens(), 1..120)) {
        let (mut grants, mut now, mut all) = (Grants::default(), 1_000_u64, vec![Seen::default(); 6]);
        for event in events {
            match event {
                Happens::Sync { process, want, running } => {
                    let seen = &mut all[process];
                    // Calls that run when it asks stay running; those that begin do so within its share.
                    let held = seen.uses(now);
                    let asked = seen.question(process, whole, want, now);
                    if let Ok(answer) = grants.sync(now, &asked) {
                        seen.running = running.min(held);
                        seen.share = answer.shares[0];
                        seen.ends = now + 1_000;
                    }
                }
                Happens::Lost { process, want } => {
                    let asked = all[process].question(process, whole, want, now);
                    let _ = grants.sync(now, &asked);
                }
                Happens::Again { process } => {
                    if let Some(asked) = &all[process].last {
                        prop_assume!(asked.number > 0);
                        // Heard twice while it is a member: refused. After its lease: it holds what it does not use.
                        let _ = grants.sync(now, asked);
                    }
                }
                Happens::Restart { process } => {
                    // What it ran has died with it.
                    all[process] = Seen { life: all[process].life + 1, ..Seen::default() };
                }
                Happens::Leave { process } => {
                    let seen = &mut all[process];
                    seen.number += 1;
                    let goodbye = Ask { leaves: true, ..ask(&format!("p{process}.{}", seen.life), seen.number, vec![]) };
                    let _ = grants.sync(now, &goodbye);
                    (seen.share, seen.running, seen.ends) = (0, 0, 0);
                }
                Happens::Wait { millis } => now += millis,
                Happens::Flush => grants = Grants::default(),
            }
            let used: u32 = all.iter().map(|seen| seen.uses(now)).sum();
            prop_assert!(used <= whole, "{used} of {whole} at {now}");
            prop_assert!(grants.given("recs") <= i64::from(whole));
        }
    }

    #[test]
    fn shares_come_near_to_max_min_and_to_all_of_it(wants in prop::collection::vec(1..200_u32, 2..12), whole in 12..300_u32) {
        let given = shares(whole, &wants);
        let total: u32 = given.iter().sum();
        prop_assert!(total <= whole);
        // Nobody who is still short has less than half of what somebody else has beyond its own want.
        let most = given.iter().copied().max().unwrap_or(0);
        for (share, want) in given.iter().zip(&wants) {
            prop_assert!(share >= want || 2 * share + 2 >= most, "{given:?} for {wants:?} of {whole}");
        }
        let short = given.iter().zip(&wants).any(|(share, want)| share < want);
        prop_assert!(!short || total + u32::try_from(wants.len()).unwrap_or(0) * 2 + whole / 4 >= whole, "{given:?} for {wants:?} of {whole}");
    }
}
