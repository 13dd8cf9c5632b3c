//! Whose state a breaker is.

use crate::harness::{Entry, left_out};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        left_out("CL-01", "not yet: to be written"),
        left_out("CL-02", "not yet: to be written"),
        left_out("CL-03", "not yet: to be written"),
        left_out("CL-04", "not yet: to be written"),
        left_out("CL-05", "not yet: to be written"),
        left_out("CL-06", "not yet: to be written"),
        left_out("CL-07", "not yet: to be written"),
        left_out("CL-08", "not yet: to be written"),
        left_out("CL-09", "not yet: to be written"),
        left_out("CL-10", "not yet: to be written"),
        left_out("CL-11", "not yet: to be written"),
        left_out("CL-12", "not yet: to be written"),
        left_out("CL-13", "not yet: to be written"),
    ]
}
