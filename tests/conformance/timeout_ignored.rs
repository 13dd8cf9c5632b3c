//! Timeout over work that goes on when its future is dropped: threads that block, tasks that were spawned.

use crate::harness::{Entry, left_out};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        left_out("TU-01", "not yet: to be written"),
        left_out("TU-02", "not yet: to be written"),
        left_out("TU-03", "not yet: to be written"),
        left_out("TU-04", "not yet: to be written"),
        left_out("TU-05", "not yet: to be written"),
        left_out("TU-06", "not yet: to be written"),
        left_out("TU-07", "not yet: to be written"),
        left_out("TU-08", "not yet: to be written"),
        left_out("TU-09", "not yet: to be written"),
        left_out("TU-10", "not yet: to be written"),
    ]
}
