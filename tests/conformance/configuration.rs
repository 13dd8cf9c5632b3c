//! Settings from outside the code.

use crate::harness::{Entry, left_out};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        left_out("CF-01", "not yet: to be written"),
        left_out("CF-02", "not yet: to be written"),
        left_out("CF-03", "not yet: to be written"),
        left_out("CF-04", "not yet: to be written"),
        left_out("CF-05", "not yet: to be written"),
        left_out("CF-06", "not yet: to be written"),
        left_out("CF-07", "not yet: to be written"),
        left_out("CF-08", "not yet: to be written"),
        left_out("CF-09", "not yet: to be written"),
        left_out("CF-10", "not yet: to be written"),
        left_out("CF-11", "not yet: to be written"),
        left_out("CF-12", "not yet: to be written"),
        left_out("CF-13", "not yet: to be written"),
        left_out("CF-14", "not yet: to be written"),
        left_out("CF-15", "not yet: to be written"),
        left_out("CF-16", "not yet: to be written"),
        left_out("CF-17", "not yet: to be written"),
    ]
}
