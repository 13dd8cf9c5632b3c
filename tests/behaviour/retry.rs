//! `retry`: try again, within a budget.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::future::join_all;
use futures::poll;
use tokio::time::{advance, sleep};
use watertight::{Class, Classify, Error, ErrorKind, StopReason, resilient};
use watertight_tests::{AppError, Gate, Stopwatch, assert_free, assert_idle, ms, occupancy, site, yields};

const DOWN: AppError = AppError::Broken("down");

#[resilient(retry = 2)]
async fn retry_counts(tried: &AtomicU32, well_at: u32) -> Result<u32, AppError> {
    tried.fetch_add(1, Ordering::SeqCst);
    let attempt = watertight::attempt();
    if attempt == well_at { Ok(attempt) } else { Err(DOWN) }
}

#[tokio::test(start_paused = true)]
async fn two_means_up_to_two_further_attempts() {
    let tried = AtomicU32::new(0);
    assert_eq!(retry_counts(&tried, 0).await.unwrap(), 0);
    assert_eq!(tried.swap(0, Ordering::SeqCst), 1, "a success is not tried again");
    assert_eq!(retry_counts(&tried, 2).await.unwrap(), 2);
    assert_eq!(tried.swap(0, Ordering::SeqCst), 3);
    assert_eq!(retry_counts(&tried, 3).await.unwrap_err().broken(), Some("down"), "the body's own last error");
    assert_eq!(tried.load(Ordering::SeqCst), 3);
    let figures = site("retry_counts");
    assert_eq!((figures.calls, figures.retries, figures.stopped_for(StopReason::Exhausted)), (3, 4, 1));
}

#[resilient(retry(4, backoff = "100ms..300ms", budget = off))]
async fn retry_pauses(clock: Stopwatch, times: &std::sync::Mutex<Vec<Duration>>) -> Result<(), AppError> {
    times.lock().unwrap().push(clock.read());
    Err(DOWN)
}

#[tokio::test(start_paused = true)]
async fn pauses_are_drawn_below_a_bound_that_doubles_up_to_the_cap() {
    let mut longest = [ms(0); 4];
    let mut shortest = [ms(9_999); 4];
    for _ in 0..200 {
        let times = std::sync::Mutex::default();
        retry_pauses(Stopwatch::start(), &times).await.unwrap_err();
        let times = times.into_inner().unwrap();
        for (n, pair) in times.windows(2).enumerate() {
            longest[n] = longest[n].max(pair[1].saturating_sub(pair[0]));
            shortest[n] = shortest[n].min(pair[1].saturating_sub(pair[0]));
        }
    }
    for (n, bound) in [100, 200, 300, 300].into_iter().enumerate() {
        assert!(longest[n] <= ms(bound + 2), "pause {n}: {:?}", longest[n]);
        assert!(longest[n] > ms(bound * 9 / 10), "the whole width is used: pause {n}, {:?}", longest[n]);
        assert!(shortest[n] < ms(bound / 10), "from nothing on: pause {n}, {:?}", shortest[n]);
    }
}

/// Counts its clones.
#[derive(Debug, Default)]
struct Counted {
    clones: std::sync::Arc<AtomicU32>,
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.clones.fetch_add(1, Ordering::SeqCst);
        Self { clones: std::sync::Arc::clone(&self.clones) }
    }
}

impl Counted {
    fn new() -> (Self, std::sync::Arc<AtomicU32>) {
        let counted = Self::default();
        let clones = std::sync::Arc::clone(&counted.clones);
        (counted, clones)
    }
}

#[resilient(retry(3, budget = off))]
async fn retry_clones(given: Counted, well_at: u32) -> Result<Counted, AppError> {
    yields(1).await;
    if watertight::attempt() == well_at { Ok(given) } else { Err(DOWN) }
}

#[resilient(timeout = "1s", bulkhead = "no_retry_clones:1", breaker, fallback = |_failure| Counted::default())]
async fn no_retry_clones(given: Counted) -> Result<Counted, AppError> {
    yields(1).await;
    Ok(given)
}

#[tokio::test(start_paused = true)]
async fn an_argument_is_cloned_per_attempt_but_the_last_and_never_without_retry() {
    for (well_at, expected) in [(0, 1), (1, 2), (2, 3), (3, 3), (9, 3)] {
        let (counted, clones) = Counted::new();
        let _ = retry_clones(counted, well_at).await;
        assert_eq!(clones.load(Ordering::SeqCst), expected, "well at attempt {well_at}");
    }
    let (counted, clones) = Counted::new();
    no_retry_clones(counted).await.unwrap();
    assert_eq!(clones.load(Ordering::SeqCst), 0);
}

#[resilient(retry(2, budget = off))]
async fn retry_mut_arguments(mut parts: Vec<u32>, (mut sum, step): (u32, u32)) -> Result<(Vec<u32>, u32), AppError> {
    parts.push(watertight::attempt());
    sum += step;
    if watertight::attempt() == 2 { Ok((parts, sum)) } else { Err(DOWN) }
}

#[tokio::test(start_paused = true)]
async fn each_attempt_starts_from_the_original_arguments() {
    assert_eq!(retry_mut_arguments(vec![7], (10, 1)).await.unwrap(), (vec![7, 2], 11));
}

#[derive(Default)]
struct Client {
    sent: Vec<u32>,
}

impl Client {
    #[resilient(retry(2, budget = off))]
    async fn retry_mut_self(&mut self, part: String) -> Result<usize, AppError> {
        yields(1).await;
        self.sent.push(watertight::attempt());
        if self.sent.len() < 3 { Err(DOWN) } else { Ok(part.len() + self.sent.len()) }
    }
}

#[tokio::test(start_paused = true)]
async fn a_mutable_receiver_works_and_what_was_done_to_it_stays() {
    let mut client = Client::default();
    assert_eq!(client.retry_mut_self("abc".to_owned()).await.unwrap(), 6);
    assert_eq!(client.sent, [0, 1, 2]);
}

#[resilient(retry(2, on = |error| error.broken() == Some("blip"), budget = off))]
async fn retry_on_predicate(why: &'static str) -> Result<(), AppError> {
    Err(AppError::Broken(why))
}

#[tokio::test(start_paused = true)]
async fn a_predicate_says_which_errors_are_tried_again() {
    retry_on_predicate("blip").await.unwrap_err();
    assert_eq!(site("retry_on_predicate").attempts(), 3);
    retry_on_predicate("no such row").await.unwrap_err();
    assert_eq!(site("retry_on_predicate").attempts(), 4);
    assert_eq!(site("retry_on_predicate").stopped_for(StopReason::NotRetryable), 1);
}

#[derive(Debug)]
struct Permanent;

impl Classify for Permanent {
    fn class(&self) -> Class {
        Class::Permanent
    }
}

#[resilient(retry(2, on = |_error: &Permanent| true, budget = off))]
async fn retry_predicate_over_class() -> Result<(), Permanent> {
    Err(Permanent)
}

#[resilient(retry(2, budget = off))]
async fn retry_by_class() -> Result<(), Permanent> {
    Err(Permanent)
}

#[tokio::test(start_paused = true)]
async fn the_error_classifies_itself_and_a_predicate_overrides_it() {
    retry_by_class().await.unwrap_err();
    assert_eq!(site("retry_by_class").attempts(), 1);
    retry_predicate_over_class().await.unwrap_err();
    assert_eq!(site("retry_predicate_over_class").attempts(), 3);
}

/// Holds the only slot of a bulkhead while something is tried there.
macro_rules! against_a_full_bulkhead {
    ($function:ident, $holder:ident, $name:tt, $declared:tt, $($on:tt)*) => {
        #[resilient(bulkhead = $declared, retry(2, backoff = "10ms..10ms", budget = off $($on)*))]
        async fn $function() -> Result<(), AppError> {
            Ok(())
        }

        #[resilient(bulkhead = $name)]
        async fn $holder(gate: &Gate) -> Result<(), AppError> {
            gate.opened().await;
            Ok(())
        }
    };
}

against_a_full_bulkhead!(retry_full, retry_full_hold, "retry_full", "retry_full:1", , on = [full]);
against_a_full_bulkhead!(retry_full_default, retry_full_default_hold, "retry_full_default", "retry_full_default:1",);
against_a_full_bulkhead!(retry_wait, retry_wait_hold, "retry_wait", "retry_wait:1/queue:1/wait:50ms", , on = [wait]);

#[tokio::test(start_paused = true)]
async fn a_full_bulkhead_is_asked_again_only_when_named() {
    let gate = Gate::shut();
    let mut holder = Box::pin(retry_full_default_hold(&gate));
    assert!(poll!(&mut holder).is_pending());
    assert_eq!(retry_full_default().await.unwrap_err().kind(), Some(ErrorKind::BulkheadFull));
    let figures = site("retry_full_default");
    assert_eq!((figures.retries, figures.stopped_for(StopReason::NotRetryable)), (0, 1));
    let mut holder = Box::pin(retry_full_hold(&gate));
    assert!(poll!(&mut holder).is_pending());
    assert_eq!(retry_full().await.unwrap_err().kind(), Some(ErrorKind::BulkheadFull));
    let figures = site("retry_full");
    assert_eq!((figures.retries, figures.attempts(), figures.stopped_for(StopReason::Exhausted)), (2, 0, 1));
    let (answer, ()) = tokio::join!(retry_full(), async {
        yields(2).await;
        gate.open();
        holder.await.unwrap();
    });
    answer.expect("free by the second attempt");
    assert_free!("retry_full", 1);
}

#[tokio::test(start_paused = true)]
async fn a_wait_in_vain_is_tried_again_only_when_named() {
    let gate = Gate::shut();
    let mut holder = Box::pin(retry_wait_hold(&gate));
    assert!(poll!(&mut holder).is_pending());
    let clock = Stopwatch::start();
    assert_eq!(retry_wait().await.unwrap_err().kind(), Some(ErrorKind::BulkheadWait));
    assert!(clock.read() >= ms(150), "three waits of 50 ms: {:?}", clock.read());
    assert_eq!(site("retry_wait").retries, 2);
    drop(holder);
    assert_free!("retry_wait", 1);
}

#[resilient(timeout = "50ms", retry(2, on = [timeout], backoff = "1ms..1ms", budget = off), idempotent)]
async fn retry_only_timeouts(hangs: bool) -> Result<(), AppError> {
    if hangs {
        std::future::pending::<()>().await;
    }
    Err(DOWN)
}

#[resilient(timeout = "50ms", retry(2, on = [error], backoff = "1ms..1ms", budget = off), idempotent)]
async fn retry_only_errors(hangs: bool) -> Result<(), AppError> {
    if hangs {
        std::future::pending::<()>().await;
    }
    Err(DOWN)
}

#[tokio::test(start_paused = true)]
async fn a_list_names_exactly_what_is_tried_again() {
    retry_only_timeouts(false).await.unwrap_err();
    assert_eq!(site("retry_only_timeouts").attempts(), 1, "an error is not in the list [timeout]");
    retry_only_timeouts(true).await.unwrap_err();
    assert_eq!(site("retry_only_timeouts").attempts(), 4);
    retry_only_errors(false).await.unwrap_err();
    assert_eq!(site("retry_only_errors").attempts(), 3);
    retry_only_errors(true).await.unwrap_err();
    assert_eq!(site("retry_only_errors").attempts(), 4, "a timeout is not in the list [error], idempotent or not");
}

#[resilient(retry = 1)]
async fn retry_budget() -> Result<(), AppError> {
    Err(DOWN)
}

#[tokio::test(start_paused = true)]
async fn the_default_budget_is_ten_at_first_and_a_fifth_of_the_calls() {
    let answers = join_all((0..100).map(|_| retry_budget())).await;
    assert!(answers.iter().all(|answer| answer.as_ref().is_err_and(|e| e.broken() == Some("down"))));
    let figures = site("retry_budget");
    assert_eq!((figures.retries, figures.stopped_for(StopReason::Budget)), (30, 70));
    // A quiet site may still retry: the window slides on, and ten more are granted.
    advance(Duration::from_secs(20)).await;
    for _ in 0..20 {
        retry_budget().await.unwrap_err();
    }
    assert_eq!(site("retry_budget").retries, 44, "ten, and a fifth of twenty");
}

#[resilient(retry(1, budget = "0%+1/s", backoff = "1s..1s"))]
async fn retry_budget_returned() -> Result<(), AppError> {
    Err(DOWN)
}

#[tokio::test(start_paused = true)]
async fn a_retry_in_its_pause_is_spent_and_a_dropped_pause_gives_it_back() {
    let mut paused: Vec<_> = (0..10).map(|_| Box::pin(retry_budget_returned())).collect();
    for call in &mut paused {
        assert!(poll!(call).is_pending());
    }
    let mut eleventh = Box::pin(retry_budget_returned());
    assert!(poll!(&mut eleventh).is_ready(), "ten are asleep, so the budget is spent");
    assert_eq!(site("retry_budget_returned").stopped_for(StopReason::Budget), 1);
    paused.pop();
    let mut twelfth = Box::pin(retry_budget_returned());
    assert!(poll!(&mut twelfth).is_pending(), "one was given back");
    drop(twelfth);
    join_all(paused).await;
    let figures = site("retry_budget_returned");
    assert_eq!((figures.retries, figures.cancelled), (9, 2));
    assert_idle("retry_budget_returned");
}

#[resilient(retry(1, budget = "50%+0/s", backoff = "1ms..1ms"))]
async fn retry_budget_half() -> Result<(), AppError> {
    Err(DOWN)
}

#[resilient(retry(1, budget = off, backoff = "1ms..1ms"))]
async fn retry_budget_off() -> Result<(), AppError> {
    Err(DOWN)
}

#[tokio::test(start_paused = true)]
async fn a_budget_can_be_set_or_left_out() {
    join_all((0..100).map(|_| retry_budget_half())).await;
    assert_eq!(site("retry_budget_half").retries, 50);
    join_all((0..100).map(|_| retry_budget_off())).await;
    assert_eq!(site("retry_budget_off").retries, 100);
}

#[resilient(retry(1, backoff = "10s..10s", budget = off), bulkhead = "retry_holds_nothing:1")]
async fn retry_holds_nothing(fails: bool) -> Result<(), AppError> {
    if fails && watertight::attempt() == 0 { Err(DOWN) } else { Ok(()) }
}

#[tokio::test(start_paused = true)]
async fn no_slot_is_held_in_a_pause() {
    let mut paused = Box::pin(retry_holds_nothing(true));
    while poll!(&mut paused).is_ready() {
        // A pause of less than a timer's step; drawn again.
        paused = Box::pin(retry_holds_nothing(true));
    }
    assert_eq!(occupancy("retry_holds_nothing"), (0, 0));
    retry_holds_nothing(false).await.expect("somebody else runs meanwhile");
    paused.await.unwrap();
    assert_free!("retry_holds_nothing", 1);
}

#[resilient(retry = 5)]
async fn retry_plain(tried: &AtomicU32) -> u32 {
    sleep(ms(1)).await;
    tried.fetch_add(1, Ordering::SeqCst) + 1
}

#[tokio::test(start_paused = true)]
async fn a_function_that_returns_no_result_has_nothing_to_be_tried_again() {
    assert_eq!(retry_plain(&AtomicU32::new(0)).await, 1);
    assert_eq!((site("retry_plain").ok, site("retry_plain").retries), (1, 0));
}

/// An error that comes up from a guarded function inside.
#[resilient(retry(2, budget = off))]
async fn retry_around_a_refusal(inner: fn() -> Error) -> Result<(), Error> {
    Err(inner())
}

#[resilient(bulkhead = "retry_refusal:1")]
async fn retry_refusal() -> Result<Result<(), Error>, Error> {
    // The slot this call holds is lent to nobody outside it.
    Ok(tokio::spawn(retry_refusal_other()).await.expect("no panic"))
}

#[resilient(bulkhead = "retry_refusal")]
async fn retry_refusal_other() -> Result<(), Error> {
    Ok(())
}

static REFUSED: std::sync::Mutex<Option<Error>> = std::sync::Mutex::new(None);

#[tokio::test(start_paused = true)]
async fn a_refusal_from_inside_is_not_tried_again() {
    let refused = retry_refusal().await.unwrap().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::BulkheadFull);
    *REFUSED.lock().unwrap() = Some(refused);
    retry_around_a_refusal(|| REFUSED.lock().unwrap().take().expect("once only")).await.unwrap_err();
    assert_eq!(site("retry_around_a_refusal").attempts(), 1);
}
