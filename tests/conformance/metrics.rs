//! What is counted.

use crate::harness::{Entry, left_out};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        left_out("MT-01", "not yet: to be written"),
        left_out("MT-02", "not yet: to be written"),
        left_out("MT-03", "not yet: to be written"),
        left_out("MT-04", "not yet: to be written"),
        left_out("MT-05", "not yet: to be written"),
        left_out("MT-06", "not yet: to be written"),
        left_out("MT-07", "not yet: to be written"),
        left_out("MT-08", "not yet: to be written"),
        left_out("MT-09", "not yet: to be written"),
        left_out("MT-10", "not yet: to be written"),
        left_out("MT-11", "not yet: to be written"),
        left_out("MT-12", "not yet: to be written"),
        left_out("MT-13", "not yet: to be written"),
        left_out("MT-14", "not yet: to be written"),
        left_out("MT-15", "not yet: to be written"),
        left_out("MT-16", "not yet: to be written"),
        left_out("MT-17", "not yet: to be written"),
        left_out("MT-18", "not yet: to be written"),
        left_out("MT-19", "not yet: to be written"),
        left_out("MT-20", "not yet: to be written"),
        left_out("MT-21", "not yet: to be written"),
        left_out("MT-22", "not yet: to be written"),
        left_out("MT-23", "not yet: to be written"),
        left_out("MT-24", "not yet: to be written"),
        left_out("MT-25", "not yet: to be written"),
        left_out("MT-26", "not yet: to be written"),
        left_out("MT-27", "not yet: to be written"),
        left_out("MT-28", "not yet: to be written"),
        left_out("MT-29", "not yet: to be written"),
        left_out("MT-30", "not yet: to be written"),
        left_out("MT-31", "not yet: to be written"),
        left_out("MT-32", "not yet: to be written"),
        left_out("MT-33", "not yet: to be written"),
    ]
}
