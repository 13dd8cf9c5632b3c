//! # How fast a pool runs dry, and who refills it
//!
//! The claim: a vendor that hangs empties the pool within milliseconds, is then asked nothing more, ever, and the service
//! does not recover when the load goes away.
//!
//! The last part depends on whether work ends when its caller has left, and there a Rust service differs from the published
//! one: a dropped handler is dropped work. So bare is played three times. Callers may leave when the load stops, and the
//! handler with them. Callers may stay, as those behind a gateway do that waits a minute. Or the work may run in a task of
//! its own, which is what a `spawn` in a handler makes of it and what the published service did by nature.
//!
//! Measured by the pool and the probes of `/db` over time, from the first call until well after the load.
//!
//! Invariants:
//! * recovered means: a probe of `/db` that began after the load stopped went well.

use std::time::Duration;

use watertight::resilient;

use super::frame::{Bench, Experiment, Variant};
use super::outcome::{Cell, Outcome, Plot, Series, Table};
use super::scene::{Crowd, PROBE_LIMIT, Scene, Seen, settings, side_by_side};
use super::service::{Desk, Done};
use crate::pool::SIZE;
use crate::report::words;
use crate::vendor::Behaviour;

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "drain",
    question: "How fast does a hanging vendor empty the pool, and does the service recover when the load stops?",
    setup: "30 clients on /work; the vendor hangs from the start. The load stops after a while, and the pool and /db are \
            watched on. Bare in three forms: the callers leave with the load, they stay, or the work runs in a task of its \
            own. Guarded, the callers stay.",
    meaning: "A pool of N is empty after N calls, whatever their rate. Do not count on callers to give it back: whether work \
              ends with its caller depends on a `spawn` somewhere. A limit on the call itself does not.",
    run: |bench| Box::pin(run(bench)),
};

#[resilient(timeout = "300ms", bulkhead = "drain:5/queue:10")]
async fn drain(desk: &Desk) -> Done {
    desk.work().await
}

const SOURCE: &str = include_str!("drain.rs");
const BARE: Variant = Variant::bare("bare, callers leave", |desk| Box::pin(desk.work()));
const STAYING: Variant = Variant { name: "bare, callers stay", ..BARE };
const SPAWNED: Variant = Variant { name: "bare, in a task", ..BARE };
const GUARDED: Variant = Variant::guarded("guarded, callers stay", SOURCE, "drain", |desk| Box::pin(drain(desk)));

async fn run(bench: &Bench) -> anyhow::Result<Outcome> {
    let (load, after) = (bench.seconds(5.0, 2.0), bench.seconds(15.0, 4.0));
    let scene = |stay: bool, detached: bool| {
        let mut scene = Scene::closed(Behaviour::Hang, 30, load);
        scene.watched = load + after;
        scene.detached = detached;
        if let Crowd::Closed(crowd) = &mut scene.crowd {
            // Who stays, stays until the last probe has been answered.
            crowd.patience = load + after + PROBE_LIMIT;
            crowd.grace = if stay { after + PROBE_LIMIT } else { Duration::ZERO };
        }
        scene
    };
    let plays = [
        (scene(false, false), BARE),
        (scene(true, false), STAYING),
        (scene(false, true), SPAWNED),
        (scene(true, false), GUARDED),
    ];
    let seen = side_by_side(bench, "vendor hangs", &plays).await?;
    let mut outcome =
        Outcome { lines: plays.iter().map(|(_, variant)| variant.line()).collect(), ..Outcome::default() };
    settings(bench, &plays[0].0, &mut outcome);
    outcome.set("watched_after_the_load_seconds", after.as_secs_f64());
    outcome.tables.push(table(&seen, load, after));
    outcome.plots.extend([plot(&seen)]);
    judge(bench, &seen, load, after, &mut outcome);
    Ok(outcome)
}

/// When the pool was first seen without an idle connection.
fn dry(seen: &Seen) -> Option<(Duration, u64)> {
    seen.moments.iter().find(|moment| moment.idle == 0).map(|moment| (moment.at, moment.waiting))
}

/// When `/db` first went well after the load had stopped, counted from there; a probe's beat is the resolution.
fn recovered(seen: &Seen, load: Duration) -> Option<Duration> {
    let before = seen.moments.iter().take_while(|moment| moment.at < load).last()?.db.1;
    let first = seen.moments.iter().find(|moment| moment.at >= load && moment.db.1 > before)?;
    Some(first.at.saturating_sub(load))
}

fn table(seen: &[Seen], load: Duration, after: Duration) -> Table {
    let heads = [
        "",
        "/db good",
        "/healthy good",
        "pool first empty after",
        "waiting then",
        "vendor saw",
        "/db good again after the load",
    ];
    let mut table = Table::new("A pool of ten and a vendor that hangs", &heads);
    for seen in seen {
        let dry = dry(seen);
        table.row([
            seen.variant.into(),
            Cell::Share(seen.db.success()),
            Cell::Share(seen.healthy.success()),
            dry.map_or(Cell::from("never"), |(at, _)| Cell::Time(Some(at))),
            dry.map_or(Cell::from("-"), |(_, waiting)| waiting.into()),
            seen.vendor.requests.into(),
            recovered(seen, load)
                .map_or(format!("not within {} s", after.as_secs()).into(), |took| Cell::Time(Some(took))),
        ]);
    }
    table
}

fn plot(seen: &[Seen]) -> Plot {
    let line = |seen: &Seen| {
        let points = seen.moments.iter().step_by(5).map(|moment| (moment.at.as_secs_f64(), moment.idle as f64));
        Series { name: seen.variant.to_owned(), points: points.collect() }
    };
    let caption = "Idle connections over time; the load stops on the way".to_owned();
    Plot { caption, x: "seconds", y: "idle connections", log_x: false, series: seen.iter().map(line).collect() }
}

fn judge(bench: &Bench, seen: &[Seen], load: Duration, after: Duration, outcome: &mut Outcome) {
    let [leaving, staying, spawned, guarded] = seen else { return };
    let dry_at = dry(staying);
    let requests = |seen: &Seen| seen.vendor.requests;
    // A sample may see the pool empty before all clients have come; a moment later they have.
    let most = staying.moments.iter().take_while(|moment| moment.at < load).map(|moment| moment.waiting).max();
    let dried = dry_at.is_some_and(|(at, _)| at < load) && most >= Some(15);
    outcome.claim(
        "Bare, the pool is empty with the rest of the clients waiting",
        dried,
        format!("{} waiting", most.unwrap_or_default()),
    );
    let seen_by_vendor = format!("{} and {} and {}", requests(leaving), requests(staying), requests(spawned));
    // When callers leave, whoever is next in line may still reach the vendor before it leaves too.
    outcome.claim(
        "Bare, the vendor is asked as often as the pool has connections, and no more",
        requests(staying) <= u64::from(SIZE) && requests(spawned) <= u64::from(SIZE),
        seen_by_vendor,
    );
    let stuck = recovered(staying, load).is_none() && recovered(spawned, load).is_none();
    outcome.claim(
        "Bare, it does not recover while callers stay or the work runs in a task",
        stuck,
        format!("watched for {} s", after.as_secs()),
    );
    outcome.milder(bench.quick, "15 s without recovery");
    let back = recovered(leaving, load).is_some();
    outcome.claim(
        "Bare, it recovers when callers leave and take the work along",
        back,
        words::latency(recovered(leaving, load)),
    );
    let stands = guarded.db.success() >= Some(100.0) && guarded.healthy.success() >= Some(100.0);
    outcome.claim("Guarded, /db and /healthy stand throughout", stands, words::share(guarded.db.success()));

    let first = dry_at
        .map_or("never".to_owned(), |(at, waiting)| format!("{} waiting after {}", waiting, words::latency(Some(at))));
    outcome.beside(
        "pool empty",
        "0 idle, 21 waiting at the first sample, 29 ms",
        first,
        format!(
            "Samples are 20 ms apart here, and this is the first that saw no idle connection; later ones saw up to {} waiting.",
            most.unwrap_or_default()
        ),
    );
    outcome.beside(
        "requests the vendor ever saw, bare",
        "10",
        requests(staying).to_string(),
        if requests(staying) == u64::from(SIZE) {
            "The same: one for each connection, then silence. A vendor's own graphs show an idle afternoon.".to_owned()
        } else {
            format!("There are {SIZE} connections.")
        },
    );
    let form = |seen: &Seen| {
        recovered(seen, load).map_or("no".to_owned(), |took| format!("after {}", words::latency(Some(took))))
    };
    outcome.beside(
        format!("recovered {} s after the load stopped, bare", after.as_secs()),
        "no (15 s)",
        format!("callers leave: {}; they stay: {}; in a task: {}", form(leaving), form(staying), form(spawned)),
        "A handler is dropped here when its caller's connection closes, and gives the pooled connection back; it is not \
         when nobody closes, or when the work runs in a task of its own.",
    );
}
