//! Timeout on its own: how long one attempt may take.
//!
//! The peer's limit is one second unless told otherwise; here there is none, so it is written out.
//!
//! Invariants: every row reads the clock, so that an error of the right kind at the wrong time fails.

use futures::poll;
use tokio::time::{advance, sleep};
use watertight::{ErrorKind, resilient};
use watertight_tests::{AppError, Stopwatch, ms};

use crate::harness::{Entry, row};
use crate::support::TEST;

const DEFAULT: &str = "the peer's default of one second written out";
const BLOCK: &str = "an `impl` block for the type";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("TO-01", DEFAULT, a_body_of_twenty_seconds_is_cut_at_one_and_never_says_its_own_error),
        row!("TO-02", DEFAULT, a_body_that_fails_in_time_says_its_own_error),
        row!("TO-03", "as it stands", a_longer_limit_cuts_later),
        row!("TO-04", "as it stands", a_longer_limit_leaves_more_time),
        row!("TO-05", "as it stands", a_shorter_limit_cuts_earlier),
        row!("TO-06", "as it stands", a_shorter_limit_leaves_a_quick_body_alone),
        row!("TO-07", "one literal in place of a number and its unit", a_limit_in_seconds_cuts),
        row!("TO-08", "one literal in place of a number and its unit", a_limit_in_seconds_leaves_time),
        row!("TO-09", BLOCK, a_blocks_limit_cuts_its_methods),
        row!("TO-10", BLOCK, a_blocks_limit_leaves_a_quick_method_alone),
        row!("TO-11", BLOCK, a_methods_longer_limit_cuts_later_than_the_blocks),
        row!("TO-12", BLOCK, a_methods_longer_limit_replaces_the_blocks),
        row!("TO-13", BLOCK, a_blocks_shorter_limit_cuts_its_methods),
        row!("TO-14", BLOCK, a_blocks_shorter_limit_leaves_a_quick_method_alone),
        row!("TO-15", BLOCK, a_methods_limit_lengthens_the_blocks_and_still_cuts),
        row!("TO-16", BLOCK, a_methods_limit_lengthens_the_blocks),
        row!("TO-17", "as it stands", outside::a_timeout_for_all),
        row!("TO-18", "as it stands", outside::a_timeout_for_the_function),
        row!("TO-19", "a future that is pending for a handle that is not done", a_call_is_pending_until_its_limit),
        row!("TO-20", "as it stands", a_call_within_its_limit_answers),
        row!("TO-21", BLOCK, a_blocks_call_is_pending_until_its_limit),
    ]
}

/// A site with a limit, and a body of so long that then fails.
macro_rules! limited {
    ($($name:ident $limit:literal)*) => {
        $(#[resilient(timeout = $limit)]
        async fn $name(length: u64) -> Result<(), AppError> {
            sleep(ms(length)).await;
            Err(TEST)
        })*
    };
}

limited! { to_01 "1s" to_02 "1s" to_03 "2000ms" to_04 "2000ms" to_05 "500ms" to_06 "500ms" to_07 "2s" to_08 "2s" }

/// Awaits a call that has to be cut off after so many milliseconds.
macro_rules! cut {
    ($call:expr, $at:literal) => {{
        let clock = Stopwatch::start();
        assert_eq!($call.await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
        clock.assert_reads(ms($at));
    }};
}

/// Awaits a call that has to fail with its own error after so many milliseconds.
macro_rules! left_alone {
    ($call:expr, $at:literal) => {{
        let clock = Stopwatch::start();
        assert_eq!($call.await.unwrap_err().broken(), Some("test"));
        clock.assert_reads(ms($at));
    }};
}

async fn a_body_of_twenty_seconds_is_cut_at_one_and_never_says_its_own_error() {
    cut!(to_01(20_000), 1_000);
}

async fn a_body_that_fails_in_time_says_its_own_error() {
    left_alone!(to_02(10), 10);
}

async fn a_longer_limit_cuts_later() {
    cut!(to_03(2_500), 2_000);
}

async fn a_longer_limit_leaves_more_time() {
    left_alone!(to_04(1_500), 1_500);
}

async fn a_shorter_limit_cuts_earlier() {
    cut!(to_05(1_000), 500);
}

async fn a_shorter_limit_leaves_a_quick_body_alone() {
    left_alone!(to_06(10), 10);
}

async fn a_limit_in_seconds_cuts() {
    cut!(to_07(2_500), 2_000);
}

async fn a_limit_in_seconds_leaves_time() {
    left_alone!(to_08(1_500), 1_500);
}

struct Second;

#[resilient(timeout = "1s", name = "to-second")]
impl Second {
    async fn inherits(&self, length: u64) -> Result<(), AppError> {
        sleep(ms(length)).await;
        Err(TEST)
    }

    #[resilient(timeout = "2000ms")]
    async fn overrides(&self, length: u64) -> Result<(), AppError> {
        sleep(ms(length)).await;
        Err(TEST)
    }
}

struct Half;

#[resilient(timeout = "500ms", name = "to-half")]
impl Half {
    async fn inherits(&self, length: u64) -> Result<(), AppError> {
        sleep(ms(length)).await;
        Err(TEST)
    }

    #[resilient(timeout = "2000ms")]
    async fn overrides(&self, length: u64) -> Result<(), AppError> {
        sleep(ms(length)).await;
        Err(TEST)
    }
}

async fn a_blocks_limit_cuts_its_methods() {
    cut!(Second.inherits(20_000), 1_000);
}

async fn a_blocks_limit_leaves_a_quick_method_alone() {
    left_alone!(Second.inherits(10), 10);
}

async fn a_methods_longer_limit_cuts_later_than_the_blocks() {
    cut!(Second.overrides(2_500), 2_000);
}

async fn a_methods_longer_limit_replaces_the_blocks() {
    left_alone!(Second.overrides(1_500), 1_500);
}

async fn a_blocks_shorter_limit_cuts_its_methods() {
    cut!(Half.inherits(1_000), 500);
}

async fn a_blocks_shorter_limit_leaves_a_quick_method_alone() {
    left_alone!(Half.inherits(10), 10);
}

async fn a_methods_limit_lengthens_the_blocks_and_still_cuts() {
    cut!(Half.overrides(2_500), 2_000);
}

async fn a_methods_limit_lengthens_the_blocks() {
    left_alone!(Half.overrides(1_500), 1_500);
}

struct Answers;

#[resilient(timeout = "2000ms", name = "to-answers")]
impl Answers {
    async fn after(&self, length: u64) -> Result<&'static str, AppError> {
        sleep(ms(length)).await;
        Ok("answer")
    }
}

#[resilient(timeout = "2000ms")]
async fn to_answers(length: u64) -> Result<&'static str, AppError> {
    sleep(ms(length)).await;
    Ok("answer")
}

/// Begins a call, finds it pending just before two seconds, and awaits its end at two.
macro_rules! pending_until_cut {
    ($call:expr) => {{
        let (mut call, clock) = (Box::pin($call), Stopwatch::start());
        assert!(poll!(&mut call).is_pending());
        advance(ms(1_999)).await;
        assert!(poll!(&mut call).is_pending(), "never early");
        assert_eq!(call.await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
        clock.assert_reads(ms(2_000));
    }};
}

async fn a_call_is_pending_until_its_limit() {
    pending_until_cut!(to_answers(5_000));
}

async fn a_call_within_its_limit_answers() {
    let clock = Stopwatch::start();
    assert_eq!(to_answers(500).await.unwrap(), "answer");
    clock.assert_reads(ms(500));
}

async fn a_blocks_call_is_pending_until_its_limit() {
    pending_until_cut!(Answers.after(5_000));
}
