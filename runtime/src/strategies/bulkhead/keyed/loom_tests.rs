//! Every interleaving of threads that find a key, enter, leave, and by leaving have others evicted.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::*;
use crate::base::table::KEPT;

fn leaked(total: Option<u32>) -> &'static Keyed {
    Box::leak(Box::new(Keyed::new("tenants", Limits { slots: 1, queue: 0 }, total)))
}

/// One call of a key: whether it ran. No two may run at once.
fn call(keyed: &'static Keyed, key: u128, inside: &AtomicUsize) -> bool {
    let held = keyed.hold(key, || "key".into(), || 0);
    let entered = keyed.try_enter(held);
    let ran = matches!(entered, Some(Queued::Slot(_)));
    if ran {
        assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0, "one slot, one body");
        inside.fetch_sub(1, Ordering::Relaxed);
    }
    drop(entered);
    keyed.let_go(held.0);
    ran
}

/// As many idle keys as are kept, the first of them the oldest: every further one evicts, and that one first.
fn crowd(keyed: &'static Keyed) {
    let none = AtomicUsize::new(0);
    for key in 0..KEPT as u128 {
        assert!(call(keyed, key, &none));
    }
}

#[test]
fn loom_the_key_that_is_next_to_go_is_entered_while_another_makes_it_go() {
    loom::model(|| {
        let keyed = leaked(None);
        crowd(keyed);
        let other = thread::spawn(move || call(keyed, 1_000, &AtomicUsize::new(0)));
        assert!(call(keyed, 0, &AtomicUsize::new(0)), "held in time, or made anew");
        assert!(other.join().unwrap());
        let census = keyed.census();
        assert_eq!((census.kept, census.idle), (KEPT, KEPT), "nothing is lost and nothing is left held");
        assert_eq!(keyed.occupancy().running, 0);
    });
}

#[test]
fn loom_two_that_make_one_key_at_once_share_its_slot() {
    loom::model(|| {
        let keyed = leaked(None);
        let inside = Arc::new(AtomicUsize::new(0));
        let theirs = inside.clone();
        let other = thread::spawn(move || call(keyed, 1, &theirs));
        let mine = call(keyed, 1, &inside);
        assert!(other.join().unwrap() || mine);
        assert_eq!((keyed.census().kept, keyed.census().idle), (1, 1));
    });
}

#[test]
fn loom_what_is_held_outlives_the_eviction_of_everything_else() {
    loom::model(|| {
        let keyed = leaked(None);
        let held = keyed.hold(0, || "key".into(), || 0);
        let slot = keyed.try_enter(held);
        for key in 1..=KEPT as u128 {
            assert!(call(keyed, key, &AtomicUsize::new(0)));
        }
        let other = thread::spawn(move || call(keyed, 1_000, &AtomicUsize::new(0)));
        assert!(matches!(keyed.try_enter(held), Some(Queued::Full(_))), "its slot is taken, whoever is evicted");
        assert!(other.join().unwrap());
        drop(slot);
        assert!(matches!(keyed.try_enter(held), Some(Queued::Slot(_))));
        keyed.let_go(held.0);
    });
}

#[test]
fn loom_the_total_is_never_exceeded_and_a_slot_that_comes_free_is_not_lost() {
    loom::model(|| {
        let keyed = leaked(Some(1));
        let inside = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..2)
            .map(|key| {
                let inside = inside.clone();
                thread::spawn(move || call(keyed, key, &inside))
            })
            .collect();
        let ran = threads.into_iter().map(|thread| thread.join().unwrap()).filter(|ran| *ran).count();
        assert!(ran >= 1);
        assert_eq!(keyed.occupancy().running, 0);
        assert!(call(keyed, 5, &inside), "the total is whole again");
    });
}
