//! Observing refuses nothing and gives everything back: whatever the strategy would have done, the call comes out as if it
//! were not there, and nothing of it is left.

use std::sync::Arc;

use futures::future::{BoxFuture, join_all};
use futures::poll;
use tokio::time::advance;
use watertight::Failure;
use watertight::testing::{World, figures_of};
use watertight_tests::{caught, ms};

use crate::{Answer, Ends, Stage, Trouble};

/// A function that observes everything, and how often its fallback is asked.
struct Watched {
    name: &'static str,
    call: fn(Arc<Stage>) -> BoxFuture<'static, Answer>,
    asked: u64,
}

/// What of the twins is still taken.
fn taken(name: &str) -> (u32, u32) {
    let twin = format!("{name}@observe");
    watertight::snapshot().bulkhead(&twin).map_or((0, 0), |it| (it.running, it.queued))
}

async fn nothing_is_changed(cell: &Watched) {
    let _world = World::open();
    let figures = figures_of(cell.name).unwrap();
    // Long calls side by side: more than one may be, longer than one may take.
    let stage = Stage::new(Ends::Value, 500);
    let answers = join_all((0..4).map(|_| (cell.call)(Arc::clone(&stage)))).await;
    for answer in answers {
        let Ok(value) = answer else { panic!("refused, or cut off") };
        assert!(Arc::ptr_eq(&value, &stage.value), "the body's own value");
    }
    assert_eq!((stage.entered(), stage.peak.most()), (4, 4), "all at once, each once");
    // Failures, again and again.
    for _ in 0..4 {
        let stage = Stage::new(Ends::Error, 0);
        let Err(Trouble::Own(error)) = (cell.call)(Arc::clone(&stage)).await else { panic!("the body's own error") };
        assert!(Arc::ptr_eq(&error, &stage.error) && stage.entered() == 1);
    }
    assert_eq!(taken(cell.name), (0, 0));
    // Panicked, dropped while it runs on after its limit, and dropped unpolled.
    assert!(caught((cell.call)(Stage::new(Ends::Panic, 0))).await.is_err());
    let stage = Stage::new(Ends::Never, 0);
    let mut dropped: Vec<_> = (0..4).map(|_| (cell.call)(Arc::clone(&stage))).collect();
    for call in &mut dropped {
        assert!(poll!(call).is_pending());
    }
    advance(ms(150)).await;
    for call in &mut dropped {
        assert!(poll!(call).is_pending(), "it goes on waiting for its body");
    }
    drop(((cell.call)(Arc::clone(&stage)), dropped));
    assert_eq!((stage.peak.now(), taken(cell.name), figures.running()), (0, (0, 0), 0));
    let read = figures.read();
    assert_eq!((read.ok, read.error, read.panicked, read.cancelled), (4, 4, 1, 4));
    assert_eq!((read.calls, read.in_flight, read.refused, read.timed_out, read.retries), (13, 0, 0, 0, 0));
    let would = read.would_refuse + read.would_cut + read.would_queue + read.would_retry;
    assert!(would > 0, "what it would have done is known");
    assert_eq!((read.fallback_used, read.fallback_failed), (0, cell.asked), "for the body's own errors alone");
}

fn hand_on(why: Failure<Trouble>) -> Answer {
    match why {
        Failure::Failed(error) => Err(error),
        Failure::Refused(error) => Err(Trouble::Ours(error)),
    }
}

macro_rules! watched {
    ($($strategy:ident $name:tt $asked:literal [$($keys:tt)*];)*) => {
        mod with {
            #[allow(clippy::wildcard_imports, unused_imports)]
            use super::*;

            $(#[tokio::test(start_paused = true)]
            async fn $strategy() {
                #[watertight::resilient(name = $name, mode = observe, $($keys)*)]
                async fn guarded(stage: Arc<Stage>) -> Answer {
                    stage.play().await
                }

                let call = |stage| -> BoxFuture<'static, Answer> { Box::pin(guarded(stage)) };
                nothing_is_changed(&Watched { name: $name, call, asked: $asked }).await;
            })*
        }
    };
}

watched! {
    timeout "observing.timeout" 0 [timeout = "100ms"];
    deadline "observing.deadline" 0 [deadline = "100ms"];
    bulkhead "observing.bulkhead" 0 [bulkhead = "observing.bulkhead:1/queue:1/wait:100ms"];
    rate "observing.rate" 0 [rate = "observing.rate:10/s/burst:1/wait:100ms"];
    breaker "observing.breaker" 0 [breaker(name = "observing.breaker", window = 2, min_calls = 2)];
    retry "observing.retry" 0 [retry(2, backoff = "1ms..1ms", budget = off)];
    fallback "observing.fallback" 4 [fallback = hand_on, bulkhead = "observing.fallback:1", timeout = "100ms"];
}
