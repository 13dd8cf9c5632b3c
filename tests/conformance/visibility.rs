//! Declarations on a block and on its methods.

use crate::harness::{Entry, left_out};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        left_out("VS-01", "not yet: to be written"),
        left_out("VS-02", "not yet: to be written"),
        left_out("VS-03", "not yet: to be written"),
        left_out("VS-04", "not yet: to be written"),
        left_out("VS-05", "not yet: to be written"),
        left_out("VS-06", "not yet: to be written"),
        left_out("VS-07", "not yet: to be written"),
        left_out("VS-08", "not yet: to be written"),
        left_out("VS-09", "not yet: to be written"),
        left_out("VS-10", "not yet: to be written"),
        left_out("VS-11", "not yet: to be written"),
        left_out("VS-12", "not yet: to be written"),
        left_out("VS-13", "not yet: to be written"),
        left_out("VS-14", "not yet: to be written"),
        left_out("VS-15", "not yet: to be written"),
        left_out("VS-16", "not yet: to be written"),
        left_out("VS-17", "not yet: to be written"),
    ]
}
