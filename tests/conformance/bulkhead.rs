//! Bulkhead on its own: how many run, how many wait.

use crate::harness::{Entry, left_out};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        left_out("BH-01", "not yet: to be written"),
        left_out("BH-02", "not yet: to be written"),
        left_out("BH-03", "not yet: to be written"),
        left_out("BH-04", "not yet: to be written"),
        left_out("BH-05", "not yet: to be written"),
        left_out("BH-06", "not yet: to be written"),
        left_out("BH-07", "not yet: to be written"),
        left_out("BH-08", "not yet: to be written"),
        left_out("BH-09", "not yet: to be written"),
        left_out("BH-10", "not yet: to be written"),
        left_out("BH-11", "not yet: to be written"),
        left_out("BH-12", "not yet: to be written"),
        left_out("BH-13", "not yet: to be written"),
        left_out("BH-14", "not yet: to be written"),
        left_out("BH-15", "not yet: to be written"),
        left_out("BH-16", "not yet: to be written"),
        left_out("BH-17", "not yet: to be written"),
        left_out("BH-18", "not yet: to be written"),
        left_out("BH-19", "not yet: to be written"),
        left_out("BH-20", "not yet: to be written"),
        left_out("BH-21", "not yet: to be written"),
        left_out("BH-22", "not yet: to be written"),
        left_out("BH-23", "not yet: to be written"),
        left_out("BH-24", "not yet: to be written"),
        left_out("BH-25", "not yet: to be written"),
    ]
}
