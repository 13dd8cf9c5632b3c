//! B70 (a, b). At shutdown spawning from Drop panicked, timers panicked, and work in flight stayed counted.

use tokio::runtime::Builder;
use tokio::time::sleep;
use watertight::{Error, resilient};
use watertight_tests::{assert_free, assert_idle, assert_quiet, ms, occupancy, site};

#[resilient(bulkhead = "b70:8/queue:16", timeout = "2s", deadline = "5s", breaker(name = "b70"), retry = 1)]
async fn b70() -> Result<(), Error> {
    sleep(ms(1_900)).await;
    Ok(())
}

#[test]
fn a_runtime_dropped_or_shut_down_under_load_leaves_nothing_behind() {
    for by_timeout in [false, true] {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().expect("a runtime");
        let tasks: Vec<_> = (0..24).map(|_| runtime.spawn(b70())).collect();
        while watertight::snapshot().bulkhead("b70").is_none() || occupancy("b70") != (8, 16) {
            std::thread::yield_now();
        }
        if by_timeout {
            runtime.shutdown_timeout(ms(100));
        } else {
            drop(runtime);
        }
        let finished = tasks.into_iter().filter(tokio::task::JoinHandle::is_finished).count();
        assert_eq!(finished, 24, "every task has come to an end, by being dropped");
        assert_quiet("b70", 8);
        assert_idle("b70");
    }
    assert_eq!((site("b70").cancelled, site("b70").panicked), (48, 0));
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        assert_free!("b70", 8);
    });
}
