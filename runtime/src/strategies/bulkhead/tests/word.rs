//! The word alone: what it admits, and what a cut keeps back.

use super::*;

/// The largest figure that a declaration may have.
const MAX: u32 = 1_000_000;

fn word(running: u32, queued: u32, slots: u32) -> Word {
    Word::from_raw(u64::from(running) | u64::from(queued) << 20 | u64::from(slots) << 40)
}

fn figures(word: Word) -> (u32, u32, u32) {
    (word.running(), word.queued(), word.slots())
}

#[test]
fn the_largest_figures_fit_and_leave_room_for_one_more() {
    let full = word(MAX, MAX, MAX);
    assert_eq!(figures(full), (MAX, MAX, MAX));
    assert_eq!(full.enqueue(MAX), Admission::Full);
    let Admission::Queue(more) = full.enqueue(MAX + 1) else { panic!("there is room") };
    assert_eq!(figures(more), (MAX, MAX + 1, MAX), "no carry into the slots");
    let more = word(MAX, 0, MAX).with_slots(MAX + 1).admit().expect("a slot was added");
    assert_eq!(figures(more), (MAX + 1, 0, MAX + 1), "no carry into the queue");
    assert_eq!(Word::from_raw(full.to_raw()), full);
}

#[test]
fn a_free_slot_is_not_for_a_newcomer_while_somebody_waits() {
    let mid_growth = word(1, 1, 2);
    assert_eq!(mid_growth.admit(), None);
    assert_eq!(mid_growth.enqueue(1), Admission::Full);
    assert_eq!(mid_growth.enqueue(2), Admission::Queue(word(1, 2, 2)));
    assert_eq!(mid_growth.grant(), Some(word(2, 0, 2)));
}

#[test]
fn no_slots_and_no_queue_admit_nobody() {
    assert_eq!(Word::empty(0).enqueue(0), Admission::Full);
    assert_eq!(Word::empty(0).enqueue(1), Admission::Queue(word(0, 1, 0)));
    assert_eq!(Word::empty(0).grant(), None, "and there is nobody to grant one to");
}

#[test]
fn after_a_cut_slots_are_kept_back_until_no_more_run_than_may() {
    assert_eq!(word(3, 2, 1).release(), Release::Free(word(2, 2, 1)));
    assert_eq!(word(2, 2, 1).release(), Release::Free(word(1, 2, 1)));
    assert_eq!(word(1, 2, 1).release(), Release::HandOver(word(1, 1, 1)));
    assert_eq!(word(1, 0, 1).release(), Release::Free(word(0, 0, 1)));
}

proptest! {
    #[test]
    fn every_step_changes_only_its_figure_and_keeps_the_invariant(
        running in 0..=MAX, queued in 0..=MAX, slots in 0..=MAX, bound in 0..=MAX,
    ) {
        let word = word(running, queued, slots);
        prop_assert_eq!(figures(word), (running, queued, slots));
        let holds = |word: Word| word.queued() == 0 || word.running() >= word.slots();
        let sound = holds(word);
        match word.enqueue(bound) {
            Admission::Slot(next) => {
                prop_assert!(queued == 0 && running < slots);
                prop_assert_eq!(figures(next), (running + 1, 0, slots));
            }
            Admission::Queue(next) => {
                prop_assert!(queued < bound);
                prop_assert_eq!(figures(next), (running, queued + 1, slots));
                prop_assert!(holds(next) || !sound);
            }
            Admission::Full => prop_assert!(queued >= bound && (queued > 0 || running >= slots)),
        }
        if running > 0 {
            match word.release() {
                Release::Free(next) => {
                    prop_assert_eq!(figures(next), (running - 1, queued, slots));
                    prop_assert!(holds(next) || !sound);
                }
                Release::HandOver(next) => {
                    prop_assert!(running <= slots);
                    prop_assert_eq!(figures(next), (running, queued - 1, slots));
                    prop_assert!(holds(next) || !sound);
                }
            }
        }
        if queued > 0 {
            prop_assert_eq!(figures(word.leave_queue()), (running, queued - 1, slots));
        }
        match word.grant() {
            Some(next) => prop_assert_eq!(figures(next), (running + 1, queued - 1, slots)),
            None => prop_assert!(sound, "granting goes on until the invariant holds again"),
        }
        prop_assert_eq!(figures(word.with_slots(bound)), (running, queued, bound));
    }
}
