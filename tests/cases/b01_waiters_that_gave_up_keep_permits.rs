//! B01. A waiter that gave up stayed in the queue; the next freed permit was handed to it and never came back.

use futures::future::join_all;
use tokio::time::sleep;
use watertight::{Error, ErrorKind, WaitFate, resilient};
use watertight_tests::{Stopwatch, assert_free, assert_idle, assert_quiet, ms, site};

#[resilient(bulkhead = "b01:8/queue:16", timeout = "2s")]
async fn b01_hold() -> Result<(), Error> {
    sleep(ms(500)).await;
    Ok(())
}

#[resilient(bulkhead = "b01", timeout = "50ms")]
async fn b01_impatient() -> Result<(), Error> {
    unreachable!("no slot comes free within 50 ms");
}

#[tokio::test(start_paused = true)]
async fn a_thousand_rounds_of_expired_waiters_leave_all_slots_free() {
    for round in 0..1_000 {
        let holders: Vec<_> = (0..8).map(|_| tokio::spawn(b01_hold())).collect();
        tokio::task::yield_now().await;
        let given_up = join_all((0..8).map(|_| b01_impatient())).await;
        assert!(given_up.iter().all(|answer| answer.as_ref().is_err_and(|e| e.kind() == ErrorKind::BulkheadWait)));
        for holder in holders {
            holder.await.unwrap().unwrap();
        }
        let burst = Stopwatch::start();
        let all = join_all((0..8).map(|_| b01_hold())).await;
        assert!(all.iter().all(Result::is_ok), "round {round}");
        burst.assert_reads(ms(500));
        if round % 100 == 0 {
            assert_quiet("b01", 8);
        }
    }
    let waits = site("b01_impatient");
    assert_eq!((waits.calls, waits.waits(WaitFate::Expired).count()), (8_000, 8_000));
    assert_idle("b01_hold");
    assert_idle("b01_impatient");
    assert_free!("b01", 8);
}
