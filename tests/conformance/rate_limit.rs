//! Rate limits: the peer's windows, asked of tokens.

use crate::harness::{Entry, left_out};

const RATE: &str = "not yet: rate limits";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        left_out("RL-01", RATE),
        left_out("RL-02", RATE),
        left_out("RL-03", RATE),
        left_out("RL-04", RATE),
        left_out("RL-05", RATE),
        left_out("RL-06", RATE),
        left_out("RL-07", RATE),
        left_out("RL-08", RATE),
        left_out("RL-09", RATE),
        left_out("RL-10", RATE),
        left_out("RL-11", RATE),
        left_out("RL-12", RATE),
        left_out("RL-13", RATE),
        left_out("RL-14", RATE),
        left_out("RL-15", RATE),
        left_out("RL-16", RATE),
        left_out("RL-17", RATE),
        left_out("RL-18", RATE),
        left_out("RL-19", RATE),
        left_out("RL-20", RATE),
        left_out("RL-21", RATE),
    ]
}
