//! What the peer asks of fault tolerance, asked of this framework.
//!
//! MicroProfile Fault Tolerance is the one specification of this field that comes with a compatibility kit, and SmallRye,
//! its main implementation, has tests that go beyond it. Both are Java, with threads that are interrupted, types that are
//! derived and settings that are injected. What they demand was taken apart into requirements with ids; each stands here
//! as a trial of its own, through the attribute and on a paused clock, in sentences of our own.
//!
//! An id is one of three things:
//!
//! - a row: `row!("RT-01", "how it was adapted", sentence)`. Its test asserts what is required, in numbers: executions
//!   counted, the answer, times by the clock. A row may differ from the peer only where the design rules do, and then its
//!   second field begins with `differs:`. `shown_by` stands for a rule that other rows show.
//! - left out: `left_out("RT-21", "why")`. A reason that begins with `not yet:` names something that is still to come; any
//!   other says why the requirement has no meaning for a Rust future.
//! - missing, which fails the run, as does an id that is given twice or that nobody has heard of. `ids.txt` is the whole list.
//!
//! What the peer does by default and we do not is written out in the row's attribute: no retry budget (`budget = off`), no
//! jitter (`jitter = none`), every error retried or counted (`on = any`).
//!
//! `docs/conformance.md` is this run as a table. It is written by
//! `WATERTIGHT_WRITE_TABLE=1 cargo test -p watertight-tests --test conformance`, and a run of all rows fails when the
//! committed table says anything else.
//!
//! To add rows: replace a `left_out` in the section's file by a `row!`, name the test after the sentence it proves, give
//! functions and compartments the id as their name, run, and write the table.
//!
//! Invariants: every id of `ids.txt` has exactly one verdict; no row passes without asserting; nothing sleeps for real.

mod harness;
mod held;
mod letters;
mod support;
mod table;

mod backoffs;
mod beyond;
mod beyond_retry;
mod breaker;
mod breaker_state;
mod breaker_with_others;
mod bulkhead;
mod bulkhead_state;
mod bulkhead_with_retry;
mod configuration;
mod enable;
mod execution;
mod fallback;
mod fallback_targets;
mod gaps;
mod invalid;
mod issues;
mod matching;
mod metrics;
mod order;
mod outside;
mod rate_limit;
mod retry;
mod retry_with_timeout;
mod rules;
mod rules_of_breakers;
mod timeout;
mod timeout_ignored;
mod visibility;

use std::process::ExitCode;

use harness::Section;

fn main() -> ExitCode {
    harness::run(&[
        Section { title: "Rules: retry, bulkhead, timeout, fallback, settings, execution", entries: rules::rows() },
        Section { title: "Rules: breaker", entries: rules_of_breakers::rows() },
        Section { title: "Retry", entries: retry::rows() },
        Section { title: "Retry with timeout", entries: retry_with_timeout::rows() },
        Section { title: "Timeout", entries: timeout::rows() },
        Section { title: "Timeout over work that cannot be cancelled", entries: timeout_ignored::rows() },
        Section { title: "Bulkhead", entries: bulkhead::rows() },
        Section { title: "Whose state a bulkhead is", entries: bulkhead_state::rows() },
        Section { title: "Bulkhead with retry", entries: bulkhead_with_retry::rows() },
        Section { title: "Breaker", entries: breaker::rows() },
        Section { title: "Breaker with others", entries: breaker_with_others::rows() },
        Section { title: "Whose state a breaker is", entries: breaker_state::rows() },
        Section { title: "Which errors match", entries: matching::rows() },
        Section { title: "Fallback", entries: fallback::rows() },
        Section { title: "What a fallback may be", entries: fallback_targets::rows() },
        Section { title: "Definitions that are refused", entries: invalid::rows() },
        Section { title: "Execution and cancellation", entries: execution::rows() },
        Section { title: "Configuration", entries: configuration::rows() },
        Section { title: "Switching on and off", entries: enable::rows() },
        Section { title: "Order among other attributes", entries: order::rows() },
        Section { title: "Visibility of declarations", entries: visibility::rows() },
        Section { title: "Metrics", entries: metrics::rows() },
        Section { title: "What the kit leaves unverified", entries: gaps::rows() },
        Section { title: "Beyond the specification: rate limits", entries: rate_limit::rows() },
        Section { title: "Beyond the specification: backoffs", entries: backoffs::rows() },
        Section { title: "Beyond the specification: retry and breakers", entries: beyond_retry::rows() },
        Section { title: "Beyond the specification: bulkheads, fallbacks and guards", entries: beyond::rows() },
        Section { title: "Reported faults", entries: issues::rows() },
    ])
}
