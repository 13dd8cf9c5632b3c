//! B08. Code holding a permit called something that needs a permit of the same pool; all holders did, and all hung.
//!
//! The documented choice: the nested call runs in the slot its caller holds, and is counted as lent.

use futures::future::join_all;
use tokio::join;
use tokio::time::sleep;
use watertight::{Error, ErrorKind, resilient};
use watertight_tests::{Stopwatch, assert_free, assert_idle, bulkhead, ms, site};

#[resilient(bulkhead = "b08:2/queue:4", timeout = "300ms")]
async fn b08_outer(length: u64) -> Result<(), Error> {
    b08_inner(length).await
}

#[resilient(bulkhead = "b08", timeout = "300ms")]
async fn b08_inner(length: u64) -> Result<(), Error> {
    sleep(ms(length)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn two_outers_on_two_slots_lend_them_to_their_inners() {
    let clock = Stopwatch::start();
    let answers = join_all([b08_outer(50), b08_outer(50)]).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    clock.assert_reads(ms(50));
    assert_eq!(site("b08_inner").lent, 2);
    assert_eq!(bulkhead("b08").peak_running, 2);
    // An inner that hangs is cut off by its own timeout, and both slots come back.
    let clock = Stopwatch::start();
    let answers = join_all([b08_outer(10_000), b08_outer(10_000)]).await;
    for answer in answers {
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::TimedOut);
    }
    clock.assert_reads(ms(300));
    assert_idle("b08_outer");
    assert_idle("b08_inner");
    assert_free!("b08", 2);
}

#[resilient(bulkhead = "b08_untimed:2/queue:4")]
async fn b08_untimed_outer() -> Result<(), Error> {
    b08_untimed_inner().await
}

#[resilient(bulkhead = "b08_untimed")]
async fn b08_untimed_inner() -> Result<(), Error> {
    sleep(ms(50)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn without_any_timeout_it_does_not_hang_either() {
    let clock = Stopwatch::start();
    let answers = join_all([b08_untimed_outer(), b08_untimed_outer(), b08_untimed_outer()]).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    clock.assert_reads(ms(100));
    assert_free!("b08_untimed", 2);
}

#[resilient(bulkhead = "b08_deep:1/queue:4")]
async fn b08_deep(depth: u32) -> Result<u32, Error> {
    if depth == 0 {
        sleep(ms(10)).await;
        return Ok(0);
    }
    Ok(1 + Box::pin(b08_deep(depth - 1)).await?)
}

#[tokio::test(start_paused = true)]
async fn a_function_that_calls_itself_three_deep_uses_one_slot() {
    let (one, other) = join!(b08_deep(3), b08_deep(3));
    assert_eq!((one.unwrap(), other.unwrap()), (3, 3));
    assert_eq!((bulkhead("b08_deep").peak_running, site("b08_deep").lent), (1, 6));
    assert_idle("b08_deep");
    assert_free!("b08_deep", 1);
}

#[resilient(bulkhead = "b08_twins:1/queue:4/wait:200ms")]
async fn b08_twins_outer() -> Result<(), Error> {
    let (first, second) = join!(b08_twins_inner(), b08_twins_inner());
    first.expect("the slot was lent to the first");
    assert_eq!(second.unwrap_err().kind(), ErrorKind::BulkheadWait, "a slot is lent to one at a time");
    Ok(())
}

#[resilient(bulkhead = "b08_twins:1/queue:4/wait:200ms")]
async fn b08_twins_inner() -> Result<(), Error> {
    sleep(ms(50)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_second_nested_call_at_the_same_time_queues_and_does_not_wait_for_ever() {
    let clock = Stopwatch::start();
    b08_twins_outer().await.unwrap();
    clock.assert_reads(ms(200));
    assert_idle("b08_twins_outer");
    assert_idle("b08_twins_inner");
    assert_free!("b08_twins", 1);
}
