//! Bulkhead inside of retry: a slot is given up between attempts.

use crate::harness::{Entry, left_out};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        left_out("BR-01", "not yet: to be written"),
        left_out("BR-02", "not yet: to be written"),
        left_out("BR-03", "not yet: to be written"),
        left_out("BR-04", "not yet: to be written"),
        left_out("BR-05", "not yet: to be written"),
        left_out("BR-06", "not yet: to be written"),
        left_out("BR-07", "not yet: to be written"),
        left_out("BR-08", "not yet: to be written"),
        left_out("BR-09", "not yet: to be written"),
        left_out("BR-10", "not yet: to be written"),
        left_out("BR-11", "not yet: to be written"),
        left_out("BR-12", "not yet: to be written"),
        left_out("BR-13", "not yet: to be written"),
        left_out("BR-14", "not yet: to be written"),
        left_out("BR-15", "not yet: to be written"),
    ]
}
