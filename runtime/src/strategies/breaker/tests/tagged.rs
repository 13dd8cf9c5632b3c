//! A count that knows which generation it belongs to.

use super::*;

fn counted(times: u32, generation: u32) -> Tagged {
    (0..times).fold(Tagged::from_raw(0), |cell, _| cell.one_more(generation))
}

#[test]
fn a_count_is_seen_in_its_generation_alone() {
    let cell = counted(3, 5);
    assert_eq!([4, 5, 6].map(|generation| cell.count_in(generation)), [0, 3, 0]);
    assert_eq!(Tagged::from_raw(cell.to_raw()), cell);
}

#[test]
fn a_later_generation_starts_afresh_and_an_earlier_one_is_left_out() {
    let cell = counted(3, 5).one_more(6);
    assert_eq!((cell.count_in(5), cell.count_in(6)), (0, 1));
    assert_eq!(cell.one_more(5), cell, "late");
}

#[test]
fn later_and_earlier_are_told_apart_where_the_numbers_wrap() {
    // The tag keeps 24 bits of the generation, and the generation itself has 32.
    for last in [(1 << 24) - 1, u32::MAX] {
        let next = last.wrapping_add(1);
        let cell = counted(2, last);
        assert_eq!(cell.count_in(last), 2, "a cell never used before is nobody's, not generation 0's");
        let cell = cell.one_more(next);
        assert_eq!((cell.count_in(last), cell.count_in(next)), (0, 1));
        assert_eq!(cell.one_more(last), cell, "late");
    }
}
