//! B58. Queue waits were recorded only for calls that ran: those refused, cancelled or timed out in the queue vanished.

use tokio::time::{sleep, timeout};
use watertight::{Error, ErrorKind, Refusal, WaitFate, deadline, resilient};
use watertight_tests::{assert_free, assert_idle, ms, site};

#[resilient(bulkhead = "b58:1/queue:3")]
async fn b58() -> Result<(), Error> {
    sleep(ms(400)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn every_wait_is_recorded_however_it_ended() {
    let a = b58();
    let b = b58();
    let c = timeout(ms(200), b58());
    let d = deadline::within(ms(300), b58());
    let late = async {
        sleep(ms(100)).await;
        assert_eq!(site("b58").queued, 3);
        for _ in 0..2 {
            assert_eq!(b58().await.unwrap_err().kind(), ErrorKind::BulkheadFull);
        }
    };
    let (a, b, c, d, ()) = tokio::join!(a, b, c, d, late);
    a.unwrap();
    b.unwrap();
    c.unwrap_err();
    assert_eq!(d.expect("the call ends by the deadline itself").unwrap_err().kind(), ErrorKind::Deadline);
    let end = site("b58");
    assert_eq!(end.entered_at_once, 1, "a did not wait, and is counted apart from those who did");
    for (fate, length) in [(WaitFate::Ran, 400), (WaitFate::Cancelled, 200), (WaitFate::Expired, 300)] {
        let waits = end.waits(fate);
        let sum = waits.sum();
        assert_eq!(waits.count(), 1, "{fate:?}");
        assert!(sum >= ms(length) && sum <= ms(length + 3), "{fate:?} waited {sum:?}");
    }
    assert_eq!((end.refused_for(Refusal::Full), end.refused_for(Refusal::Deadline), end.cancelled), (2, 1, 1));
    assert_idle("b58");
    assert_free!("b58", 1);
}
