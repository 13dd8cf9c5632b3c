//! The attribute among others on the same function.

use crate::harness::{Entry, left_out};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        left_out("IC-01", "not yet: to be written"),
        left_out("IC-02", "not yet: to be written"),
        left_out("IC-03", "not yet: to be written"),
        left_out("IC-04", "not yet: to be written"),
    ]
}
