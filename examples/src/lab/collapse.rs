//! # Work for nobody
//!
//! The claim: under one and a half times the load it can carry, a service with a plain queue does not serve two thirds of it
//! and refuse the rest. It serves everybody late. Its queue is full, so who comes to the front has waited for two bodies,
//! and when his own is done his caller has gone. The work is all done, and none of it is of use.
//!
//! Ours looks at what is left before it begins: a call that cannot end in time, as far as has been measured, is refused and its
//! slot goes to one that can.
//!
//! Measured from outside: an answer within 300 ms is useful. Capacity is slots over body, so 100 % is what eight slots can do
//! when every body they run is of use. The plain queue is eight permits and sixteen places, by hand, and like most work it
//! does not notice that its caller has left.
//!
//! Invariants:
//! * the same slots, places and arrivals in both; each length of body has a function of its own, since each learns its own.

use std::time::Duration;

use serde_json::json;
use tokio::sync::Semaphore;
use watertight::resilient;

use super::frame::{Bench, Experiment, Variant};
use super::outcome::{Cell, Outcome, Plot, Series, Table, points};
use super::scene::{Crowd, Scene, Seen, settings, side_by_side};
use super::service::{Desk, Done};
use crate::shop::AppError;
use crate::vendor::Behaviour;

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "collapse",
    question: "How much of the work done under overload is still of use to anybody?",
    setup: "8 slots and a queue of 16, calls arriving at 1.5 times what the slots can carry, each with a deadline of 300 ms; \
            bodies of 60 to 250 ms, all of it waiting for a vendor. A plain first-in-first-out queue, and the attribute.",
    meaning: "A queue of Q behind S slots adds Q / S bodies to every answer once it is full, and under overload it is always \
              full. If that and one body more exceed your caller's patience, overload leaves you with nothing.",
    run: |bench| Box::pin(run(bench)),
};

#[resilient(deadline = "300ms", bulkhead = "collapse-60:8/queue:16/wait:300ms")]
async fn collapse_60(desk: &Desk) -> Done {
    desk.ask().await
}

#[resilient(deadline = "300ms", bulkhead = "collapse-120:8/queue:16/wait:300ms")]
async fn collapse_120(desk: &Desk) -> Done {
    desk.ask().await
}

#[resilient(deadline = "300ms", bulkhead = "collapse-150:8/queue:16/wait:300ms")]
async fn collapse_150(desk: &Desk) -> Done {
    desk.ask().await
}

#[resilient(deadline = "300ms", bulkhead = "collapse-250:8/queue:16/wait:300ms")]
async fn collapse_250(desk: &Desk) -> Done {
    desk.ask().await
}

const SLOTS: u32 = 8;
const QUEUE: usize = 16;
static PLACES: Semaphore = Semaphore::const_new(SLOTS as usize + QUEUE);
static RUNNING: Semaphore = Semaphore::const_new(SLOTS as usize);

/// First in, first out; full is refused.
async fn plain(desk: &Desk) -> Done {
    let Ok(_place) = PLACES.try_acquire() else {
        return Err(AppError::Database(sqlx::Error::PoolTimedOut));
    };
    // It is never closed, so this is a slot.
    let _slot = RUNNING.acquire().await;
    desk.ask().await
}

const SOURCE: &str = include_str!("collapse.rs");
const PLAIN: Variant = Variant::bare("plain queue", |desk| Box::pin(plain(desk)));
const POINTS: [(u64, Variant); 4] = [
    (60, Variant::guarded("guarded", SOURCE, "collapse_60", |desk| Box::pin(collapse_60(desk)))),
    (120, Variant::guarded("guarded", SOURCE, "collapse_120", |desk| Box::pin(collapse_120(desk)))),
    (150, Variant::guarded("guarded", SOURCE, "collapse_150", |desk| Box::pin(collapse_150(desk)))),
    (250, Variant::guarded("guarded", SOURCE, "collapse_250", |desk| Box::pin(collapse_250(desk)))),
];
const PATIENCE: Duration = Duration::from_millis(300);

/// What was seen at one length of body, with the capacity for it.
struct Point {
    body: u64,
    capacity: f64,
    plain: Seen,
    guarded: Seen,
}

impl Point {
    fn useful(&self, of: &Seen) -> f64 {
        of.work.ok as f64 / self.capacity * 100.0
    }
}

async fn run(bench: &Bench) -> anyhow::Result<Outcome> {
    let points = bench.pick(&POINTS[..], &POINTS[1..3]);
    let length = bench.seconds(20.0, 4.0);
    let mut outcome = Outcome { lines: vec![PLAIN.line(), points[0].1.line()], ..Outcome::default() };
    let mut all = Vec::new();
    for (body, guarded) in points {
        let per_second = SLOTS * 1_500 / u32::try_from(*body)?;
        let mut scene = Scene::open(Behaviour::After(Duration::from_millis(*body)), per_second, length);
        if let Crowd::Open(arrivals) = &mut scene.crowd {
            arrivals.limit = PATIENCE;
        }
        if all.is_empty() {
            settings(bench, &scene, &mut outcome);
        }
        let plays = [(Scene { detached: true, ..scene.clone() }, PLAIN), (scene, *guarded)];
        let mut seen = side_by_side(bench, &format!("body {body} ms"), &plays).await?;
        let capacity = f64::from(SLOTS) * length.as_secs_f64() / (*body as f64 / 1e3);
        all.push(Point { body: *body, capacity, guarded: seen.remove(1), plain: seen.remove(0) });
        if bench.stop.is_stopped() {
            break;
        }
    }
    outcome.set("slots", SLOTS);
    outcome.set("queue", QUEUE);
    outcome.set("body_ms", json!(points.iter().map(|(body, _)| body).collect::<Vec<_>>()));
    outcome.tables.push(table(&all));
    outcome.plots.push(plot(&all));
    judge(bench, &all, &mut outcome);
    Ok(outcome)
}

fn table(all: &[Point]) -> Table {
    let heads = [
        "body",
        "arrived",
        "capacity",
        "plain: useful",
        "of capacity",
        "guarded: useful",
        "of capacity",
        "guarded: p99 of all answers",
    ];
    let mut table = Table::new("Answers within 300 ms at 1.5 times the load", &heads);
    for point in all {
        let share = |seen: &Seen| Cell::Share(Some(point.useful(seen)));
        table.row([
            format!("{} ms", point.body).into(),
            point.guarded.work.requests.into(),
            format!("{:.0}", point.capacity).into(),
            point.plain.work.ok.into(),
            share(&point.plain),
            point.guarded.work.ok.into(),
            share(&point.guarded),
            Cell::Time(point.guarded.work.p99),
        ]);
    }
    table
}

fn plot(all: &[Point]) -> Plot {
    let line = |name: &str, of: fn(&Point) -> f64| Series {
        name: name.to_owned(),
        points: all.iter().map(|point| (point.body as f64, of(point))).collect(),
    };
    let series = vec![line("plain queue", |it| it.useful(&it.plain)), line("guarded", |it| it.useful(&it.guarded))];
    let caption = "Useful answers against the length of the body".to_owned();
    Plot { caption, x: "body, ms", y: "of capacity, %", log_x: false, series }
}

fn judge(bench: &Bench, all: &[Point], outcome: &mut Outcome) {
    // The first seconds are spent learning, and weigh more in a quick run.
    let least = bench.pick(90.0, 60.0);
    let lowest = |of: fn(&Point) -> f64| all.iter().map(of).fold(f64::INFINITY, f64::min);
    let ours = lowest(|point| point.useful(&point.guarded));
    let worse = lowest(|point| point.useful(&point.plain));
    outcome.claim(
        format!("Guarded, at least {least:.0} % of capacity is of use, whatever the body"),
        ours >= least,
        format!("lowest {ours:.0} %"),
    );
    outcome.milder(bench.quick, format!("90 %, at {} lengths of body instead of {}", POINTS.len(), all.len()));
    outcome.claim("A plain queue falls below three quarters", worse < 75.0, format!("lowest {worse:.0} %"));
    let long = || all.iter().filter(|point| point.body >= 120);
    let better = long().all(|point| point.useful(&point.guarded) > point.useful(&point.plain));
    let both = long()
        .map(|it| format!("{} ms: {:.0} % against {:.0} %", it.body, it.useful(&it.guarded), it.useful(&it.plain)));
    let shown = both.collect::<Vec<_>>().join(", ");
    outcome.claim("From 120 ms on more is of use guarded than with a plain queue", better, shown);
    let at = |body| all.iter().find(|point| point.body == body).map_or(f64::NAN, |point| point.useful(&point.plain));
    outcome.beside(
        "useful work of a plain queue at 120 and 150 ms (a model)",
        "42 % and 26 %",
        format!("{:.0} % and {:.0} %", at(120), at(150)),
        format!(
            "{} and {}. Arrivals here come in an even beat; by arithmetic, an answer from behind a full queue takes three \
             bodies, 360 and 450 ms, which is too late.",
            points(Some(at(120)), 42.0),
            points(Some(at(150)), 26.0).to_lowercase()
        ),
    );
}
