//! Guards built by hand: the same pipeline for closures, under a name, beside the attribute.

use std::convert::Infallible;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::poll;
use tokio::time::sleep;
use watertight::guard::{Backoff, Breaker, BreakerOn, Budget, Bulkhead, Rate, Retry, RetryOn};
use watertight::metrics::BreakerState;
use watertight::{
    AttemptFate, Class, Classify, Error, ErrorKind, Failure, FallbackUse, Fate, Guard, StopReason, Verdict, check,
    deadline, resilient,
};
use watertight_tests::{
    AppError, Gate, Stopwatch, assert_free, assert_idle, assert_quiet, breaker, bulkhead, caught, ms, occupancy,
    panic_quietly, site,
};

fn broken() -> io::Error {
    io::Error::other("broken")
}

/// The refusal in it.
#[track_caller]
fn refused<T: std::fmt::Debug, E: std::fmt::Debug>(answer: Result<T, Failure<E>>) -> Error {
    match answer {
        Err(Failure::Refused(error)) => error,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_guard_takes_its_tokens_from_the_rate_it_names() {
    let build = |name: &'static str, rate: Rate| Guard::named(name).rate(rate).build().unwrap();
    let declares = build("guard-rate-declares", Rate::named("guard-rate", 2, ms(1_000)));
    let joins = build("guard-rate-joins", Rate::join("guard-rate"));
    let quick = || async { Ok::<_, io::Error>(1) };
    declares.run(quick).await.unwrap();
    joins.run(quick).await.unwrap();
    for guard in [declares, joins] {
        let error = refused(guard.run(quick).await);
        assert_eq!((error.kind(), error.retry_after()), (ErrorKind::RateLimited, Some(ms(500))));
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_an_error_and_a_refusal_are_told_apart() {
    let guard = Guard::named("guard_apart").timeout(ms(300)).build().unwrap();
    assert_eq!(guard.run(|| async { Ok::<_, io::Error>(7) }).await.unwrap(), 7);
    let failed = guard.run(|| async { Err::<(), _>(broken()) }).await.unwrap_err();
    assert!(matches!(&failed, Failure::Failed(error) if error.to_string() == "broken"));
    let clock = Stopwatch::start();
    let error = refused(guard.run(std::future::pending::<Result<(), io::Error>>).await);
    clock.assert_reads(ms(300));
    assert_eq!((error.kind(), error.strategy()), (ErrorKind::TimedOut, "timeout"));
    assert_eq!(error.to_string(), "guard_apart: timed out after 300ms (timeout)");
    let figures = site("guard_apart");
    assert_eq!((figures.ok, figures.error, figures.timed_out, figures.calls), (1, 1, 1, 3));
    assert_idle("guard_apart");
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_an_error_like_any_other() {
    let guard = Guard::named("guard_dyn").timeout(ms(30)).build().unwrap();
    let answer: Result<(), Box<dyn std::error::Error + Send + Sync>> = async {
        guard.run(std::future::pending::<Result<(), io::Error>>).await?;
        Ok(())
    }
    .await;
    assert_eq!(answer.unwrap_err().to_string(), "guard_dyn: timed out after 30ms (timeout)");
    let answer: anyhow::Result<()> = async { Ok(guard.run(|| async { Err(broken()) }).await?) }.await;
    assert!(matches!(answer.unwrap_err().downcast_ref::<Failure<io::Error>>(), Some(Failure::Failed(_))));
    let error: io::Error = guard.run(|| async { Err::<(), _>(broken()) }).await.unwrap_err().into_error();
    assert_eq!(error.to_string(), "broken");
}

#[resilient(bulkhead = "guard_shared:1/queue:1", breaker = "guard_shared")]
async fn guard_shared(gate: &Gate) -> Result<(), Error> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn attribute_and_guard_share_state_by_name() {
    let guard = Guard::named("guard_shared_too")
        .bulkhead(Bulkhead::join("guard_shared"))
        .breaker(Breaker::named("guard_shared").window(4))
        .build()
        .unwrap();
    let gate = Gate::shut();
    let mut held = Box::pin(guard_shared(&gate));
    assert!(poll!(&mut held).is_pending());
    let mut queued = Box::pin(guard.run(|| async { Err::<(), _>(broken()) }));
    assert!(poll!(&mut queued).is_pending());
    assert_eq!(occupancy("guard_shared"), (1, 1));
    let full = refused(guard.run(|| async { Ok::<_, io::Error>(()) }).await);
    assert_eq!((full.kind(), full.name()), (ErrorKind::BulkheadFull, Some("guard_shared")));
    gate.open();
    held.await.unwrap();
    assert!(matches!(queued.await, Err(Failure::Failed(_))));
    for _ in 0..2 {
        assert!(guard.run(|| async { Err::<(), _>(broken()) }).await.is_err());
    }
    assert_eq!(breaker("guard_shared").state, BreakerState::Open);
    assert_eq!(guard_shared(&gate).await.unwrap_err().kind(), ErrorKind::BreakerOpen, "opened by the guard's calls");
    assert_quiet("guard_shared", 1);
}

#[tokio::test(start_paused = true)]
async fn the_closure_is_called_once_per_attempt_and_not_before_it_has_its_slot() {
    let guard = Guard::named("guard_called")
        .bulkhead(Bulkhead::new("guard_called", 1).queue(1))
        .retry(Retry::new(2).backoff(Backoff::between(ms(10), ms(10))))
        .build()
        .unwrap();
    let gate = Gate::shut();
    let mut held = Box::pin(guard.run(|| async {
        gate.opened().await;
        Ok::<_, io::Error>(())
    }));
    assert!(poll!(&mut held).is_pending());
    let mut seen = Vec::new();
    let mut call = Box::pin(guard.run(|| {
        // Before its first `.await`, and all the same inside: the context is the attempt's, the slot is taken.
        seen.push((watertight::attempt(), occupancy("guard_called").0));
        async { Err::<(), _>(broken()) }
    }));
    let x = poll!(&mut call);
    assert!(x.is_pending(), "{x:?}");
    assert_eq!(occupancy("guard_called"), (1, 1), "it waits, uncalled");
    gate.open();
    held.await.unwrap();
    assert!(matches!(call.await, Err(Failure::Failed(_))));
    assert_eq!(seen, [(0, 1), (1, 1), (2, 1)]);
    let figures = site("guard_called");
    assert_eq!((figures.attempts(), figures.retries, figures.stopped_for(StopReason::Exhausted)), (4, 2, 1));
    assert_free!("guard_called", 1);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_names_the_error_of_the_attempt_before_as_its_source() {
    let guard = Guard::named("guard_source")
        .timeout(ms(50))
        .retry(Retry::new(1).backoff(Backoff::between(ms(1), ms(1))))
        .build()
        .unwrap();
    let mut first = true;
    let error = refused(
        guard
            .run(|| {
                let fails = std::mem::take(&mut first);
                async move { if fails { Err::<(), _>(broken()) } else { std::future::pending().await } }
            })
            .await,
    );
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "broken");
}

#[tokio::test(start_paused = true)]
async fn timeouts_are_tried_again_only_where_that_does_no_harm() {
    let hang = || std::future::pending::<Result<(), io::Error>>();
    let build = |name| Guard::named(name).timeout(ms(10)).retry(Retry::new(1).backoff(Backoff::between(ms(1), ms(1))));
    let once = build("guard_once").build().unwrap();
    assert_eq!(refused(once.run(hang).await).kind(), ErrorKind::TimedOut);
    assert_eq!(site("guard_once").attempts_by(AttemptFate::TimedOut), 1);
    let twice = build("guard_twice").idempotent().build().unwrap();
    assert_eq!(refused(twice.run(hang).await).kind(), ErrorKind::TimedOut);
    assert_eq!(site("guard_twice").attempts_by(AttemptFate::TimedOut), 2);
    let listed = Guard::named("guard_listed")
        .timeout(ms(10))
        .retry(Retry::new(1).on([RetryOn::Timeout]).budget(Budget::off()))
        .idempotent()
        .build()
        .unwrap();
    assert!(listed.run(|| async { Err::<(), _>(broken()) }).await.is_err());
    assert_eq!(site("guard_listed").attempts(), 1, "errors are not in the list");
}

#[derive(Debug)]
struct Gone;

impl std::fmt::Display for Gone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("gone")
    }
}

impl std::error::Error for Gone {}

impl Classify for Gone {
    fn class(&self) -> Class {
        Class::Permanent
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_type_speaks_for_itself_when_asked() {
    let build = |name| Guard::named(name).retry(Retry::new(2).backoff(Backoff::between(ms(1), ms(1)))).build().unwrap();
    assert!(build("guard_every").run(|| async { Err::<(), _>(Gone) }).await.is_err());
    assert_eq!(site("guard_every").attempts(), 3, "every error is worth another try");
    assert!(build("guard_class").classified().run(|| async { Err::<(), _>(Gone) }).await.is_err());
    assert_eq!(site("guard_class").attempts(), 1, "this one says that it is not");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_an_inner_guard_neither_counts_nor_is_tried_again() {
    let inner = Guard::named("guard_inner").bulkhead(Bulkhead::new("guard_inner", 1)).build().unwrap();
    let outer = Guard::named("guard_outer").breaker(Breaker::own().window(2)).retry(1).build().unwrap().classified();
    let gate = Gate::shut();
    let mut held = Box::pin(inner.run(|| async {
        gate.opened().await;
        Ok::<_, Gone>(())
    }));
    assert!(poll!(&mut held).is_pending());
    for _ in 0..4 {
        let answer: Result<(), Failure<Gone>> = outer.run_into(|| inner.run(|| async { Ok(()) })).await;
        assert_eq!(
            refused(answer).to_string(),
            "guard_inner: bulkhead `guard_inner` is full (1 of 1 slots running, 0 of 0 queued)"
        );
    }
    let now = breaker("guard_outer");
    assert_eq!((now.state, now.failures), (BreakerState::Closed, 0));
    assert_eq!(site("guard_outer").retries, 0);
}

#[tokio::test(start_paused = true)]
async fn an_answer_can_be_judged_as_a_whole() {
    let guard = Guard::named("guard_status")
        .breaker(Breaker::own().window(4).on([BreakerOn::Error]))
        .retry(Retry::new(1).backoff(Backoff::between(ms(1), ms(1))))
        .build()
        .unwrap()
        .judge(|answer: &Result<u16, Infallible>| match answer {
            Ok(500..) => Verdict::error(Class::Retryable, Some(ms(70))),
            _ => Verdict::OK,
        });
    let clock = Stopwatch::start();
    assert_eq!(guard.run(|| async { Ok(503) }).await.unwrap(), 503, "the caller gets the last answer");
    clock.assert_reads(ms(70));
    let figures = site("guard_status");
    assert_eq!((figures.error, figures.attempts_by(AttemptFate::Error)), (1, 2));
    let _ = guard.run(|| async { Ok(503) }).await;
    assert_eq!(breaker("guard_status").state, BreakerState::Open);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_answers_once_with_nothing_held() {
    let guard = Guard::named("guard_fallback").bulkhead(Bulkhead::new("guard_fallback", 1)).retry(1).build().unwrap();
    let asked = AtomicU32::new(0);
    let answer = guard
        .run_with_fallback(
            || async { Err(broken()) },
            |failure| {
                asked.fetch_add(1, Ordering::SeqCst);
                async move {
                    assert_eq!(occupancy("guard_fallback"), (0, 0));
                    assert!(failure.error().is_some());
                    sleep(ms(5)).await;
                    Ok(8)
                }
            },
        )
        .await;
    assert_eq!((answer.unwrap(), asked.load(Ordering::SeqCst)), (8, 1));
    let surfaced =
        guard.run_with_fallback(|| async { Err::<(), _>(broken()) }, |_| async { Err(io::Error::other("too")) });
    assert_eq!(surfaced.await.unwrap_err().to_string(), "too");
    assert_eq!(guard.run_or_else(|| async { Err(broken()) }, |_| 9).await, 9);
    assert_eq!(guard.run_or_else(|| async { Ok::<_, io::Error>(1) }, |_| 9).await, 1);
    let figures = site("guard_fallback");
    assert_eq!(figures.fate_with(Fate::Error, FallbackUse::Used), 2);
    assert_eq!(figures.fate_with(Fate::Error, FallbackUse::Failed), 1);
    assert_eq!((figures.fate_with(Fate::Ok, FallbackUse::None), figures.calls), (1, 4));
}

#[tokio::test(start_paused = true)]
async fn refusals_come_in_the_callers_own_type_where_it_has_a_place_for_them() {
    let guard = Guard::named("guard_into").timeout(ms(20)).build().unwrap();
    let answer: Result<(), AppError> = guard.run_into(std::future::pending).await;
    assert_eq!(answer.unwrap_err().refused().kind(), ErrorKind::TimedOut);
    let answer: Result<(), AppError> = guard.run_into(|| async { Err(AppError::Broken("no")) }).await;
    assert_eq!(answer.unwrap_err().broken(), Some("no"));
}

#[tokio::test(start_paused = true)]
async fn a_guard_that_only_retries_heeds_the_deadline_around_it() {
    let guard = Guard::named("guard_heeds").retry(1).build().unwrap();
    let answer = deadline::within(ms(10), async {
        tokio::time::advance(ms(10)).await;
        guard.run(|| async { Ok::<_, io::Error>(()) }).await
    });
    assert_eq!(refused(answer.await.expect("polled once")).kind(), ErrorKind::Deadline);
}

#[tokio::test(start_paused = true)]
async fn a_call_can_be_spawned_dropped_and_can_panic() {
    let guard = Guard::named("guard_ends").bulkhead(Bulkhead::new("guard_ends", 2)).build().unwrap();
    let spawned = tokio::spawn(async move { guard.run(|| async { Ok::<_, io::Error>(5) }).await });
    assert_eq!(spawned.await.unwrap().unwrap(), 5);
    let mut dropped = Box::pin(guard.run(std::future::pending::<Result<(), io::Error>>));
    assert!(poll!(&mut dropped).is_pending());
    drop(dropped);
    assert!(
        caught(guard.run(|| async { if true { panic_quietly() } else { Ok::<(), io::Error>(()) } })).await.is_err()
    );
    let figures = site("guard_ends");
    assert_eq!((figures.ok, figures.cancelled, figures.panicked, figures.calls), (1, 1, 1, 3));
    assert_free!("guard_ends", 2);
}

#[test]
fn a_guard_is_listed_with_its_place_before_its_first_call() {
    let line = line!() + 1;
    let guard = Guard::named("guard_listed_early").timeout(ms(1)).build().unwrap();
    let figures = site("guard_listed_early");
    assert_eq!((figures.calls, figures.file, figures.line), (0, file!(), line));
    assert_eq!(guard.identity().to_string(), format!("guard_listed_early ({}:{line})", file!()));
    assert_eq!(format!("{guard:?}"), format!("Guard({:?})", guard.identity().to_string()));
}

#[test]
fn a_name_built_again_is_the_same_guard_and_with_other_settings_an_error_that_names_both_places() {
    let build =
        |slots| Guard::named(format!("guard_{}", "again")).bulkhead(Bulkhead::new(String::from("guard_again"), slots));
    let (one, two) = (build(3).build().unwrap(), build(3).build().unwrap());
    assert!(std::ptr::eq(one.identity(), two.identity()), "one site");
    let sites = watertight::snapshot().sites;
    assert_eq!(sites.iter().filter(|site| site.name == "guard_again").count(), 1);
    let line = line!() + 1;
    let other = Guard::named("guard_again").timeout(ms(5));
    let other = other.bulkhead(Bulkhead::new("guard_again", 4)).build().unwrap_err();
    let first = one.identity().line;
    let said = other.to_string();
    assert_eq!(
        said,
        format!(
            "guard `guard_again` ({0}:{line}): a guard of this name was built at {0}:{first} with other settings (`timeout`, \
             `bulkhead`), and only one of the two could hold; give one of them another name, or both the same settings",
            file!()
        )
    );
    assert_eq!(bulkhead("guard_again").slots, 3, "what was refused changes nothing");
}

#[resilient(bulkhead = "guard_joined_first", breaker = "guard_joined_first")]
async fn guard_joined_first() -> Result<(), Error> {
    Ok(())
}

#[tokio::test]
async fn figures_declared_after_a_name_was_joined_replace_the_stand_ins() {
    guard_joined_first().await.unwrap();
    let limits = |now: &watertight::metrics::BulkheadFigures| (now.slots, now.queue);
    assert_eq!(limits(&bulkhead("guard_joined_first")), (10, 0), "a stand-in, and the check says so");
    let guard = Guard::named("guard_declares_later").bulkhead(Bulkhead::new("guard_joined_first", 12).queue(30));
    guard.breaker(Breaker::named("guard_joined_first").window(2)).build().unwrap();
    assert_eq!(limits(&bulkhead("guard_joined_first")), (12, 30), "from the moment it is built");
    assert!(
        !check().findings.iter().any(|finding| (finding.strategy, finding.name) == ("bulkhead", "guard_joined_first"))
    );
    // The second declaration is one among two, and the stricter holds.
    Guard::named("guard_declares_last").bulkhead(Bulkhead::new("guard_joined_first", 40).queue(3)).build().unwrap();
    assert_eq!(limits(&bulkhead("guard_joined_first")), (12, 3));
}

#[resilient(bulkhead = "guard_checked:8")]
async fn guard_checked() -> Result<(), Error> {
    Ok(())
}

#[tokio::test]
async fn the_check_sees_guards_and_functions_alike() {
    let guard = Guard::named("guard_checking").bulkhead(Bulkhead::new("guard_checked", 2)).build().unwrap();
    let report = check();
    let finding = report.findings.iter().find(|finding| finding.name == "guard_checked").expect("a conflict");
    let names: Vec<_> = finding.sites.iter().map(|site| site.name).collect();
    assert_eq!(names, ["guard_checking", "guard_checked"]);
    guard.run(|| async { Ok::<_, io::Error>(()) }).await.unwrap();
    guard_checked().await.unwrap();
    assert_eq!(bulkhead("guard_checked").slots, 2, "the stricter of the two holds");
}

#[test]
fn every_mistake_is_said_at_once_and_in_a_sentence_of_its_own() {
    let error = Guard::named("guard wrong")
        .timeout(ms(0))
        .bulkhead(Bulkhead::new("", 0))
        .breaker(Breaker::own().slow_rate(0.5))
        .retry(Retry::new(0).on([RetryOn::Timeout]))
        .build()
        .unwrap_err();
    assert_eq!(
        error.mistakes(),
        [
            "the name of the guard is \"guard wrong\", and ' ' cannot stand in a name; write 1 to 64 letters, digits, `_`, `-` or `.`",
            "`timeout` is 0ns: nothing can finish in no time, so every call would fail; write a longer time, or leave it out",
            "the name of the bulkhead is empty; write 1 to 64 letters, digits, `_`, `-` or `.`",
            "no call could ever run in the 0 slots of bulkhead ``; write how many may run at once, 1 or more; to shut a guard off, isolate its breaker",
            "nothing says how long a slow call takes; add `slow`",
            "`retry` is 0: it has to be a number from 1 to 100; write how many further attempts there may be, or leave it out",
            "an attempt that timed out may have written before it was cut off, and trying again would write twice; add `idempotent()` if running twice does no harm, or take Timeout out of the list",
        ]
    );
    assert_eq!(error.to_string().lines().count(), 7);
    assert!(watertight::snapshot().site("guard wrong").is_none(), "nothing was built");
}
