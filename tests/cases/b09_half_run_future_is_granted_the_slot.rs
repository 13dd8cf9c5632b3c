//! B09. A task kept a half-run future alive, stopped polling it, and waited for the same lock elsewhere: the hand-over
//! gave the lock to the future that nobody polls, and the task had blocked itself ("futurelock").

use tokio::time::sleep;
use watertight::{Error, ErrorKind, resilient};
use watertight_tests::{Stopwatch, assert_free, assert_idle, ms, occupancy};

#[resilient(bulkhead = "b09:1/queue:4", timeout = "300ms")]
async fn b09(length: u64) -> Result<(), Error> {
    sleep(ms(length)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_second_call_ends_by_its_own_wait_and_a_third_gets_the_slot() {
    let holder = tokio::spawn(b09(200));
    tokio::task::yield_now().await;
    let mut half_run = Box::pin(b09(10));
    tokio::select! {
        _ = &mut half_run => unreachable!("the slot is taken"),
        () = sleep(ms(100)) => {}
    }
    let clock = Stopwatch::start();
    let second = b09(10).await.unwrap_err();
    assert_eq!(second.kind(), ErrorKind::BulkheadWait);
    clock.assert_reads(ms(300));
    holder.await.unwrap().unwrap();
    assert_eq!(occupancy("b09"), (1, 0), "the slot belongs to the future that nobody polls");
    drop(half_run);
    let clock = Stopwatch::start();
    b09(10).await.expect("the slot passed on");
    clock.assert_reads(ms(10));
    assert_idle("b09");
    assert_free!("b09", 1);
}
