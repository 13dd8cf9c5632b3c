//! What must hold: at every moment, and once everything is quiet.
//!
//! While calls are under way, figures are read one after another, so what is held then are inequalities that no order of
//! reading breaks. At rest every cell has to agree with what the callers got.
//!
//! Invariant: nothing here changes what it reads.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, ensure};
use futures::stream::{self, StreamExt, TryStreamExt};
use tokio::time::{Instant, sleep, timeout};
use watertight::metrics::SiteFigures;
use watertight::{FallbackUse, Fate, Refusal, Snapshot};

use crate::caller::{Counted, UNDER_WAY};
use crate::sites::{self, Entry};

const PATIENCE: Duration = Duration::from_secs(30);

/// The figures of all functions by id, which is the module of one with the attribute and the name of a guard.
fn by_id(snapshot: &Snapshot) -> HashMap<&str, &SiteFigures> {
    let id = |site: &SiteFigures| if site.name == "site" { site.module } else { site.name };
    snapshot.sites.iter().map(|site| (id(site), site)).collect()
}

fn of<'a>(all: &HashMap<&str, &'a SiteFigures>, entry: &Entry) -> anyhow::Result<&'a SiteFigures> {
    all.get(entry.id.as_str()).copied().with_context(|| format!("{} is not listed", entry.id))
}

/// What is looked at again and again while calls are under way.
#[derive(Debug)]
pub(crate) struct Watch {
    calls: HashMap<String, u64>,
    began: Instant,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self { calls: HashMap::new(), began: Instant::now() }
    }

    /// One look.
    pub(crate) fn look(&mut self) -> anyhow::Result<Snapshot> {
        let ended: Vec<u64> = sites::all().iter().map(|entry| entry.books.ended()).collect();
        let snapshot = watertight::snapshot();
        let begun: Vec<u64> = sites::all().iter().map(|entry| entry.books.begun.load(Ordering::SeqCst)).collect();
        let seconds = self.began.elapsed().as_secs_f64();
        let figures = by_id(&snapshot);
        for ((entry, ended), begun) in sites::all().iter().zip(ended).zip(begun) {
            let site = of(&figures, entry)?;
            let before = self.calls.insert(entry.id.clone(), site.calls).unwrap_or(0);
            let (id, calls) = (&entry.id, site.calls);
            ensure!(before <= calls, "{id}: {before} calls had ended and now {calls}");
            ensure!(ended <= calls, "{id}: callers saw {ended} calls end, the figures {calls}");
            let all = calls + site.in_flight;
            ensure!(all <= begun, "{id}: callers began {begun} calls, the figures have {all}");
            if entry.pays_alone {
                let (paid, allowed) = (site.retries + site.hedges(), allowance(begun, seconds));
                ensure!(paid <= allowed, "{id}: {paid} retries and hedges, and a budget of {allowed}");
            }
        }
        compartments(&snapshot)?;
        Ok(snapshot)
    }
}

/// The most that a budget of the usual figures can have paid: ten at the start, one a second, a fifth of the calls.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn allowance(calls: u64, seconds: f64) -> u64 {
    (11.0 + seconds + 0.2 * calls as f64).ceil() as u64
}

fn compartments(snapshot: &Snapshot) -> anyhow::Result<()> {
    let (by_key, whole): (Vec<_>, Vec<_>) = snapshot.bulkheads.iter().partition(|it| it.keys.is_some());
    // What one key may have is counted by its bodies; the figures are those of all keys together.
    for it in by_key {
        ensure!(it.running <= it.total.unwrap_or(u32::MAX), "more than the total run: {it:?}");
    }
    for it in whole.into_iter().filter(|it| !it.name.contains("auto")) {
        ensure!(it.running <= it.slots, "more than the slots run: {it:?}");
        ensure!(it.queued <= it.queue, "more than the queue wait: {it:?}");
        ensure!(it.queued == 0 || it.running == it.slots, "somebody waits and a slot is free: {it:?}");
    }
    for it in snapshot.bulkheads.iter().filter(|it| it.name == "soak-auto") {
        ensure!((2..=32).contains(&it.slots) && it.running <= 32 && it.queued <= 16, "out of bounds: {it:?}");
    }
    for it in &snapshot.isolates {
        ensure!(it.running <= it.threads && it.started <= it.threads, "more than the threads: {it:?}");
        ensure!(it.queued <= it.queue, "more than the queue wait: {it:?}");
    }
    Ok(())
}

/// Waits until nothing is under way, and holds the figures against what callers got.
pub(crate) async fn agrees() -> anyhow::Result<Snapshot> {
    let quiet = async {
        loop {
            if UNDER_WAY.load(Ordering::SeqCst) == 0 && is_quiet(&watertight::snapshot()) {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    if timeout(PATIENCE, quiet).await.is_err() {
        anyhow::bail!("{PATIENCE:?} after the last caller had gone: {}", left(&watertight::snapshot()));
    }
    let snapshot = watertight::snapshot();
    let figures = by_id(&snapshot);
    for entry in sites::all() {
        cells(entry, of(&figures, entry)?)?;
        if let Some(compartment) = entry.compartment {
            let running = compartment.running();
            ensure!(running == 0, "{}: {running} bodies are still in it", compartment.name);
        }
    }
    Ok(snapshot)
}

fn is_quiet(snapshot: &Snapshot) -> bool {
    snapshot.sites.iter().all(|it| it.in_flight == 0 && it.queued == 0 && it.throttled == 0)
        && snapshot.bulkheads.iter().all(|it| it.running == 0 && it.queued == 0)
        && snapshot.isolates.iter().all(|it| it.running == 0 && it.queued == 0)
        && snapshot.rates.iter().all(|it| it.waiting == 0)
}

/// What is not quiet.
fn left(snapshot: &Snapshot) -> String {
    let sites = snapshot.sites.iter().filter(|it| it.in_flight + it.queued + it.throttled > 0);
    let mut left: Vec<String> = sites
        .map(|it| {
            format!(
                "{}::{}: {} in flight, {} queued, {} throttled",
                it.module, it.name, it.in_flight, it.queued, it.throttled
            )
        })
        .collect();
    left.extend(snapshot.bulkheads.iter().filter(|it| it.running + it.queued > 0).map(|it| format!("{it:?}")));
    left.extend(snapshot.isolates.iter().filter(|it| it.running + it.queued > 0).map(|it| format!("{it:?}")));
    left.extend(snapshot.rates.iter().filter(|it| it.waiting > 0).map(|it| format!("{it:?}")));
    left.push(format!("{} futures of callers", UNDER_WAY.load(Ordering::SeqCst)));
    left.join("; ")
}

/// Every cell of one function.
fn cells(entry: &Entry, site: &SiteFigures) -> anyhow::Result<()> {
    let (id, books) = (&entry.id, &entry.books);
    let read = |cell: &std::sync::atomic::AtomicU64| cell.load(Ordering::SeqCst);
    let answered = |fate| site.fate_with(fate, FallbackUse::Used) + site.fate_with(fate, FallbackUse::LastGood);
    let told = |fate| site.fate(fate) - answered(fate);
    let same = |what: &str, callers: u64, figures: u64| {
        ensure!(callers == figures, "{id}: callers saw {callers} {what}, the figures have {figures}");
        Ok(())
    };
    same("calls begin", read(&books.begun), site.calls)?;
    same("calls end", books.ended(), site.calls)?;
    same("values", read(&books.values), site.ok + site.fallback_used)?;
    same("errors", read(&books.own), told(Fate::Error))?;
    same("panics", read(&books.panicked), site.panicked)?;
    same("dropped", read(&books.dropped), site.cancelled)?;
    same("calls too late", read(&books.late), told(Fate::TimedOut) + told(Fate::Refused(Refusal::Deadline)))?;
    for reason in Refusal::ALL.into_iter().filter(|reason| *reason != Refusal::Deadline) {
        let fate = Fate::Refused(reason);
        same(reason.as_str(), books.refused_for(fate), told(fate))?;
    }
    let sum: u64 = Fate::ALL.into_iter().map(|fate| site.fate(fate)).sum();
    same("fates", sum, site.calls)
}

/// Every function lets somebody through again, whatever has happened to its breaker, its rate and its slots.
pub(crate) async fn all_answer() -> anyhow::Result<()> {
    let ask = |entry: &'static Entry| async move {
        let answered = async {
            while !Counted::asking(entry).await {
                sleep(Duration::from_millis(3)).await;
            }
        };
        let said = timeout(PATIENCE, answered).await;
        said.with_context(|| format!("{} refuses everybody, {PATIENCE:?} after the last failure", entry.id))
    };
    stream::iter(sites::all()).map(ask).buffer_unordered(32).try_collect().await
}
