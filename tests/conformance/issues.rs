//! Faults that were reported to the peer.

use crate::harness::{Entry, left_out};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        left_out("IS-01", "not yet: to be written"),
        left_out("IS-02", "not yet: to be written"),
        left_out("IS-03", "not yet: to be written"),
        left_out("IS-04", "not yet: to be written"),
        left_out("IS-05", "not yet: to be written"),
        left_out("IS-06", "not yet: to be written"),
        left_out("IS-07", "not yet: to be written"),
        left_out("IS-08", "not yet: to be written"),
        left_out("IS-09", "not yet: to be written"),
        left_out("IS-10", "not yet: to be written"),
        left_out("IS-11", "not yet: to be written"),
        left_out("IS-12", "not yet: to be written"),
        left_out("IS-13", "not yet: to be written"),
        left_out("IS-14", "not yet: to be written"),
        left_out("IS-15", "not yet: to be written"),
        left_out("IS-16", "not yet: to be written"),
        left_out("IS-17", "not yet: to be written"),
        left_out("IS-18", "not yet: to be written"),
        left_out("IS-19", "not yet: to be written"),
        left_out("IS-20", "not yet: to be written"),
        left_out("IS-21", "not yet: to be written"),
        left_out("IS-22", "not yet: to be written"),
    ]
}
