//! The compartments against a model that does everything the slow way, and what can be said of turns.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::task::Wake;

use proptest::prelude::*;

use super::*;

/// A waker that says who was woken.
struct Says(Mutex<Vec<u32>>, u32);

impl Wake for Says {
    fn wake(self: Arc<Self>) {
        self.0.lock().unwrap().push(self.1);
    }
}

fn leaked(slots: u32, queue: u32, total: Option<u32>) -> &'static Keyed {
    Box::leak(Box::new(Keyed::new("tenants", Limits { slots, queue }, total)))
}

fn hold(keyed: &'static Keyed, key: u128) -> InKey {
    keyed.hold(key, || key.to_string().into(), || 0)
}

/// A call in the table, as the pipeline keeps one.
struct Call {
    keyed: &'static Keyed,
    key: InKey,
    has: Option<Has>,
}

enum Has {
    Slot(#[allow(dead_code)] Slot),
    Place(Waiting),
}

impl Drop for Call {
    fn drop(&mut self) {
        self.has = None;
        self.keyed.let_go(self.key.0);
    }
}

impl Call {
    fn begin(keyed: &'static Keyed, key: u128) -> Self {
        Self { keyed, key: hold(keyed, key), has: None }
    }

    /// Asks; what it came to.
    fn ask(&mut self, waker: &Waker) -> &'static str {
        let asked = self.keyed.try_enter(self.key).unwrap_or_else(|| self.keyed.enqueue(self.key, waker.clone()));
        let (has, said) = match asked {
            Queued::Slot(slot) => (Some(Has::Slot(slot)), "runs"),
            Queued::Waiting(waiting) => (Some(Has::Place(waiting)), "waits"),
            Queued::Full(_) => (None, "refused"),
        };
        self.has = has;
        said
    }

    /// Looks whether its slot was handed over.
    fn look(&mut self) -> bool {
        let cx = std::task::Context::from_waker(Waker::noop());
        let Some(Has::Place(waiting)) = &mut self.has else { return false };
        let std::task::Poll::Ready(slot) = waiting.poll_slot(&cx) else { return false };
        self.has = Some(Has::Slot(slot));
        true
    }
}

fn asked(keyed: &'static Keyed, key: u128) -> (Call, &'static str) {
    let mut call = Call::begin(keyed, key);
    let said = call.ask(Waker::noop());
    (call, said)
}

#[test]
fn each_key_has_slots_and_a_queue_of_its_own() {
    let keyed = leaked(2, 1, None);
    let (_a, said) = asked(keyed, 1);
    assert_eq!(said, "runs");
    let (_b, said) = asked(keyed, 1);
    assert_eq!(said, "runs");
    let (_c, said) = asked(keyed, 1);
    assert_eq!(said, "waits");
    let (_d, said) = asked(keyed, 1);
    assert_eq!(said, "refused");
    let (_e, said) = asked(keyed, 2);
    assert_eq!(said, "runs", "another key knows nothing of it");
    let census = keyed.census();
    assert_eq!((census.kept, census.idle), (2, 0));
    assert_eq!((&*census.seen[0].shown, census.seen[0].count), ("1", 4));
    assert_eq!((&*census.refused[0].shown, census.refused[0].count), ("1", 1));
}

#[test]
fn a_million_keys_one_after_another_leave_a_few_and_none_that_is_held() {
    let keyed = leaked(1, 0, None);
    let kept = asked(keyed, u128::MAX).0;
    for key in 0..100_000_u128 {
        // Spread as hashes are.
        let (call, said) = asked(keyed, key.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
        assert_eq!(said, "runs");
        drop(call);
    }
    let census = keyed.census();
    assert!(census.kept <= SHARDS * crate::base::table::KEPT + 1, "{}", census.kept);
    assert_eq!(census.kept - census.idle, 1);
    assert_eq!(asked(keyed, u128::MAX).1, "refused", "its slot is still taken");
    drop(kept);
    assert_eq!(asked(keyed, u128::MAX).1, "runs");
}

#[test]
fn many_keys_at_once_are_forgotten_when_the_last_has_ended() {
    let keyed = leaked(1, 0, None);
    let spread = |key: u128| key.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    let mut calls: Vec<Call> = (0..50_000).map(|key| asked(keyed, spread(key)).0).collect();
    assert_eq!(keyed.census().kept, 50_000);
    // Not in the order in which they came.
    while !calls.is_empty() {
        let at = calls.len() * 7 / 11;
        drop(calls.swap_remove(at));
    }
    let census = keyed.census();
    assert_eq!((census.kept, census.kept), (census.idle, SHARDS * crate::base::table::KEPT));
    for key in 0..50_000 {
        assert_eq!(asked(keyed, spread(key)).1, "runs", "and every place is as good as new");
    }
}

#[test]
fn with_a_total_a_loud_key_and_a_quiet_one_take_turns() {
    let keyed = leaked(4, 1_000, Some(4));
    let mut running: Vec<Call> = (0..4).map(|_| asked(keyed, 1).0).collect();
    let mut loud: Vec<Call> = (0..100).map(|_| asked(keyed, 1).0).collect();
    let (mut quiet, said) = asked(keyed, 2);
    assert_eq!(said, "waits", "it has slots of its own, and the total has none");
    let (mut other, _) = asked(keyed, 3);
    // The loud key has its own slots taken, so it stands in the ring only as they come free: behind the two.
    running.pop();
    assert!(quiet.look() && !other.look());
    running.pop();
    assert!(other.look(), "each key one, before any gets a second");
    running.pop();
    assert!(loud[0].look() && !loud[1].look(), "then the loud one, its oldest first");
    let all = keyed.occupancy();
    assert_eq!((all.running, all.peak_running), (4, 4));
}

#[test]
fn a_key_whose_waiters_have_gone_loses_its_turn_and_nothing_else() {
    let keyed = leaked(1, 10, Some(1));
    let first = asked(keyed, 1).0;
    for _ in 0..1_000 {
        drop(asked(keyed, 2).0);
    }
    let mut third = asked(keyed, 3).0;
    drop(first);
    assert!(third.look());
}

#[test]
fn bounds_can_be_changed_under_load() {
    let keyed = leaked(4, 100, Some(8));
    let mut calls: Vec<Call> = (0..40).map(|n| asked(keyed, n % 4).0).collect();
    assert_eq!((keyed.occupancy().running, keyed.occupancy().queued), (8, 32));
    keyed.resize(Limits { slots: 8, queue: 100 }, Some(20));
    assert_eq!((keyed.occupancy().running, keyed.occupancy().queued), (20, 20));
    keyed.resize(Limits { slots: 1, queue: 100 }, Some(20));
    for call in &mut calls {
        call.look();
    }
    calls.drain(..20);
    while keyed.occupancy().running > 0 {
        let (ready, rest): (Vec<_>, Vec<_>) =
            calls.into_iter().partition(|call| matches!(call.has, Some(Has::Slot(_))));
        drop(ready);
        calls = rest;
        for call in &mut calls {
            call.look();
        }
        assert!(keyed.occupancy().running <= 4, "one for each key");
    }
    assert!(calls.is_empty(), "all were served");
}

#[test]
fn two_keys_of_one_number_are_not_found_by_trying() {
    let numbers: std::collections::HashSet<u128> =
        (0..100_000).map(|n: u64| crate::base::number::identify(&format!("tenant-{n}"))).collect();
    assert_eq!(numbers.len(), 100_000);
    assert_eq!(crate::base::number::identify("acme"), crate::base::number::identify(&"acme".to_owned()));
}

#[test]
fn what_is_shown_of_a_key_is_short() {
    let long = "\u{e9}".repeat(5_000);
    let shown = crate::base::number::beginning(&long);
    assert!(shown.len() <= 68 && shown.ends_with('…'), "{}", shown.len());
    assert_eq!(&*crate::base::number::beginning(""), "");
}

#[derive(Clone, Debug)]
enum Op {
    Ask(u32),
    /// Ends one that runs.
    End(usize),
    /// Drops one that waits, looked at or not.
    Leave(usize),
}

/// Everything the slow way: who runs, who waits, whose turn it is.
#[derive(Default)]
struct Model {
    running: BTreeMap<u32, u32>,
    /// In the order in which they came: number and key.
    waiting: Vec<(u32, u32)>,
    ring: Vec<u32>,
}

impl Model {
    fn of(&self, key: u32) -> (u32, u32) {
        let waiting = self.waiting.iter().filter(|(_, of)| *of == key).count();
        (self.running.get(&key).copied().unwrap_or(0), u32::try_from(waiting).unwrap())
    }

    fn all(&self) -> u32 {
        self.running.values().sum()
    }

    /// Whoever is in turn gets what is free, and whoever may stand in the ring does.
    fn settle(&mut self, bounds: Bounds, granted: &mut Vec<u32>) {
        loop {
            let eligible = |model: &Self, key: u32| model.of(key).1 > 0 && model.of(key).0 < bounds.slots;
            let ring = std::mem::take(&mut self.ring);
            self.ring = ring.into_iter().filter(|&key| self.of(key).1 > 0).collect();
            let keys: Vec<u32> = self.waiting.iter().map(|(_, key)| *key).collect();
            for key in keys {
                if eligible(self, key) && !self.ring.contains(&key) {
                    self.ring.push(key);
                }
            }
            let has_room = bounds.total.is_none_or(|total| self.all() < total);
            let Some(place) = self.ring.iter().position(|&key| eligible(self, key)).filter(|_| has_room) else {
                return;
            };
            let key = self.ring.remove(place);
            let oldest = self.waiting.iter().position(|(_, of)| *of == key).unwrap();
            granted.push(self.waiting.remove(oldest).0);
            *self.running.entry(key).or_default() += 1;
            // Back to the end, if it still may.
            if eligible(self, key) {
                self.ring.push(key);
            }
        }
    }
}

proptest! {
    /// Who runs, who waits and who is called next is what the rule says; and no key is passed over for long.
    #[test]
    fn it_does_what_the_model_does(
        slots in 1u32..4,
        queue in 0u32..5,
        total in prop::option::of(1u32..8),
        ops in prop::collection::vec(
            prop_oneof![
                5 => (0u32..5).prop_map(Op::Ask),
                3 => any::<usize>().prop_map(Op::End),
                1 => any::<usize>().prop_map(Op::Leave),
            ],
            1..200,
        ),
    ) {
        let bounds = Bounds { slots, queue, total };
        let keyed = leaked(slots, queue, total);
        let mut model = Model::default();
        let mut running: Vec<(u32, u32, Call)> = Vec::new();
        let mut waiting: Vec<(u32, u32, Call)> = Vec::new();
        // For each waiting key, who has been granted a slot since it last was, or began to be able to be.
        let mut since: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut next = 0;
        for op in ops {
            let mut granted = Vec::new();
            match op {
                Op::Ask(key) => {
                    next += 1;
                    let (call, said) = asked(keyed, u128::from(key));
                    let (runs, waits) = model.of(key);
                    let has_room = total.is_none_or(|total| model.all() < total);
                    let expected = if waits == 0 && runs < slots && has_room {
                        *model.running.entry(key).or_default() += 1;
                        "runs"
                    } else if waits < queue {
                        model.waiting.push((next, key));
                        "waits"
                    } else {
                        "refused"
                    };
                    prop_assert_eq!(said, expected);
                    match said {
                        "runs" => running.push((next, key, call)),
                        "waits" => waiting.push((next, key, call)),
                        _ => {}
                    }
                }
                Op::End(which) if !running.is_empty() => {
                    let (_, key, call) = running.swap_remove(which % running.len());
                    *model.running.get_mut(&key).unwrap() -= 1;
                    drop(call);
                }
                Op::Leave(which) if !waiting.is_empty() => {
                    let (number, _, call) = waiting.remove(which % waiting.len());
                    model.waiting.retain(|(waits, _)| *waits != number);
                    drop(call);
                }
                Op::End(_) | Op::Leave(_) => {}
            }
            model.settle(bounds, &mut granted);
            let mut called = Vec::new();
            let mut still = Vec::new();
            for (number, key, mut call) in waiting {
                if call.look() {
                    called.push(number);
                    running.push((number, key, call));
                } else {
                    still.push((number, key, call));
                }
            }
            waiting = still;
            let mut expected = granted.clone();
            expected.sort_unstable();
            prop_assert_eq!(&called, &expected, "who was called");
            // The rule, said once more without the ring: between two grants to a key that could have had one, each other
            // key gets one at most.
            for number in granted {
                let key = running.iter().find(|(of, _, _)| *of == number).map(|(_, key, _)| *key).unwrap();
                for (other, got) in &mut since {
                    if *other != key {
                        got.push(key);
                        let twice = got.iter().filter(|of| **of == key).count() > 1;
                        prop_assert!(total.is_none() || !twice, "{other} was passed over twice for {key}");
                    }
                }
                since.remove(&key);
            }
            for key in 0..5 {
                let (runs, waits) = model.of(key);
                if waits > 0 && runs < slots {
                    since.entry(key).or_default();
                } else {
                    since.remove(&key);
                }
            }
            let seen = keyed.occupancy();
            prop_assert_eq!((seen.running, seen.queued as usize), (model.all(), model.waiting.len()));
            prop_assert!(total.is_none_or(|total| seen.running <= total));
        }
        drop((running, waiting));
        let seen = keyed.occupancy();
        prop_assert_eq!((seen.running, seen.queued, keyed.census().kept - keyed.census().idle), (0, 0, 0));
    }
}

#[test]
fn a_nested_call_of_the_same_key_borrows_its_slot_and_of_another_does_not() {
    use crate::base::clock::Moment;
    use crate::call::context::{Ambient, Deadline};

    let keyed = leaked(1, 0, None);
    let (one, two) = (hold(keyed, 1), hold(keyed, 2));
    let Some(Queued::Slot(slot)) = keyed.try_enter(one) else { panic!("free") };
    let mut outer = Held::own(slot, 11);
    let scope = Ambient { deadline: Deadline::NONE, call: 11, attempt: 0, limit: Moment::NEVER }
        .enter_holding(Some(outer.holding));
    let inner = keyed.borrow(one, 12).expect("held by this chain");
    assert!(keyed.borrow(one, 13).is_none(), "lent already");
    assert!(keyed.borrow(two, 13).is_none(), "another key");
    assert!(matches!(keyed.try_enter(two), Some(Queued::Slot(_))));
    drop(inner);
    assert!(keyed.borrow(one, 14).is_some(), "repaid");
    scope.note_loan(&mut outer.holding);
    drop(scope);
    drop(outer);
    assert!(matches!(keyed.try_enter(one), Some(Queued::Slot(_))));
}

#[test]
fn wakers_say_who_is_called() {
    let keyed = leaked(1, 2, None);
    let first = asked(keyed, 1).0;
    let says = Arc::new(Says(Mutex::default(), 7));
    let mut second = Call::begin(keyed, 1);
    assert_eq!(second.ask(&Waker::from(Arc::clone(&says))), "waits");
    drop(first);
    assert_eq!(*says.0.lock().unwrap(), [7]);
    assert!(second.look());
}
