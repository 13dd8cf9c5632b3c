//! B02. A cancelled waiter went on counting against the queue, so a newcomer was refused though nobody waited.

use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier};

use futures::poll;
use tokio::time::sleep;
use watertight::{Error, resilient};
use watertight_tests::{assert_free, assert_idle, bulkhead, ms, occupancy};

#[resilient(bulkhead = "b02:1/queue:1/wait:5s")]
async fn b02() -> Result<(), Error> {
    sleep(ms(1_000)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_newcomer_queues_in_the_tick_in_which_the_waiter_was_dropped() {
    let (mut a, mut b, mut c) = (Box::pin(b02()), Box::pin(b02()), Box::pin(b02()));
    assert!(poll!(&mut a).is_pending());
    assert!(poll!(&mut b).is_pending());
    assert_eq!(occupancy("b02"), (1, 1));
    drop(b);
    assert_eq!(occupancy("b02"), (1, 0));
    assert!(poll!(&mut c).is_pending(), "queued, not refused");
    assert_eq!(occupancy("b02"), (1, 1));
    assert!(b02().await.is_err(), "the control: a third finds the queue full");
    a.await.unwrap();
    c.await.unwrap();
    assert_idle("b02");
    assert_free!("b02", 1);
}

/// Who got in: a bit per actor.
type Entered = Arc<AtomicU32>;
const A: u32 = 1;
const B: u32 = 2;

/// Four compartments of their own, so that eight threads race in pairs.
macro_rules! lanes {
    ($($lane:ident $declared:tt),*) => {
        $(#[resilient(bulkhead = $declared)]
        async fn $lane(entered: Entered, actor: u32) -> Result<(), Error> {
            entered.fetch_or(actor, Ordering::SeqCst);
            std::future::pending().await
        })*

        fn lane(of: usize, entered: &Entered, actor: u32) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send>> {
            let lanes = [$(|entered, actor| Box::pin($lane(entered, actor)) as _),*]
                as [fn(Entered, u32) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>; 4];
            lanes[of](Arc::clone(entered), actor)
        }
    };
}

lanes!(b02_w "b02_w:1/queue:1", b02_x "b02_x:1/queue:1", b02_y "b02_y:1/queue:1", b02_z "b02_z:1/queue:1");

#[tokio::test]
async fn dropping_the_waiter_while_the_holder_releases_never_miscounts() {
    const ROUNDS: usize = 2_500;
    let runtime = tokio::runtime::Handle::current();
    let threads: Vec<_> = (0..4)
        .flat_map(|of| {
            let meet = Arc::new(Barrier::new(2));
            let entered = Entered::default();
            [A, B].map(|actor| {
                let (meet, entered, runtime) = (Arc::clone(&meet), Arc::clone(&entered), runtime.clone());
                std::thread::spawn(move || {
                    let _context = runtime.enter();
                    for round in 0..ROUNDS {
                        let mut call = lane(of, &entered, actor);
                        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
                        // The holder comes first, the waiter second, and then both go at once.
                        if actor == A {
                            assert!(call.as_mut().poll(&mut cx).is_pending());
                            assert_eq!(entered.swap(0, Ordering::SeqCst), A, "round {round}: the slot was not free");
                        }
                        meet.wait();
                        if actor == B {
                            assert!(call.as_mut().poll(&mut cx).is_pending(), "round {round}: the queue was not free");
                            assert_eq!(entered.load(Ordering::SeqCst), 0, "round {round}: two in one slot");
                        }
                        meet.wait();
                        drop(call);
                        meet.wait();
                    }
                })
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    for name in ["b02_w", "b02_x", "b02_y", "b02_z"] {
        let end = bulkhead(name);
        assert_eq!((end.slots, end.running, end.queued, end.peak_running, end.peak_queued), (1, 0, 0, 1, 1), "{name}");
        assert_idle(name);
    }
    assert_free!("b02_w", 1);
    assert_free!("b02_x", 1);
    assert_free!("b02_y", 1);
    assert_free!("b02_z", 1);
}
