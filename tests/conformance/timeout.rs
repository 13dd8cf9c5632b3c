//! Timeout on its own: how long one attempt may take.

use crate::harness::{Entry, left_out};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        left_out("TO-01", "not yet: to be written"),
        left_out("TO-02", "not yet: to be written"),
        left_out("TO-03", "not yet: to be written"),
        left_out("TO-04", "not yet: to be written"),
        left_out("TO-05", "not yet: to be written"),
        left_out("TO-06", "not yet: to be written"),
        left_out("TO-07", "not yet: to be written"),
        left_out("TO-08", "not yet: to be written"),
        left_out("TO-09", "not yet: to be written"),
        left_out("TO-10", "not yet: to be written"),
        left_out("TO-11", "not yet: to be written"),
        left_out("TO-12", "not yet: to be written"),
        left_out("TO-13", "not yet: to be written"),
        left_out("TO-14", "not yet: to be written"),
        left_out("TO-15", "not yet: to be written"),
        left_out("TO-16", "not yet: to be written"),
        left_out("TO-17", "not yet: to be written"),
        left_out("TO-18", "not yet: to be written"),
        left_out("TO-19", "not yet: to be written"),
        left_out("TO-20", "not yet: to be written"),
        left_out("TO-21", "not yet: to be written"),
    ]
}
