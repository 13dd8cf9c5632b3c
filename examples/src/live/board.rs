//! # The outage while it goes on
//!
//! What a run looks like at this moment, for whoever wants to show it: each route over the last two seconds and in all, the pool,
//! the vendor's books, the guard's count. It is filled from the counters that the run's own report is made of, and at the end
//! of a run from that report, so the last thing shown is what the table says.
//!
//! Invariants:
//! * one column for each variant, from the beginning on;
//! * what is kept of the past is bounded: when it is full, every other moment goes.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::fates::{self, Fates};
use crate::outage::Run;
use crate::progress::Recent;
use crate::shop::{Shop, Variant};
use crate::tally::{Figures, Tally};
use crate::vendor::{Vendor, VendorFigures};

const TICK: Duration = Duration::from_millis(250);
/// Moments kept.
const MOMENTS: usize = 240;

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Not begun.
    #[default]
    ToCome,
    /// Under way.
    Running,
    /// Over.
    Done,
    /// Ended early.
    Interrupted,
}

/// One run, to look at.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// How far it is.
    pub stage: Stage,
    /// Since it began.
    pub elapsed: Duration,
    /// How long it goes on.
    pub length: Duration,
    /// Every route: as its callers saw it, and the share of the last two seconds.
    pub routes: Vec<(&'static str, Figures, Option<f64>)>,
    /// The vendor's books.
    pub vendor: VendorFigures,
    /// Idle connections.
    pub idle: usize,
    /// Waits for a connection that ended without one.
    pub pool_timeouts: u64,
    /// The guard's count.
    pub functions: Vec<Fates>,
    /// Seconds since the beginning, then the share of the last two seconds of each route.
    pub past: Vec<(f64, [Option<f64>; 3])>,
}

/// Both runs, to look at.
#[derive(Debug, Default)]
pub struct Board([Mutex<Column>; 2]);

/// What a run under way can be looked at by.
#[derive(Debug)]
pub struct Look<'run> {
    /// Which shop.
    pub variant: Variant,
    /// How long it goes on.
    pub length: Duration,
    /// Every route.
    pub routes: [(&'static str, &'run Tally); 3],
    /// The shop.
    pub shop: &'run Shop,
    /// Its vendor.
    pub vendor: &'run Vendor,
    /// The guard's count before.
    pub before: &'run [Fates],
}

fn place(variant: Variant) -> usize {
    match variant {
        Variant::Bare => 0,
        Variant::Annotated => 1,
    }
}

impl Board {
    /// The bare run, and the annotated one.
    pub fn columns(&self) -> [Column; 2] {
        [0, 1].map(|at: usize| self.0[at].lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Shows a run for as long as this is polled.
    pub async fn follow(&self, look: &Look<'_>) {
        let mut recent = [Recent::default(), Recent::default(), Recent::default()];
        let (begun, mut every, mut past) = (Instant::now(), 1, Vec::new());
        let mut beat = interval(TICK);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for tick in 0_usize.. {
            beat.tick().await;
            let mut nows = [None; 3];
            for ((now, recent), (_, tally)) in nows.iter_mut().zip(&mut recent).zip(&look.routes) {
                *now = recent.now(tally);
            }
            if tick % every == 0 {
                past.push((begun.elapsed().as_secs_f64(), nows));
            }
            if past.len() > MOMENTS {
                let mut keep = false;
                past.retain(|_| {
                    keep = !keep;
                    keep
                });
                every *= 2;
            }
            let routes = look.routes.iter().zip(nows).map(|((path, tally), now)| (*path, tally.figures(), now));
            let column = Column {
                stage: Stage::Running,
                elapsed: begun.elapsed().min(look.length),
                length: look.length,
                routes: routes.collect(),
                vendor: look.vendor.figures(),
                idle: look.shop.pool().num_idle(),
                pool_timeouts: look.shop.pool_timeouts(),
                functions: fates::since(look.before),
                past: past.clone(),
            };
            *self.0[place(look.variant)].lock().unwrap_or_else(PoisonError::into_inner) = column;
        }
    }

    /// Shows what a run came to.
    pub fn done(&self, run: &Run) {
        let mut column = self.0[place(run.variant)].lock().unwrap_or_else(PoisonError::into_inner);
        column.stage = if run.partial { Stage::Interrupted } else { Stage::Done };
        column.routes = run.routes.iter().map(|(path, figures)| (*path, *figures, None)).collect();
        column.vendor = run.vendor;
        column.pool_timeouts = run.pool_timeouts;
        column.functions.clone_from(&run.functions);
    }
}
