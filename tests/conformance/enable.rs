//! Switching strategies off and on from outside the code.

use crate::harness::{Entry, left_out};

const SETTINGS: &str = "not yet: settings from outside the code";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        left_out("DS-01", SETTINGS),
        left_out("DS-02", SETTINGS),
        left_out("DS-03", SETTINGS),
        left_out("DS-04", SETTINGS),
        left_out("DS-05", SETTINGS),
        left_out("DS-06", SETTINGS),
        left_out("DS-07", SETTINGS),
        left_out("DS-08", SETTINGS),
        left_out("DS-09", SETTINGS),
        left_out("DS-10", SETTINGS),
        left_out("DN-01", SETTINGS),
        left_out("DN-02", SETTINGS),
        left_out("DN-03", SETTINGS),
        left_out("DN-04", SETTINGS),
    ]
}
