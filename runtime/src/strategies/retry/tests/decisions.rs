//! Whether there is another attempt.

use super::*;

const FAILED: Verdict = Verdict { ok: false, retryable: true, failure: true, retry_after: None };
const DEFAULT: Config = Config::new(2);
const FIRST: Seen = Seen {
    attempt: 0,
    trouble: Trouble::Answered(FAILED),
    remaining: None,
    breaker_open: false,
    elapsed: 0,
    last_pause: 0,
};

/// Half of the bound of the first pause.
const PAUSE: u64 = 25_000_000;
const AGAIN: Next = Next::Again(PAUSE);

fn after(config: Config, seen: Seen) -> Next {
    decide(&config, seen, 0.5)
}

fn on(trouble: Trouble) -> Seen {
    Seen { trouble, ..FIRST }
}

fn hinting(retry_after: Duration) -> Seen {
    on(Trouble::Answered(Verdict { retry_after: Some(retry_after), ..FAILED }))
}

fn stops(reason: StopReason) -> Next {
    Next::Stop(reason)
}

#[test]
fn it_asks_again_as_often_as_was_said_and_doubles_the_pause() {
    let nexts = [0, 1, 2, 3].map(|attempt| after(DEFAULT, Seen { attempt, ..FIRST }));
    let exhausted = stops(StopReason::Exhausted);
    assert_eq!(nexts, [AGAIN, Next::Again(2 * PAUSE), exhausted, exhausted]);
    assert_eq!(after(Config::new(0), FIRST), exhausted);
}

#[test]
fn an_answer_that_is_not_retryable_ends_it_even_with_attempts_left() {
    let final_answer = on(Trouble::Answered(Verdict { retryable: false, ..FAILED }));
    assert_eq!(after(DEFAULT, final_answer), stops(StopReason::NotRetryable));
    assert_eq!(after(DEFAULT, Seen { attempt: 2, ..final_answer }), stops(StopReason::NotRetryable));
    assert_eq!(after(DEFAULT.not_on_error(), FIRST), stops(StopReason::NotRetryable));
}

#[test]
fn a_timeout_is_asked_again_only_where_that_was_promised_to_be_harmless() {
    let timed_out = on(Trouble::TimedOut);
    assert_eq!(after(DEFAULT, timed_out), stops(StopReason::NotRetryable));
    assert_eq!(after(DEFAULT.on_timeout(), timed_out), AGAIN);
}

#[test]
fn our_own_refusals_are_asked_again_only_by_name() {
    let none = DEFAULT.not_on_error();
    let named = [none.on_full(), none.on_wait(), none.on_timeout(), none.on_rate()];
    for (trouble, by) in [(Trouble::Full, 0), (Trouble::Waited, 1), (Trouble::TimedOut, 2)] {
        assert_eq!(after(DEFAULT, on(trouble)), stops(StopReason::NotRetryable), "{trouble:?}");
        for (at, config) in named.into_iter().enumerate() {
            let expected = if at == by { AGAIN } else { stops(StopReason::NotRetryable) };
            assert_eq!(after(config, on(trouble)), expected, "{trouble:?}, {config:?}");
        }
    }
}

#[test]
fn a_spent_deadline_and_an_open_breaker_are_never_asked_again_whatever_is_named() {
    let everything = DEFAULT.on_timeout().on_full().on_wait().on_rate();
    for config in [DEFAULT, everything] {
        for attempt in [0, 2] {
            let seen = Seen { attempt, ..FIRST };
            let spent = Seen { trouble: Trouble::OutOfTime, ..seen };
            assert_eq!(after(config, spent), stops(StopReason::NoTime));
            let open = Seen { trouble: Trouble::Open, breaker_open: true, ..seen };
            assert_eq!(after(config, open), stops(StopReason::Open));
        }
    }
}

#[test]
fn a_breaker_that_opened_meanwhile_ends_it() {
    assert_eq!(after(DEFAULT, Seen { breaker_open: true, ..FIRST }), stops(StopReason::Open));
    let last = Seen { breaker_open: true, attempt: 2, ..FIRST };
    assert_eq!(after(DEFAULT, last), stops(StopReason::Exhausted), "there was none left anyway");
}

#[test]
fn no_pause_begins_that_cannot_end_before_the_deadline() {
    let with_left = |remaining| after(DEFAULT, Seen { remaining: Some(remaining), ..FIRST });
    assert_eq!(with_left(PAUSE + 1), AGAIN);
    assert_eq!(with_left(PAUSE), stops(StopReason::NoTime));
    assert_eq!(with_left(0), stops(StopReason::NoTime));
}

#[test]
fn no_attempt_begins_after_the_longest_duration_and_no_pause_that_cannot_end_before_it() {
    let config = DEFAULT.max_duration(10 * PAUSE);
    let at = |elapsed| after(config, Seen { elapsed, ..FIRST });
    assert_eq!(at(0), AGAIN);
    assert_eq!(at(9 * PAUSE - 1), AGAIN);
    assert_eq!(at(9 * PAUSE), stops(StopReason::MaxDuration), "the pause would end at the very limit");
    assert_eq!(at(10 * PAUSE), stops(StopReason::MaxDuration));
    assert_eq!(at(u64::MAX), stops(StopReason::MaxDuration));
    let last = Seen { attempt: 2, elapsed: u64::MAX, ..FIRST };
    assert_eq!(after(config, last), stops(StopReason::Exhausted), "there was none left anyway");
    let hinting = Seen { elapsed: 9 * PAUSE, ..hinting(Duration::from_nanos(PAUSE)) };
    assert_eq!(after(config, hinting), stops(StopReason::MaxDuration), "a hint is no exception");
    let deadline = Seen { elapsed: 9 * PAUSE, remaining: Some(1), ..FIRST };
    assert_eq!(after(config, deadline), stops(StopReason::NoTime), "the deadline is the harder of the two");
}

#[test]
fn an_open_breaker_is_waited_for_where_that_is_named() {
    let open = Seen { breaker_open: true, ..on(Trouble::Open) };
    assert_eq!(after(DEFAULT.on_open(), open), AGAIN);
    assert_eq!(after(DEFAULT.on_open(), Seen { breaker_open: true, ..FIRST }), AGAIN, "it opened meanwhile");
    assert_eq!(after(DEFAULT.on_open(), Seen { attempt: 2, ..open }), stops(StopReason::Exhausted));
}

#[test]
fn a_hint_wins_over_the_computed_pause() {
    let short = Duration::from_nanos(3);
    assert_eq!(after(DEFAULT, hinting(short)), Next::Again(3));
    let long = Duration::from_secs(59);
    assert_eq!(after(DEFAULT, hinting(long)), Next::Again(59_000_000_000), "beyond the cap, too");
}

#[test]
fn a_hint_beyond_the_time_left_or_beyond_a_minute_ends_it() {
    let hint = Duration::from_secs(3);
    let with_left = |remaining| after(DEFAULT, Seen { remaining: Some(remaining), ..hinting(hint) });
    assert_eq!(with_left(3_000_000_001), Next::Again(3_000_000_000));
    assert_eq!(with_left(3_000_000_000), stops(StopReason::Hint));
    assert_eq!(after(DEFAULT, hinting(Duration::from_mins(1))), Next::Again(60_000_000_000));
    assert_eq!(after(DEFAULT, hinting(Duration::from_nanos(60_000_000_001))), stops(StopReason::Hint));
    assert_eq!(after(DEFAULT, hinting(Duration::MAX)), stops(StopReason::Hint));
}

#[test]
fn a_hint_does_not_make_an_answer_retryable_or_add_attempts() {
    let last = Seen { attempt: 2, ..hinting(Duration::from_nanos(3)) };
    assert_eq!(after(DEFAULT, last), stops(StopReason::Exhausted));
    let refused = Verdict { retryable: false, retry_after: Some(Duration::from_nanos(3)), ..FAILED };
    assert_eq!(after(DEFAULT, on(Trouble::Answered(refused))), stops(StopReason::NotRetryable));
}
