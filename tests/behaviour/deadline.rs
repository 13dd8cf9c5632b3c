//! `deadline`: how long a call and everything it awaits may take.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::time::{advance, sleep};
use watertight::deadline::{clamp, remaining, within};
use watertight::metrics::BreakerState;
use watertight::{Error, ErrorKind, Refusal, StopReason, resilient};
use watertight_tests::{AppError, Stopwatch, assert_free, assert_idle, breaker, ms, site};

#[resilient(deadline = "300ms", retry(9, backoff = "1ms..10ms", budget = off), bulkhead = "deadline_all:1/queue:1/wait:1s")]
async fn deadline_all() -> Result<(), AppError> {
    sleep(ms(80)).await;
    Err(AppError::Broken("down"))
}

#[tokio::test(start_paused = true)]
async fn it_bounds_attempts_pauses_and_queueing_together() {
    let clock = Stopwatch::start();
    deadline_all().await.unwrap_err();
    assert!(clock.read() > ms(160) && clock.read() <= ms(302), "{:?}", clock.read());
    assert!(site("deadline_all").attempts() >= 3);
    // In the queue too.
    let clock = Stopwatch::start();
    let holder = async {
        #[resilient(bulkhead = "deadline_all")]
        async fn hold() -> Result<(), Error> {
            sleep(ms(500)).await;
            Ok(())
        }
        hold().await
    };
    let queued = async {
        let error = deadline_all().await.unwrap_err();
        clock.assert_reads(ms(300));
        error
    };
    let (held, waited) = tokio::join!(holder, queued);
    held.unwrap();
    assert_eq!(waited.kind(), Some(ErrorKind::Deadline));
    assert_eq!(waited.to_string(), "deadline_all: not started, the deadline passed in the queue");
    assert_idle("deadline_all");
    assert_free!("deadline_all", 1);
}

#[tokio::test(start_paused = true)]
async fn nested_scopes_only_tighten() {
    let seen = within(ms(500), async {
        let looser = within(ms(10_000), async { remaining() }).await.unwrap();
        let tighter = within(ms(100), async { remaining() }).await.unwrap();
        (looser, tighter, remaining())
    });
    assert_eq!(seen.await.unwrap(), (Some(ms(500)), Some(ms(100)), Some(ms(500))));
    assert_eq!(remaining(), None, "outside nothing is left of it");
    // And the outer one ends what the inner one would have allowed.
    let clock = Stopwatch::start();
    let outer = within(ms(50), within(ms(10_000), std::future::pending::<()>())).await;
    assert!(outer.is_err() || outer.is_ok_and(|inner| inner.is_err()));
    clock.assert_reads(ms(50));
}

#[tokio::test(start_paused = true)]
async fn clamp_is_the_smaller_of_wish_and_rest() {
    assert_eq!(clamp(ms(700)), ms(700));
    let seen = within(ms(500), async {
        sleep(ms(200)).await;
        (clamp(ms(700)), clamp(ms(100)), clamp(Duration::MAX))
    });
    assert_eq!(seen.await.unwrap(), (ms(300), ms(100), ms(300)));
}

#[resilient(deadline = "500ms")]
async fn deadline_outer(inner_first: u64) -> Result<(Option<Duration>, Option<Duration>), Error> {
    sleep(ms(inner_first)).await;
    Ok((remaining(), deadline_inner().await?))
}

#[resilient(deadline = "400ms")]
async fn deadline_inner() -> Result<Option<Duration>, Error> {
    Ok(remaining())
}

#[tokio::test(start_paused = true)]
async fn an_inner_call_gets_the_smaller_of_its_own_and_what_is_left() {
    assert_eq!(deadline_outer(0).await.unwrap(), (Some(ms(500)), Some(ms(400))));
    let (outer, inner) = deadline_outer(200).await.unwrap();
    assert_eq!((outer, inner), (Some(ms(300)), Some(ms(300))));
}

static RAN: AtomicU32 = AtomicU32::new(0);

#[resilient(
    timeout = "1s",
    bulkhead = "deadline_spent:1",
    breaker(name = "deadline_spent", window = 1, failures = "100%", cooldown = "1s")
)]
async fn deadline_spent(fails: bool) -> Result<(), AppError> {
    RAN.fetch_add(1, Ordering::SeqCst);
    if fails { Err(AppError::Broken("down")) } else { Ok(()) }
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_deadline_is_spent_takes_no_slot_and_no_probe() {
    deadline_spent(true).await.unwrap_err();
    advance(ms(1_000)).await;
    let spent = within(ms(10), async {
        advance(ms(10)).await;
        deadline_spent(false).await
    });
    let error = spent.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "deadline_spent: not started, the deadline was already spent");
    assert!(error.refused().is_refusal());
    assert_eq!(RAN.load(Ordering::SeqCst), 1);
    assert_eq!(site("deadline_spent").entered_at_once, 1, "only the first call had a slot");
    assert_eq!(breaker("deadline_spent").state, BreakerState::Open, "not even half-open: nobody asked");
    deadline_spent(false).await.expect("the probe is still there to be had");
    assert_eq!(site("deadline_spent").refused_for(Refusal::Deadline), 1);
    assert_free!("deadline_spent", 1);
}

// B21: into other tasks and beside them.

#[resilient(deadline = "300ms")]
async fn b21_outer(by_hand: bool) -> Result<(Option<Duration>, Result<(), Error>), Error> {
    let inner = async { (remaining(), b21_inner().await) };
    let task = if by_hand { watertight::spawn(inner) } else { tokio::spawn(inner) };
    Ok(task.await.expect("no panic"))
}

#[resilient(timeout = "2s")]
async fn b21_inner() -> Result<(), Error> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn b21_a_plain_spawn_leaves_the_scope_and_ours_carries_it() {
    let clock = Stopwatch::start();
    let plain = b21_outer(false).await.unwrap_err();
    assert_eq!(plain.kind(), ErrorKind::Deadline);
    clock.assert_reads(ms(300));
    let clock = Stopwatch::start();
    let seen = tokio::spawn(async { (remaining(), b21_inner().await.unwrap_err().kind()) }).await.unwrap();
    assert_eq!(seen, (None, ErrorKind::TimedOut), "its own two seconds");
    clock.assert_reads(ms(2_000));
    let clock = Stopwatch::start();
    let carried = within(ms(300), async {
        let task = watertight::spawn(async { (remaining(), b21_inner().await) });
        Some(task)
    });
    let (left, ended) = carried.await.unwrap().expect("spawned").await.unwrap();
    assert_eq!((left, ended.unwrap_err().kind()), (Some(ms(300)), ErrorKind::Deadline));
    clock.assert_reads(ms(300));
    let in_scope = within(ms(300), async { tokio::spawn(async { remaining() }).await.unwrap() }).await.unwrap();
    assert_eq!(in_scope, None, "a plain spawn inside a scope reads none and does not panic");
    let clock = Stopwatch::start();
    assert_eq!(b21_outer(true).await.unwrap_err().kind(), ErrorKind::Deadline);
    clock.assert_reads(ms(300));
}

#[tokio::test(start_paused = true)]
async fn b21_whatever_is_polled_inside_the_scope_sees_it_and_a_sibling_does_not() {
    async fn look(after: u64) -> Option<Duration> {
        sleep(ms(after)).await;
        remaining()
    }
    let scoped = within(ms(300), async {
        let (one, other) = tokio::join!(look(10), look(20));
        let selected = tokio::select! {
            seen = look(30) => seen,
            () = std::future::pending() => None,
        };
        let mut unordered: FuturesUnordered<_> = [look(10), look(20)].into_iter().collect();
        let mut all = vec![one, other, selected];
        while let Some(seen) = unordered.next().await {
            all.push(seen);
        }
        all
    });
    let sibling = async {
        let mut seen = Vec::new();
        for _ in 0..10 {
            seen.push(look(7).await);
        }
        seen
    };
    let (scoped, sibling) = tokio::join!(scoped, sibling);
    let scoped: Vec<_> = scoped.unwrap().into_iter().map(|left| left.expect("in the scope").as_millis()).collect();
    let expected = [290, 280, 250, 240, 230];
    for (seen, expected) in scoped.iter().zip(expected) {
        assert!(seen.abs_diff(expected) <= 4, "{scoped:?} instead of {expected}");
    }
    assert_eq!(scoped.len(), 5);
    assert!(sibling.iter().all(Option::is_none), "{sibling:?}");
}

#[resilient(deadline = "1s")]
async fn deadline_share() -> Result<(), Error> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn how_much_was_used_at_entry_is_counted_in_tenths() {
    deadline_share().await.unwrap();
    let late = within(ms(100), async {
        sleep(ms(75)).await;
        deadline_share().await
    });
    late.await.unwrap().unwrap();
    let used = site("deadline_share").deadline_used;
    assert_eq!((used[0], used[7], used.iter().sum::<u64>()), (1, 1, 2), "{used:?}");
}

// R7.6: doomed work is not started.

static DOOMED_RAN: AtomicU32 = AtomicU32::new(0);

#[resilient(deadline = "10s", bulkhead = "deadline_doomed:1")]
async fn deadline_doomed(length: u64) -> Result<(), Error> {
    DOOMED_RAN.fetch_add(1, Ordering::SeqCst);
    sleep(ms(length)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_has_never_finished_in_the_time_left_is_not_started() {
    let in_ms = |left: u64| within(ms(left), deadline_doomed(100));
    // Nothing is known yet: it is tried, and cut off.
    assert_eq!(in_ms(40).await.unwrap().unwrap_err().kind(), ErrorKind::Deadline);
    for _ in 0..110 {
        deadline_doomed(100).await.unwrap();
    }
    sleep(ms(1_000)).await;
    in_ms(150).await.unwrap().expect("enough time left");
    let ran = DOOMED_RAN.load(Ordering::SeqCst);
    let clock = Stopwatch::start();
    let error = in_ms(40).await.unwrap().unwrap_err();
    clock.assert_reads(ms(0));
    assert_eq!((error.kind(), error.strategy(), error.is_refusal()), (ErrorKind::Doomed, "deadline", true));
    assert!(error.to_string().starts_with("deadline_doomed: not started, 40ms left"), "{error}");
    assert_eq!(DOOMED_RAN.load(Ordering::SeqCst), ran);
    for _ in 0..499 {
        in_ms(40).await.unwrap().unwrap_err();
    }
    let figures = site("deadline_doomed");
    assert_eq!((figures.doomed_probes, DOOMED_RAN.load(Ordering::SeqCst) - ran), (10, 10), "one in fifty is tried");
    assert_eq!(figures.refused_for(Refusal::Doomed), 490);
    assert_idle("deadline_doomed");
    assert_free!("deadline_doomed", 1);
}

#[tokio::test(start_paused = true)]
async fn a_function_that_got_faster_is_found_out_by_its_probes() {
    #[resilient(deadline = "10s")]
    async fn deadline_faster(length: u64) -> Result<(), Error> {
        sleep(ms(length)).await;
        Ok(())
    }
    for _ in 0..110 {
        deadline_faster(100).await.unwrap();
    }
    sleep(ms(1_000)).await;
    assert!(within(ms(40), deadline_faster(1)).await.unwrap().is_err(), "doomed by what is known");
    // A caller every ten milliseconds with 40 ms left: two probes a second, and the slow minute goes by.
    let mut answered = 0;
    for _ in 0..12_000 {
        sleep(ms(10)).await;
        answered += u32::from(within(ms(40), deadline_faster(1)).await.unwrap().is_ok());
    }
    assert!(answered > 4_000, "after two minutes most are answered: {answered}");
}

#[resilient(retry(5, backoff = "100ms..100ms", budget = off))]
async fn deadline_heeded_by_pauses() -> Result<(), AppError> {
    Err(AppError::Broken("down"))
}

#[tokio::test(start_paused = true)]
async fn no_pause_is_begun_that_the_surrounding_deadline_would_cut() {
    let mut stopped = 0;
    for _ in 0..20 {
        let clock = Stopwatch::start();
        let answer = within(ms(100), deadline_heeded_by_pauses()).await;
        assert_eq!(
            answer.unwrap().unwrap_err().broken(),
            Some("down"),
            "back before the deadline, with the real error"
        );
        assert!(clock.read() <= ms(102));
        stopped = site("deadline_heeded_by_pauses").stopped_for(StopReason::NoTime);
    }
    assert!(stopped > 0);
}

#[resilient(fallback = || 0)]
async fn deadline_unrefusable() -> u32 {
    sleep(ms(50)).await;
    remaining().map_or(1, |left| u32::try_from(left.as_millis()).unwrap_or(u32::MAX))
}

#[tokio::test(start_paused = true)]
async fn a_function_with_a_fallback_alone_heeds_the_deadline_around_it() {
    assert_eq!(deadline_unrefusable().await, 1);
    let within_time = within(ms(100), deadline_unrefusable()).await.unwrap();
    assert!((45..=50).contains(&within_time), "{within_time}");
    assert_eq!(within(ms(20), deadline_unrefusable()).await.unwrap(), 0, "cut off, and the fallback answers");
}

#[resilient(timeout = "300ms")]
async fn deadline_under_a_timeout() -> Result<Option<Duration>, Error> {
    Ok(remaining())
}

#[tokio::test(start_paused = true)]
async fn what_remains_is_of_the_deadline_and_not_of_the_attempt() {
    assert_eq!(deadline_under_a_timeout().await.unwrap(), None, "a timeout is no deadline");
    assert_eq!(within(ms(1_000), deadline_under_a_timeout()).await.unwrap().unwrap(), Some(ms(1_000)));
}
