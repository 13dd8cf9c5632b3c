//! # How slow may the vendor get?
//!
//! The claim: one slow vendor takes down a route that never calls it, and it does not have to hang for that. Fifty clients
//! on `/work` and a pool of ten leave forty in the pool's queue; with a queue that moves ten places every vendor answer, a
//! probe of `/db` that comes last waits four or five of them. Its limit is two seconds, so the cliff stands where an answer
//! takes about 400 ms. `/healthy`, which is what load balancers look at, says that all is well throughout.
//!
//! Measured by the probes' success at each of the vendor's answer times, bare and guarded at the same time on stages of
//! their own.
//!
//! Invariants:
//! * the two variants differ in one attribute line.

use std::time::Duration;

use serde_json::json;
use watertight::resilient;

use super::frame::{Bench, Experiment, Variant};
use super::outcome::{Cell, Outcome, Plot, Series, Table, points as difference};
use super::scene::{Scene, Seen, settings, side_by_side};
use super::service::{Desk, Done};
use crate::report::words;
use crate::vendor::Behaviour;

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "cascade",
    question: "How slow may a vendor get before a route that never calls it fails?",
    setup: "50 clients on /work, which takes one of 10 pooled connections and calls the vendor while holding it; /db, one \
            trivial query through the same pool, and /healthy, which needs nothing, are probed every 200 ms. The vendor \
            answers after 50 ms to 5 s.",
    meaning: "Your cliff is where clients / connections x vendor time passes the pool's acquire limit: here 50 / 10 x 0.4 s = \
              2 s. Put your own three numbers in. A health route that touches nothing will not tell you.",
    run: |bench| Box::pin(run(bench)),
};

#[resilient(timeout = "300ms", bulkhead = "cascade:8/queue:50/wait:2s")]
async fn cascade(desk: &Desk) -> Done {
    desk.work().await
}

const SOURCE: &str = include_str!("cascade.rs");
const VARIANTS: [Variant; 2] = [
    Variant::bare("bare", |desk| Box::pin(desk.work())),
    Variant::guarded("guarded", SOURCE, "cascade", |desk| Box::pin(cascade(desk))),
];

async fn run(bench: &Bench) -> anyhow::Result<Outcome> {
    let times: &[u64] = bench.pick(&[50, 100, 200, 300, 500, 1_000, 2_000, 5_000], &[50, 5_000]);
    let (least, answers) = bench.pick((6.0, 4.0), (4.0, 0.8));
    let mut outcome = Outcome { lines: VARIANTS.iter().map(Variant::line).collect(), ..Outcome::default() };
    let mut points: Vec<(f64, Vec<Seen>)> = Vec::new();
    for &time in times {
        // Long enough for the queue to settle: several answers.
        let seconds = f64::max(least, time as f64 / 1e3 * answers);
        let scene = Scene::closed(Behaviour::After(Duration::from_millis(time)), 50, Duration::from_secs_f64(seconds));
        if points.is_empty() {
            settings(bench, &scene, &mut outcome);
        }
        let plays = VARIANTS.map(|variant| (scene.clone(), variant));
        points.push((time as f64, side_by_side(bench, &format!("vendor {time} ms"), &plays).await?));
        if bench.stop.is_stopped() {
            break;
        }
    }
    outcome.set("vendor_ms", json!(times));
    outcome.set("seconds_per_point", format!("{least}, or {answers} vendor answers where that is longer"));
    outcome.tables.push(table(&points));
    outcome.plots.push(plot(&points));
    judge(bench, &points, &mut outcome);
    Ok(outcome)
}

fn table(points: &[(f64, Vec<Seen>)]) -> Table {
    let heads = [
        "vendor answers after",
        "/db bare",
        "/db guarded",
        "/work bare",
        "/work guarded",
        "/healthy bare",
        "/healthy guarded",
    ];
    let mut table = Table::new("Share of good answers", &heads);
    for (time, seen) in points {
        let mut cells = vec![Cell::from(words::latency(Some(Duration::from_secs_f64(time / 1e3))))];
        for route in [|seen: &Seen| seen.db, |seen: &Seen| seen.work, |seen: &Seen| seen.healthy] {
            cells.extend(seen.iter().map(|seen| Cell::Share(route(seen).success())));
        }
        table.row(cells);
    }
    table
}

fn plot(points: &[(f64, Vec<Seen>)]) -> Plot {
    let line = |at: usize| {
        let share = |(time, seen): &(f64, Vec<Seen>)| Some((*time, seen.get(at)?.db.success()?));
        Series { name: format!("/db, {}", VARIANTS[at].name), points: points.iter().filter_map(share).collect() }
    };
    let caption = "Good answers of /db against the vendor's answer time".to_owned();
    Plot { caption, x: "vendor answers after, ms", y: "good answers, %", log_x: true, series: vec![line(0), line(1)] }
}

fn judge(bench: &Bench, points: &[(f64, Vec<Seen>)], outcome: &mut Outcome) {
    let (Some((_, fast)), Some((_, slow))) = (points.first(), points.last()) else { return };
    let db = |seen: &Seen| seen.db.success().unwrap_or_default();
    let both = |seen: &[Seen]| {
        format!("/db bare {}, guarded {}", words::share(seen[0].db.success()), words::share(seen[1].db.success()))
    };
    outcome.claim("With a fast vendor nobody starves", db(&fast[0]) >= 100.0 && db(&fast[1]) >= 100.0, both(fast));
    outcome.claim("Bare, /db starves behind a slow vendor", db(&slow[0]) < 50.0, both(slow));
    let calm = points.iter().all(|(_, seen)| db(&seen[1]) >= 100.0 && seen[1].healthy.success() >= Some(100.0));
    outcome.claim("Guarded, /db and /healthy stand at every vendor time", calm, both(slow));
    outcome.milder(bench.quick, format!("eight of them instead of {}", points.len()));
    let least = points.iter().filter_map(|(_, seen)| seen[0].healthy.success()).fold(100.0, f64::min);
    let lowest = format!("lowest {}", words::share(Some(least)));
    outcome.claim("Bare, /healthy goes on saying that all is well", least >= 100.0, lowest);

    let failing = points.iter().position(|(_, seen)| db(&seen[0]) < 100.0);
    let time = |at: usize| points.get(at).map_or_else(|| "-".to_owned(), |(time, _)| format!("{time} ms"));
    outcome.beside(
        "vendor time at which /db begins to fail, bare",
        "between 300 and 500 ms",
        failing.map_or_else(|| "at none measured".to_owned(), time),
        format!(
            "By arithmetic it is at 400 ms: 10 connections x 2 s / 50 clients. The longest measured without a failure: {}.",
            failing.map_or_else(|| time(points.len() - 1), |at| if at == 0 { "none".to_owned() } else { time(at - 1) }),
        ),
    );
    let bare = slow[0].db;
    outcome.beside(
        "/db at 5 s, bare",
        "7.7 %",
        words::share(bare.success()),
        format!("{}: {} of {} probes.", difference(bare.success(), 7.7), bare.ok, bare.requests),
    );
    let least = points.iter().filter_map(|(_, seen)| seen[0].healthy.success()).fold(100.0, f64::min);
    outcome.beside(
        "/healthy, bare",
        "100 %",
        words::share(Some(least)),
        format!("{}.", difference(Some(least), 100.0)),
    );
}
