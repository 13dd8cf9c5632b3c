//! Execution, ambient context and cancellation.

use crate::harness::{Entry, left_out};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        left_out("AS-01", "not yet: to be written"),
        left_out("AS-02", "not yet: to be written"),
        left_out("AS-03", "not yet: to be written"),
        left_out("AS-04", "not yet: to be written"),
        left_out("AS-05", "not yet: to be written"),
        left_out("AS-06", "not yet: to be written"),
        left_out("AS-07", "not yet: to be written"),
        left_out("AS-08", "not yet: to be written"),
        left_out("AS-09", "not yet: to be written"),
        left_out("AS-10", "not yet: to be written"),
        left_out("AS-11", "not yet: to be written"),
        left_out("AS-12", "not yet: to be written"),
        left_out("AS-13", "not yet: to be written"),
        left_out("AS-14", "not yet: to be written"),
        left_out("AS-15", "not yet: to be written"),
        left_out("AS-16", "not yet: to be written"),
        left_out("AS-17", "not yet: to be written"),
        left_out("AS-18", "not yet: to be written"),
    ]
}
