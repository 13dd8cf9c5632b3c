//! The figures of a run as ratios, read from where criterion keeps them.

use std::path::{Path, PathBuf};

/// What is compared with what, and what we want it to be at most.
const RATIOS: &[(&str, &str, &str, f64)] = &[
    ("full stack / hand-written with counters", "ready/full_stack", "ready/hand_counted", 1.0),
    ("full stack / hand-written without counters", "ready/full_stack", "ready/hand", 0.75),
    ("a guard's closure / the attribute, full stack", "ready/guard", "ready/full_stack", 1.1),
    ("bulkhead with a live key / bulkhead", "ready/key", "ready/bulkhead", 2.0),
    ("two threads on one key / on one bulkhead", "two_threads/one_key", "two_threads/bulkhead", 2.0),
    ("breaker with a window of time / with one of results", "ready/breaker_in_time", "ready/breaker", 1.1),
    ("timeout and hedge / timeout alone, body ready", "ready/hedge", "ready/timeout", 1.1),
    ("timeout and hedge / timeout alone, body pending once", "pending/hedge", "pending/timeout", 1.2),
    ("refusal by bulkhead / bare failed try", "refused/bulkhead", "refused/try_acquire", 3.0),
    ("refusal by bulkhead / failed try with counters", "refused/bulkhead", "refused/try_acquire_counted", 1.0),
    ("pending body under a timeout / tokio's timeout", "pending/timeout", "pending/hand_timeout", 1.0),
    ("two threads on one site / one thread", "two_threads/full_stack", "ready/full_stack", 2.0),
    ("two threads / hand-written with counters", "two_threads/full_stack", "two_threads/hand_counted", 1.0),
    ("isolated async body / spawn_blocking", "threads/isolated", "threads/spawn_blocking", 1.0),
    ("isolated async body / a thread and a oneshot by hand", "threads/isolated", "threads/hand", 1.0),
    ("isolated plain function / a thread and a channel by hand", "threads/plain", "threads/plain_hand", 1.0),
    ("plain function / the same wait in a runtime of our own", "threads/plain", "threads/plain_runtime", 1.0),
    ("64 tasks, 8 slots / tokio's semaphore", "contended/bulkhead", "contended/semaphore", 0.75),
];

/// Prints them; a figure that was not measured in this run is left out.
pub(crate) fn print() {
    let Some(root) = criterion_home() else { return };
    println!("\n{:<58} {:>8} {:>8} {:>7} {:>7}", "ratio", "ours", "other", "ratio", "goal");
    for (what, ours, other, goal) in RATIOS {
        if let (Some(ours), Some(other)) = (mean(&root, ours), mean(&root, other)) {
            println!("{what:<58} {:>6.1}ns {:>6.1}ns {:>7.2} {:>7.2}", ours, other, ours / other, goal);
        }
    }
    println!("(nanoseconds per call; of the contended pair, per round of 64 tasks, in thousands)");
}

fn criterion_home() -> Option<PathBuf> {
    // A bench runs from target/<profile>/deps.
    let exe = std::env::current_exe().ok()?;
    Some(exe.parent()?.parent()?.parent()?.join("criterion"))
}

/// The mean of a benchmark, for one of the thousand calls an iteration makes.
fn mean(root: &Path, name: &str) -> Option<f64> {
    let text = std::fs::read_to_string(root.join(name).join("new").join("estimates.json")).ok()?;
    let after = text.split("\"mean\":").nth(1)?.split("\"point_estimate\":").nth(1)?;
    let number: String =
        after.chars().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | '-' | '+')).collect();
    Some(number.parse::<f64>().ok()? / 1_000.0)
}
