//! Dropped, panicked, beaten: what becomes of both attempts.

use super::*;

#[resilient(hedge = "50ms", bulkhead = "hedge_dropped:2", breaker(name = "hedge_dropped"), idempotent)]
async fn hedge_dropped(peak: &Peak) -> Result<(), AppError> {
    let _inside = peak.enter();
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_drops_both_and_has_one_fate() {
    let peak = Peak::default();
    for wait in [10, 60] {
        let mut call = Box::pin(hedge_dropped(&peak));
        assert!(poll!(&mut call).is_pending());
        advance(ms(wait)).await;
        assert!(poll!(&mut call).is_pending());
        drop(call);
        assert_eq!((peak.now(), occupancy("hedge_dropped")), (0, (0, 0)));
    }
    let figures = site("hedge_dropped");
    assert_eq!((figures.calls, figures.cancelled, figures.attempts_by(AttemptFate::Cancelled)), (2, 2, 3));
    assert_eq!(fates("hedge_dropped"), [(HedgeFate::Cancelled, 1)], "one was never due");
    assert_eq!((breaker("hedge_dropped").calls, breaker("hedge_dropped").failures), (0, 0));
    assert_free!("hedge_dropped", 2);
}

/// Notes in whose scope it is dropped.
struct Noted<'a>(&'a Mutex<Vec<Option<u32>>>);

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        let inside = watertight::call_id().map(|_| watertight::attempt());
        self.0.lock().unwrap().push(inside);
    }
}

#[resilient(hedge = "50ms", bulkhead = "hedge_panics:2", breaker(name = "hedge_panics", min_calls = 5), idempotent)]
async fn hedge_panics(who: u32, dropped: &Mutex<Vec<Option<u32>>>) -> Result<(), AppError> {
    let _noted = Noted(dropped);
    sleep(ms(70)).await;
    if watertight::attempt() == who {
        panic_quietly();
    }
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_either_is_the_calls_and_the_other_is_dropped_in_its_own_scope() {
    for who in [0, 1] {
        let dropped = Mutex::default();
        caught(hedge_panics(who, &dropped)).await.unwrap_err();
        let dropped = dropped.into_inner().unwrap();
        assert!(dropped.contains(&Some(0)) && dropped.contains(&Some(1)), "{who}: {dropped:?}");
        assert_eq!(watertight::call_id(), None);
    }
    let figures = site("hedge_panics");
    assert_eq!((figures.calls, figures.panicked, figures.fate(Fate::Panicked)), (2, 2, 2));
    let of = |fate| figures.attempts_by(fate);
    assert_eq!((of(AttemptFate::Panicked), of(AttemptFate::Cancelled)), (2, 2));
    assert_eq!(fates("hedge_panics"), [(HedgeFate::Cancelled, 2)]);
    assert_eq!((breaker("hedge_panics").calls, breaker("hedge_panics").failures), (2, 2));
    assert_free!("hedge_panics", 2);
}

#[resilient(hedge = "50ms", idempotent)]
async fn hedge_scopes(dropped: &Mutex<Vec<Option<u32>>>) -> Result<u32, AppError> {
    let _noted = Noted(dropped);
    sleep(ms(if watertight::attempt() == 0 { 500 } else { 10 })).await;
    Ok(watertight::attempt())
}

#[tokio::test(start_paused = true)]
async fn the_loser_is_dropped_in_its_own_scope() {
    let dropped = Mutex::default();
    assert_eq!(hedge_scopes(&dropped).await.unwrap(), 1);
    assert_eq!(dropped.into_inner().unwrap(), [Some(1), Some(0)]);
}
