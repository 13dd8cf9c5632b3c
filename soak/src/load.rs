//! Callers that never rest, and somebody who meddles: holds breakers open and lets them go, reads every figure there is.
//!
//! Invariant: nothing here outlives [`Load::end`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use fastrand::Rng;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use watertight::breaker;

use crate::caller;

/// Callers under way.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    tasks: JoinSet<()>,
}

impl Load {
    /// So many callers, each from a seed of its own.
    pub(crate) fn begin(callers: u64, seed: u64, pause: u64, meddle: bool) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let mut tasks = JoinSet::new();
        for number in 0..callers {
            let stop = stop.clone();
            tasks.spawn(async move {
                let mut rng = Rng::with_seed(seed ^ (number << 40));
                while !stop.load(Ordering::Relaxed) {
                    caller::one(&mut rng).await;
                    sleep(Duration::from_micros(rng.u64(0..=pause * 1_000))).await;
                }
            });
        }
        let (stopped, mut rng) = (stop.clone(), Rng::with_seed(seed ^ 0x5EED));
        tasks.spawn(async move {
            while !stopped.load(Ordering::Relaxed) {
                meddling(&mut rng, meddle);
                sleep(Duration::from_millis(rng.u64(20..200))).await;
            }
            if meddle {
                // Held open by hand, they would stay so.
                breaker::reset("soak-breaker");
                breaker::reset("site");
            }
        });
        Self { stop, tasks }
    }

    /// Lets every caller finish what it is at.
    pub(crate) async fn end(mut self) -> anyhow::Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        let gone = async {
            while let Some(ended) = self.tasks.join_next().await {
                ended.context("a caller's task")?;
            }
            Ok(())
        };
        timeout(Duration::from_mins(1), gone).await.context("a caller that never comes back")?
    }
}

fn meddling(rng: &mut Rng, breakers: bool) {
    match rng.u32(0..12) {
        0 if breakers => drop(breaker::isolate("soak-breaker")),
        // Those that belong to one function each, all of them at once.
        1 if breakers => drop(breaker::isolate("site")),
        2..6 if breakers => {
            breaker::reset("soak-breaker");
            breaker::reset("site");
        }
        6 => drop(watertight::export::prometheus()),
        7 => drop(watertight::advise().to_string()),
        8 => drop(watertight::check().to_json()),
        9 => drop(watertight::catalogue().to_string()),
        10 => drop(watertight::snapshot().to_string()),
        _ => {}
    }
}
