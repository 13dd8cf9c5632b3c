//! A share of what was written down: put in force, changed while calls run and wait, and by key.

#[cfg(feature = "redis")]
use std::collections::HashMap;

#[cfg(all(feature = "redis", feature = "dashboard"))]
use super::super::Asking;
#[cfg(feature = "redis")]
use super::super::KeyDemand;
#[cfg(feature = "redis")]
use super::super::keyed::Keyed;
use super::*;
use crate::base::share::Share;

#[test]
fn a_share_is_what_is_in_force_and_the_limit_stays_what_was_written_down() {
    story(8, 2, |bulkhead| {
        bulkhead.set_share(Share::Part(4));
        assert_eq!((bulkhead.occupancy().slots, bulkhead.limits().slots), (2, 8));
        bulkhead.resize(Limits { slots: 12, queue: 3 });
        assert_eq!((bulkhead.occupancy().slots, bulkhead.limits()), (3, Limits { slots: 12, queue: 3 }));
        bulkhead.set_share(Share::Leased(20));
        assert_eq!(bulkhead.occupancy().slots, 12, "never more than there is");
    });
}

#[test]
fn a_share_of_nothing_refuses_and_lets_wait_and_the_next_share_goes_to_who_waits() {
    story(8, 1, |bulkhead| {
        bulkhead.set_share(Share::Leased(0));
        assert!(bulkhead.try_enter().is_none());
        let waiting = wait(bulkhead);
        assert_eq!(refusal(bulkhead), Detail::Full { name: "recs", slots: 0, running: 0, queue: 1, queued: 1 });
        bulkhead.set_share(Share::Leased(1));
        drop(granted(waiting));
        bulkhead.set_share(Share::Whole);
    });
}

#[test]
fn a_share_that_is_cut_is_in_force_as_slots_come_back() {
    story(4, 1, |bulkhead| {
        let [one, two, three] = [(); 3].map(|()| enter(bulkhead));
        bulkhead.set_share(Share::Leased(1));
        let waiting = wait(bulkhead);
        drop((one, two));
        assert_eq!(counts(bulkhead), (1, 1), "of three that ran one may, and nobody else");
        drop(three);
        drop(granted(waiting));
        bulkhead.set_share(Share::Whole);
    });
}

#[cfg(all(feature = "redis", feature = "dashboard"))]
#[test]
fn two_who_ask_for_marks_do_not_take_them_from_each_other() {
    story(4, 2, |bulkhead| {
        drop((enter(bulkhead), enter(bulkhead), enter(bulkhead)));
        assert_eq!(bulkhead.take_peaks(Asking::Dashboard), [3, 0]);
        drop(enter(bulkhead));
        assert_eq!(bulkhead.take_peaks(Asking::Fleet), [3, 0], "it has not asked before");
        assert_eq!(bulkhead.take_peaks(Asking::Fleet), [0, 0]);
        assert_eq!(bulkhead.take_peaks(Asking::Dashboard), [1, 0]);
        assert_eq!(bulkhead.occupancy().peak_running, 3, "and the mark of the whole time stays");
    });
}

#[cfg(feature = "redis")]
#[test]
fn a_key_has_slots_of_its_own_while_it_is_given_them_and_the_others_have_an_equal_part() {
    let keyed = Keyed::new("tenants", Limits { slots: 2, queue: 1 }, Some(16)).sharing(Share::Part(4));
    let keyed: &'static Keyed = Box::leak(Box::new(keyed));
    assert_eq!((keyed.total(), keyed.whole_total()), (Some(4), Some(16)));
    let [one, two] = [7_u64, 9].map(|key| keyed.hold(key.into(), || "key".into(), || key));
    keyed.set_total_share(Share::Leased(16));
    let runs = |key, times: usize| -> Vec<Slot> {
        let enters = |_| match keyed.try_enter(key) {
            Some(Queued::Slot(slot)) => Some(slot),
            _ => None,
        };
        (0..times).filter_map(enters).collect()
    };
    drop((runs(one, 5), runs(two, 1)));
    let mut demands = keyed.demands();
    demands.sort_by_key(|it| it.wide);
    let demand = |wide, peak| KeyDemand { wide, peak, running: 0, slots: 2, pressed: false, leased: false };
    assert_eq!(demands, [demand(7, 2), demand(9, 1)], "there was room in the queue");
    assert_eq!(keyed.take_total(), (0, 3, false));
    keyed.give(&HashMap::from([(7, 5)]));
    assert_eq!((runs(one, 9).len(), runs(two, 9).len(), keyed.leased()), (5, 2, 1));
    keyed.set_total_share(Share::Leased(3));
    assert_eq!(runs(one, 9).len(), 3, "the total has a share of its own");
    keyed.give(&HashMap::new());
    assert_eq!((runs(one, 9).len(), keyed.leased()), (2, 0));
    keyed.let_go(one.0);
    keyed.let_go(two.0);
}
