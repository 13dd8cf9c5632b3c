//! Breaker on its own: when it opens and when it closes.

use crate::harness::{Entry, left_out};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        left_out("CB-01", "not yet: to be written"),
        left_out("CB-02", "not yet: to be written"),
        left_out("CB-03", "not yet: to be written"),
        left_out("CB-04", "not yet: to be written"),
        left_out("CB-05", "not yet: to be written"),
        left_out("CB-06", "not yet: to be written"),
        left_out("CB-07", "not yet: to be written"),
        left_out("CB-08", "not yet: to be written"),
        left_out("CB-09", "not yet: to be written"),
        left_out("CB-10", "not yet: to be written"),
        left_out("CB-11", "not yet: to be written"),
        left_out("CB-12", "not yet: to be written"),
        left_out("CB-13", "not yet: to be written"),
        left_out("CB-14", "not yet: to be written"),
        left_out("CB-15", "not yet: to be written"),
        left_out("CB-16", "not yet: to be written"),
        left_out("CB-17", "not yet: to be written"),
        left_out("CB-18", "not yet: to be written"),
        left_out("CB-19", "not yet: to be written"),
        left_out("CB-20", "not yet: to be written"),
    ]
}
