//! Slots are conserved: with nothing under way, a compartment takes exactly as many callers as it has slots and places in
//! its queue, and refuses the next.
//!
//! A slot that was lost shows as a caller too few, one that was made as a caller too many. The callers are those of a guard
//! with nothing but the compartment, whose bodies wait at a gate.
//!
//! Invariant: a probe leaves the compartment as it was found.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context, ensure};
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use watertight::guard::{Bulkhead, Isolate, Isolated};
use watertight::{ErrorKind, Failure, Guard};

/// Callers beyond what there is room for.
const BEYOND: u32 = 3;
/// Far more than a scheduler on a busy machine needs.
const PATIENCE: Duration = Duration::from_secs(30);

type Answer = Result<(), Failure<std::convert::Infallible>>;

enum Probe {
    Here(Guard),
    Keyed(Guard, u32),
    Threads(Isolated),
}

/// A gate, and how many bodies stand before it.
#[derive(Clone)]
struct Gate {
    open: Arc<Semaphore>,
    inside: Arc<AtomicU32>,
}

impl Gate {
    async fn pass(self) -> Result<(), std::convert::Infallible> {
        self.inside.fetch_add(1, Ordering::SeqCst);
        let _ = self.open.acquire().await;
        Ok(())
    }
}

impl Probe {
    fn call(&self, gate: Gate) -> Pin<Box<dyn Future<Output = Answer> + Send>> {
        match self {
            Self::Here(guard) => {
                let guard = *guard;
                Box::pin(async move { guard.run(|| gate.clone().pass()).await })
            }
            Self::Keyed(guard, key) => {
                let (guard, key) = (*guard, *key);
                Box::pin(async move { guard.key(&key).run(|| gate.clone().pass()).await })
            }
            Self::Threads(threads) => {
                let threads = *threads;
                Box::pin(async move { threads.run(move || gate.clone().pass()).await })
            }
        }
    }
}

/// Counts the places of every compartment; how many compartments there were.
pub(crate) async fn are_all_there(keys: &[u32]) -> anyhow::Result<usize> {
    let snapshot = watertight::snapshot();
    let mut counted = 0;
    for bulkhead in snapshot.bulkheads.iter().filter(|it| !it.name.ends_with("@observe")) {
        let kind = if bulkhead.keys.is_some() { "keys" } else { "places" };
        let probe = Guard::named(format!("{kind}.{}", bulkhead.name)).timeout(PATIENCE);
        let probe = probe.bulkhead(Bulkhead::join(bulkhead.name));
        let (slots, queue) = (bulkhead.slots, bulkhead.queue);
        if bulkhead.keys.is_some() {
            let probe = probe.keyed().build()?;
            for key in keys {
                let name = format!("{} of key {key}", bulkhead.name);
                exactly(&name, &Probe::Keyed(probe, *key), slots, queue).await?;
            }
        } else {
            exactly(bulkhead.name, &Probe::Here(probe.build()?), slots, queue).await?;
        }
        counted += 1;
    }
    for threads in &snapshot.isolates {
        let probe = Guard::named(format!("threads.{}", threads.name)).timeout(PATIENCE);
        let probe = Probe::Threads(probe.build_isolated(Isolate::join(threads.name))?);
        exactly(threads.name, &probe, threads.threads, threads.queue).await?;
        counted += 1;
    }
    Ok(counted)
}

/// Sends `slots + queue + BEYOND` callers: so many run, so many wait, so many are refused, and all that were let in end well.
async fn exactly(name: &str, probe: &Probe, slots: u32, queue: u32) -> anyhow::Result<()> {
    let gate = Gate { open: Arc::new(Semaphore::new(0)), inside: Arc::default() };
    let mut callers: FuturesUnordered<_> =
        (0..slots + queue + BEYOND).map(|_| tokio::spawn(probe.call(gate.clone()))).collect();
    let mut refused = 0;
    let settled = async {
        loop {
            tokio::select! {
                biased;
                Some(ended) = callers.next() => match ended? {
                    Err(Failure::Refused(error)) if is_full(error.kind()) => refused += 1,
                    other => anyhow::bail!("{name}: a caller before a closed gate got {other:?}"),
                },
                () = sleep(Duration::from_millis(1)) => {}
            }
            if refused == BEYOND && gate.inside.load(Ordering::SeqCst) == slots {
                return Ok(());
            }
            ensure!(refused <= BEYOND, "{name}: more than {BEYOND} of {} were refused", slots + queue + BEYOND);
        }
    };
    let settled = timeout(PATIENCE, settled).await;
    let inside = gate.inside.load(Ordering::SeqCst);
    let state = || {
        format!(
            "{name} has {slots} slots and a queue of {queue}; {inside} ran and {refused} were refused of {BEYOND} too many"
        )
    };
    settled.with_context(state)??;
    ensure!(inside == slots, state());
    gate.open.add_permits((slots + queue) as usize);
    let rest = async {
        while let Some(ended) = callers.next().await {
            ensure!(matches!(ended?, Ok(())), "{name}: a caller that had been let in was refused later");
        }
        Ok(())
    };
    timeout(PATIENCE, rest).await.with_context(|| format!("{name}: those who waited never ran"))??;
    ensure!(gate.inside.load(Ordering::SeqCst) == slots + queue, "{name}: not all who waited have run");
    Ok(())
}

fn is_full(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::BulkheadFull | ErrorKind::IsolateFull)
}
