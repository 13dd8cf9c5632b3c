//! B51. The in-flight gauge was lowered after the handler rather than in a guard: each panic left it one too high.

use futures::poll;
use watertight::{AttemptFate, WaitFate, resilient};
use watertight_tests::{AppError, Gate, assert_free, assert_idle, caught, occupancy, panic_quietly, site, yields};

#[resilient(bulkhead = "b51:4/queue:4", timeout = "300ms")]
async fn b51(panics: bool) -> Result<(), AppError> {
    yields(1).await;
    if panics {
        panic_quietly();
    }
    std::future::pending().await
}

#[resilient(bulkhead = "b51")]
async fn b51_hold(gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_hundred_bad_endings_leave_every_gauge_at_zero() {
    let gate = Gate::shut();
    for _ in 0..25 {
        caught(b51(true)).await.expect_err("panics");
        b51(false).await.expect_err("times out");
        let mut running = Box::pin(b51(false));
        assert!(poll!(&mut running).is_pending());
        assert_eq!(occupancy("b51"), (1, 0));
        drop(running);
        let mut holders: Vec<_> = (0..4).map(|_| Box::pin(b51_hold(&gate))).collect();
        for holder in &mut holders {
            assert!(poll!(holder).is_pending());
        }
        let mut waiting = Box::pin(b51(false));
        assert!(poll!(&mut waiting).is_pending());
        assert_eq!(occupancy("b51"), (4, 1));
        assert_eq!((site("b51").in_flight, site("b51").queued), (1, 1));
        drop(waiting);
        drop(holders);
        assert_eq!(occupancy("b51"), (0, 0));
    }
    let end = site("b51");
    assert_eq!((end.panicked, end.timed_out, end.cancelled), (25, 25, 50));
    assert_eq!((end.calls, end.in_flight, end.queued), (100, 0, 0), "the outcomes sum to the calls");
    assert_eq!(end.calls, end.ok + end.error + end.timed_out + end.refused + end.cancelled + end.panicked);
    assert_eq!(end.attempts_by(AttemptFate::Cancelled), 25, "a body that never ran was not an attempt");
    assert_eq!(end.waits(WaitFate::Cancelled).count(), 25);
    assert_idle("b51_hold");
    assert_free!("b51", 4);
}
