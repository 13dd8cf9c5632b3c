//! Trials from the field: each module re-casts a public report about a peer, named after its id and its fault.
//!
//! What a report's scenario expects is the basis; where it differs from the design, the design stands. Two differences
//! recur: `timeout` bounds one attempt from the grant of its slot, and `deadline` bounds the call from its entry.
//!
//! The clock is paused wherever no threads are raced. Races run on real threads, bounded to a second or two each, and
//! assert states and counts, never durations.

mod b01_waiters_that_gave_up_keep_permits;
mod b02_cancelled_waiter_still_counts;
mod b03_cancelled_head_of_queue;
mod b04_dropped_between_take_and_give_back;
mod b05_exact_burst_refused;
mod b06_look_then_take_and_double_release;
mod b08_re_entry_waits_for_itself;
mod b09_half_run_future_is_granted_the_slot;
mod b10_dropped_probe_never_given_back;
mod b11_panicked_probe_leaves_half_open;
mod b12_probe_that_never_ends;
mod b13_half_open_stampede;
mod b14_late_results_decide_a_later_state;
mod b16_callers_who_left_open_the_breaker;
mod b17_backoff_overflows;
mod b18_give_up_time_overrun;
mod b19_timeout_per_try_or_for_all;
mod b20_expired_work_is_run;
mod b21_deadline_lost_over_spawn;
mod b22_timeout_that_does_not_fire;
mod b23_extreme_settings;
mod b27_state_of_keys_is_never_evicted;
mod b31_fallback_hides_failures;
mod b51_gauge_drifts_with_panics;
mod b55_keys_as_labels;
mod b58_waits_of_the_refused_vanish;
mod b59_what_is_counted;
mod b62_stream_outlives_its_function;
mod b65_retry_books_twice;
mod b69_first_declaration_wins;
mod b70_drain_with_a_grace;
mod b70_runtime_dropped_under_load;
