//! `fallback(.., on = ..)`: what it answers for, and what reaches the caller instead.

use std::sync::Arc;

use futures::poll;
use watertight::testing::World;
use watertight::{Error, ErrorKind, Failure, FallbackUse, Fate, Refusal, deadline, resilient, shutdown};
use watertight_tests::{AppError, Gate, assert_free, caught, ms, panic_quietly, site};

const DOWN: AppError = AppError::Broken("down");

/// What a body does.
#[derive(Clone, Debug)]
enum Does {
    Succeed,
    Fail(&'static str),
    Hang,
    Wait(Arc<Gate>),
}

impl Does {
    async fn it(self) -> Result<u32, AppError> {
        match self {
            Self::Succeed => Ok(1),
            Self::Fail(why) => Err(AppError::Broken(why)),
            Self::Hang => std::future::pending().await,
            Self::Wait(gate) => {
                gate.opened().await;
                Ok(1)
            }
        }
    }
}

fn is_down(error: &AppError) -> bool {
    error.broken() == Some("down")
}

/// The three great ways to fail: refused, cut off, its own error. What each comes to, as words.
macro_rules! ends {
    ($($test:ident: $function:ident $name:literal $declared:literal on $on:tt => $refused:literal $timed_out:literal $down:literal $other:literal;)*) => {
        $(#[resilient(timeout = "50ms", bulkhead = $declared, fallback(|| 7, on = $on))]
        async fn $function(does: Does) -> Result<u32, AppError> {
            does.it().await
        }

        #[tokio::test(start_paused = true)]
        async fn $test() {
            let word = |answer: Result<u32, AppError>| match answer {
                Ok(7) => "answered".to_owned(),
                Ok(_) => "value".to_owned(),
                Err(AppError::Broken(why)) => why.to_owned(),
                Err(AppError::Refused(error)) => format!("{:?}", error.kind()),
            };
            assert_eq!(word($function(Does::Succeed).await), "value");
            let gate = Arc::new(Gate::shut());
            let mut holder = Box::pin($function(Does::Wait(Arc::clone(&gate))));
            assert!(poll!(&mut holder).is_pending());
            assert_eq!(word($function(Does::Succeed).await), $refused);
            gate.open();
            assert_eq!(word(holder.await), "value");
            assert_eq!(word($function(Does::Hang).await), $timed_out);
            assert_eq!(word($function(Does::Fail("down")).await), $down);
            assert_eq!(word($function(Does::Fail("other")).await), $other);
            let figures = site(stringify!($function));
            for (fate, word, calls) in [
                (Fate::Refused(Refusal::Full), $refused, 1),
                (Fate::TimedOut, $timed_out, 1),
                (Fate::Error, $down, 1),
                (Fate::Error, $other, 1),
            ] {
                let used = if word == "answered" { FallbackUse::Used } else { FallbackUse::None };
                assert!(figures.fate_with(fate, used) >= calls, "{fate:?} {used:?}");
            }
            let answered = [$refused, $timed_out, $down, $other].iter().filter(|word| **word == "answered").count();
            assert_eq!((figures.fallback_used, figures.fallback_failed), (answered as u64, 0));
            assert_free!($name, 1);
        })*
    };
}

ends! {
    a_word_alone_names_the_refusals:
        narrow_refused "narrow_refused" "narrow_refused:1" on refused => "answered" "TimedOut" "down" "other";
    a_list_names_everything_that_is_meant:
        narrow_list "narrow_list" "narrow_list:1" on [timeout, error] => "BulkheadFull" "answered" "answered" "answered";
    a_predicate_alone_narrows_the_errors_and_leaves_the_rest:
        narrow_predicate "narrow_predicate" "narrow_predicate:1" on is_down => "answered" "answered" "answered" "other";
    a_predicate_in_a_list_stands_for_the_errors:
        narrow_mixed "narrow_mixed" "narrow_mixed:1" on [full, |error| error.broken() == Some("down")] => "answered" "TimedOut" "answered" "other";
    any_is_everything:
        narrow_any "narrow_any" "narrow_any:1" on any => "answered" "answered" "answered" "answered";
    one_refusal_can_be_named_without_the_others:
        narrow_wait "narrow_wait" "narrow_wait:1" on wait => "BulkheadFull" "TimedOut" "down" "other";
}

/// Cannot hold a refusal, which is fine as long as the fallback answers for each.
#[derive(Debug, PartialEq)]
struct Own(&'static str);

#[resilient(timeout = "50ms", fallback(|| 7, on = |error: &Own| error.0 == "down"))]
async fn narrow_own(why: Option<&'static str>) -> Result<u32, Own> {
    match why {
        Some(why) => Err(Own(why)),
        None => std::future::pending().await,
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_that_is_not_meant_needs_no_place_for_refusals() {
    assert_eq!(narrow_own(None).await, Ok(7));
    assert_eq!(narrow_own(Some("down")).await, Ok(7));
    assert_eq!(narrow_own(Some("other")).await, Err(Own("other")));
}

#[resilient(retry(1, budget = off, backoff = "1ms..1ms"), fallback(|| 7, on = error))]
async fn narrow_error_alone() -> Result<u32, Own> {
    tokio::time::sleep(ms(100)).await;
    Err(Own("down"))
}

#[tokio::test(start_paused = true)]
async fn where_nothing_refuses_a_deadline_around_it_is_not_noticed_unless_it_is_answered_for() {
    assert_eq!(narrow_error_alone().await, Ok(7));
    let left = deadline::within(ms(150), narrow_error_alone()).await;
    assert!(left.is_err(), "whoever opened it leaves the whole tree");
    let figures = site("narrow_error_alone");
    assert_eq!((figures.calls, figures.error, figures.cancelled), (2, 1, 1));
}

struct Pages(&'static str);

impl Pages {
    #[resilient(timeout = "50ms", fallback(self.stale(&name), on = |error| self.knows(error, &name)))]
    async fn narrow_arguments(&self, name: String) -> Result<String, AppError> {
        if name == "hang" {
            std::future::pending::<()>().await;
        }
        Err(AppError::Broken(if name == "known" { "known" } else { "down" }))
    }

    fn stale(&self, name: &str) -> String {
        format!("{} {name}", self.0)
    }

    fn knows(&self, error: &AppError, name: &str) -> bool {
        !self.0.is_empty() && error.broken() == Some(name)
    }
}

#[tokio::test(start_paused = true)]
async fn fallback_and_predicate_may_name_what_the_function_was_given() {
    let pages = Pages("stale");
    assert_eq!(pages.narrow_arguments("known".to_owned()).await.unwrap(), "stale known");
    assert_eq!(pages.narrow_arguments("hang".to_owned()).await.unwrap(), "stale hang");
    assert_eq!(pages.narrow_arguments("other".to_owned()).await.unwrap_err().broken(), Some("down"));
}

#[async_trait::async_trait]
trait Store {
    async fn get(&self, why: &'static str) -> Result<u32, AppError>;
}

struct Disk(&'static str);

#[async_trait::async_trait]
impl Store for Disk {
    #[resilient(retry(1, budget = off, backoff = "1ms..1ms"), fallback(|| 7, on = |error| error.broken() == Some(self.0)), name = "narrow_trait")]
    async fn get(&self, why: &'static str) -> Result<u32, AppError> {
        Err(AppError::Broken(why))
    }
}

#[tokio::test(start_paused = true)]
async fn a_predicate_may_name_the_receiver_of_an_async_trait() {
    assert_eq!(Disk("down").get("down").await.unwrap(), 7);
    assert_eq!(Disk("down").get("other").await.unwrap_err().broken(), Some("other"));
    assert_eq!(site("narrow_trait").retries, 2, "after all attempts, and about the last");
}

#[resilient(timeout = "50ms", fallback(last_good("60s", shared), on = [timeout, refused]))]
async fn narrow_last_good(does: Does) -> Result<u32, AppError> {
    does.it().await
}

#[tokio::test(start_paused = true)]
async fn the_most_recent_success_can_be_narrowed_too() {
    assert_eq!(narrow_last_good(Does::Succeed).await.unwrap(), 1);
    assert_eq!(narrow_last_good(Does::Hang).await.unwrap(), 1);
    assert_eq!(narrow_last_good(Does::Fail("down")).await.unwrap_err().broken(), Some("down"));
    let figures = site("narrow_last_good");
    assert_eq!(figures.fate_with(Fate::TimedOut, FallbackUse::LastGood), 1);
    assert_eq!(figures.fate_with(Fate::Error, FallbackUse::None), 1);
}

#[resilient(timeout = "50ms", hedge = "10ms", idempotent, fallback(|failure| kind(&failure), on = timeout))]
async fn narrow_hedged(does: Does) -> Result<u32, AppError> {
    does.it().await
}

#[resilient(isolate = "narrow_isolated:1", timeout = "10s", fallback(|failure| kind(&failure), on = is_down))]
async fn narrow_isolated(why: &'static str) -> Result<u32, AppError> {
    Err(AppError::Broken(why))
}

fn kind(failure: &Failure<AppError>) -> u32 {
    failure.refusal().map_or(8, |error| if error.kind() == ErrorKind::TimedOut { 9 } else { 10 })
}

#[tokio::test(start_paused = true)]
async fn hedged_functions_and_those_with_threads_of_their_own_can_be_narrowed() {
    assert_eq!(narrow_hedged(Does::Hang).await.unwrap(), 9);
    assert_eq!(narrow_hedged(Does::Fail("down")).await.unwrap_err().broken(), Some("down"));
    assert_eq!(narrow_isolated("down").await.unwrap(), 8);
    assert_eq!(narrow_isolated("other").await.unwrap_err().broken(), Some("other"));
}

#[resilient(bulkhead = "narrow_panics:1", fallback(|| 7, on = |error| is_down(error) && panic_quietly()))]
async fn narrow_panics() -> Result<u32, AppError> {
    Err(DOWN)
}

#[tokio::test(start_paused = true)]
async fn a_predicate_that_panics_surfaces_and_loses_nothing() {
    caught(narrow_panics()).await.expect_err("a panic surfaces");
    let figures = site("narrow_panics");
    assert_eq!((figures.calls, figures.fate_with(Fate::Error, FallbackUse::Failed), figures.in_flight), (1, 1, 0));
    assert_free!("narrow_panics", 1);
}

#[resilient(timeout = "50ms", fallback(|| 7, on = timeout))]
async fn narrow_unanswered() -> Result<u32, Error> {
    Ok(1)
}

#[resilient(timeout = "50ms", fallback(|| 7, on = [timeout, error]))]
async fn narrow_cut() -> Result<u32, Error> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_is_spent_is_a_refusal_and_one_that_cuts_off_is_a_timeout() {
    let spent = deadline::within(ms(10), async {
        tokio::time::advance(ms(10)).await;
        narrow_unanswered().await
    });
    assert_eq!(spent.await.unwrap().unwrap_err().kind(), ErrorKind::Deadline, "not named, so it is the caller's");
    let cut = deadline::within(ms(10), narrow_cut()).await;
    assert_eq!(cut.unwrap().unwrap(), 7);
    assert_eq!(site("narrow_unanswered").fate_with(Fate::Refused(Refusal::Deadline), FallbackUse::None), 1);
}

#[resilient(retry(2, budget = off, backoff = "1ms..1ms"), fallback = |error: Own| u32::from(error.0 == "down"))]
async fn own_errors(why: &'static str) -> Result<u32, Own> {
    Err(Own(why))
}

#[resilient(breaker, mode = observe, fallback = async |error: Own| if error.0 == "down" { Ok(8) } else { Err(error) })]
async fn own_errors_later(why: &'static str) -> Result<u32, Own> {
    Err(Own(why))
}

#[tokio::test(start_paused = true)]
async fn a_closure_that_takes_the_error_needs_no_place_for_refusals_where_nothing_refuses() {
    assert_eq!(own_errors("down").await, Ok(1));
    assert_eq!(own_errors("other").await, Ok(0));
    assert_eq!(own_errors_later("down").await, Ok(8));
    assert_eq!(own_errors_later("other").await, Err(Own("other")));
}

#[resilient(retry(1, budget = off, backoff = "1ms..1ms"))]
async fn told_nothing() -> Result<u32, Own> {
    Ok(5)
}

#[resilient(retry(1, budget = off, backoff = "1ms..1ms"), fallback = || 7)]
async fn told_anything() -> Result<u32, Own> {
    Ok(5)
}

#[tokio::test(start_paused = true)]
async fn a_process_that_shuts_down_refuses_what_can_be_told_so() {
    let _world = World::open();
    assert_eq!((told_nothing().await, own_errors("down").await, told_anything().await), (Ok(5), Ok(1), Ok(5)));
    shutdown::begin();
    assert_eq!((told_nothing().await, own_errors("down").await), (Ok(5), Ok(1)), "there is nobody who could say it");
    assert_eq!(told_anything().await, Ok(7));
}
