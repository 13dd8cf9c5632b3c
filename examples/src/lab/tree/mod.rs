//! # Two seconds for a tree of calls
//!
//! ```text
//!   you ──▶ edge ──▶ A ──▶ B ..     each asks the next one, then its own database,
//!            │       │      │       whose queries take half a minute today
//!            ▼       ▼      ▼
//!               Postgres
//! ```
//!
//! The claim: every hop gives its query two seconds and does without the answer if it does not come. That is careful, and with
//! four hops it is eight seconds for whoever stands in front, who had two. Told how long is left, all of them and their queries
//! end after two.
//!
//! Measured over real HTTP hops: when the answer came, and how long hops and queries worked on after the two seconds of the
//! caller were over. Besides, the caller who leaves: in Rust a handler is dropped with its connection, and that travels down the
//! tree, too, as long as everyone in between closes at once.
//!
//! `cargo run --release --example tree` runs the same with three hops, and prints what each was given.
//!
//! Invariants:
//! * all plays use the same functions, and differ in two lines: the layer of the servers and the middleware of the clients.

pub mod database;
pub mod hop;
mod side_by_side;

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use tokio::time::{Instant, timeout};

use super::frame::{Bench, Experiment, attribute};
use super::outcome::{Cell, Outcome, Plot, Series, Table};
use crate::get::client;
use crate::report::words;
use crate::server::Server;
use database::Database;
use hop::{Log, Stay, Told};
pub use side_by_side::side_by_side;

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "tree",
    question: "What do two seconds at the edge come to when every hop has its own?",
    setup: "An edge that has 2 s and three hops below it, each asking the next one and then its own database, whose queries take \
            half a minute and are given 2 s by each hop for itself. Not told what is left, with a caller who waits and with one \
            who leaves after 2 s; and told.",
    meaning: "Limits that nobody passes on add up along the tree: hops x limit for the caller, and work for nobody after its \
              patience. Pass what is left on, and every hop's limit becomes the smaller of the two.",
    run: |bench| Box::pin(run(bench)),
};

/// What the edge has.
pub const BUDGET: Duration = Duration::from_secs(2);
/// How long anything here may take at most.
const END: Duration = Duration::from_secs(30);
const HOPS: &[&str] = &["edge", "A", "B", "C"];

/// One request to a tree.
#[derive(Clone, Copy, Debug)]
pub struct Play {
    /// The hops, from the edge down.
    pub names: &'static [&'static str],
    /// Whether they are told what is left.
    pub told: Told,
    /// How long the caller waits.
    pub patience: Duration,
}

impl Play {
    /// With a caller who waits.
    pub fn waiting(names: &'static [&'static str], told: Told) -> Self {
        Self { names, told, patience: END }
    }
}

/// What one run came to.
#[derive(Debug)]
pub struct Run {
    /// The hops, from the edge down.
    pub names: &'static [&'static str],
    /// Whether they were told what is left.
    pub told: Told,
    /// The answer's; none if the caller left.
    pub status: Option<u16>,
    /// When the caller had its answer, or left.
    pub answered: Duration,
    /// Every hop that was reached.
    pub hops: Vec<Stay>,
    /// When the last query had ended on the server, if there is one.
    pub database: Option<Duration>,
}

impl Run {
    /// Hops' time spent after the edge's two seconds, summed over the hops.
    pub fn late(&self) -> Duration {
        self.hops.iter().map(|stay| stay.to.saturating_sub(stay.from.max(BUDGET))).sum()
    }

    /// When the last hop was done.
    pub fn done(&self) -> Duration {
        self.hops.iter().map(|stay| stay.to).max().unwrap_or_default()
    }
}

/// Plays one request.
///
/// # Errors
/// When a server cannot be set up, or nothing ended within half a minute.
pub async fn play(play: Play, database: &Database) -> anyhow::Result<Run> {
    let log = Arc::new(Log::start());
    let mut servers: Vec<Server> = Vec::new();
    for name in play.names.iter().rev() {
        let next = servers.last().map(Server::url);
        servers.push(hop::serve(name, next, play.told, database, &log).await?);
    }
    let edge = servers.last().map(Server::url).unwrap_or_default();
    log.restart();
    let began = Instant::now();
    let asked = timeout(play.patience, async { client().get(&edge).send().await }).await;
    let (status, answered) = match asked {
        Ok(answer) => (Some(answer?.status().as_u16()), began.elapsed()),
        Err(_) => (None, began.elapsed()),
    };
    timeout(END, log.quiet()).await?;
    let database = database.until_idle().await?.then(|| began.elapsed());
    let hops = log.stays();
    join_all(servers.into_iter().map(Server::stop)).await;
    Ok(Run { names: play.names, told: play.told, status, answered, hops, database })
}

const PLAYS: [(&str, Play); 3] = [
    ("each for itself", Play { names: HOPS, told: Told::Nothing, patience: END }),
    ("each for itself, caller leaves", Play { names: HOPS, told: Told::Nothing, patience: BUDGET }),
    ("told what is left", Play { names: HOPS, told: Told::WhatIsLeft, patience: END }),
];

async fn run(bench: &Bench) -> anyhow::Result<Outcome> {
    let source = include_str!("hop.rs");
    let lines = [("asking the next one", "tree_next"), ("asking the database", "tree_details")];
    let lines = lines.map(|(name, site)| (name.to_owned(), attribute(source, site)));
    let mut outcome = Outcome { lines: lines.into(), ..Outcome::default() };
    outcome.set("hops", HOPS.join(", "));
    outcome.set("budget_ms", 2_000);
    outcome.set("query_seconds", 30);
    let all = join_all(PLAYS.iter().enumerate().map(|(at, (_, it))| async move {
        let database = Database::find(bench.postgres.as_deref(), at).await;
        let ran = play(*it, &database).await;
        database.close().await;
        (ran, database)
    }));
    let ran = tokio::select! {
        ran = all => ran,
        () = bench.live.follow("four hops, 2 s each", BUDGET * 4, String::new) => return Ok(outcome),
        () = bench.stop.clone().stopped() => return Ok(outcome),
    };
    let database = ran.first().map(|(_, database)| database.to_string()).unwrap_or_default();
    let runs = ran.into_iter().map(|(run, _)| run).collect::<anyhow::Result<Vec<_>>>()?;
    outcome.remarks.push(format!("The database: {database}."));
    outcome.tables.push(table(&runs));
    outcome.plots.push(plot(&runs));
    judge(&runs, &mut outcome);
    Ok(outcome)
}

fn table(runs: &[Run]) -> Table {
    let heads =
        ["", "caller", "after", "last hop done after", "hops at work after 2 s, summed", "last query ended after"];
    let mut table = Table::new("One request to an edge with 2 s and four hops", &heads);
    for ((name, _), run) in PLAYS.iter().zip(runs) {
        table.row([
            (*name).into(),
            run.status.map_or("left".to_owned(), |status| format!("had a {status}")).into(),
            Cell::Time(Some(run.answered)),
            Cell::Time(Some(run.done())),
            Cell::Time(Some(run.late())),
            Cell::Time(run.database),
        ]);
    }
    table
}

/// How many hops were at work at each moment at which that changed.
fn at_work(run: &Run) -> Vec<(f64, f64)> {
    let mut changes: Vec<_> = run.hops.iter().flat_map(|stay| [(stay.from, 1.0), (stay.to, -1.0)]).collect();
    changes.sort_by_key(|(at, _)| *at);
    let (mut points, mut now) = (vec![(0.0, 0.0)], 0.0);
    for (at, change) in changes {
        points.push((at.as_secs_f64(), now));
        now += change;
        points.push((at.as_secs_f64(), now));
    }
    points
}

fn plot(runs: &[Run]) -> Plot {
    let line = |((name, _), run): (&(&str, Play), &Run)| Series { name: (*name).to_owned(), points: at_work(run) };
    let caption = "Hops at work over time; the edge has two seconds".to_owned();
    // The caller who leaves would cover the one who is told: both end after two seconds.
    let shown = PLAYS.iter().zip(runs).filter(|((_, play), _)| play.patience == END);
    Plot { caption, x: "seconds", y: "hops at work", log_x: false, series: shown.map(line).collect() }
}

fn judge(runs: &[Run], outcome: &mut Outcome) {
    let [alone, leaving, told] = runs else { return };
    let length = |length| words::latency(Some(length));
    let answered = |run: &Run| format!("answered after {}", length(run.answered));
    let late = |run: &Run| format!("{} of hops' time", length(run.late()));
    outcome.claim(
        "Each for itself, the caller waits for the sum of the hops' limits",
        alone.answered >= BUDGET.mul_f64(3.75),
        answered(alone),
    );
    outcome.claim(
        "Told what is left, the caller has an answer after its own two seconds",
        told.answered >= BUDGET.mul_f64(0.95) && told.answered < BUDGET.mul_f64(1.5),
        answered(told),
    );
    outcome.claim("Each for itself, hops work on for longer than the caller had", alone.late() > BUDGET, late(alone));
    outcome.claim("Told, next to nothing is done afterwards", told.late() < BUDGET / 4, late(told));
    outcome.claim(
        "Where the caller leaves and everyone closes at once, the work ends too",
        leaving.late() < BUDGET / 4,
        late(leaving),
    );
    if let (Some(alone), Some(told)) = (alone.database, told.database) {
        let shown = format!("the last query ended after {} and {}", length(alone), length(told));
        outcome.claim(
            "And the database is free with the answer",
            told < BUDGET.mul_f64(1.5) && alone > told * 2,
            shown,
        );
    }
    let ratio = alone.answered.as_secs_f64() / told.answered.as_secs_f64().max(1e-9);
    outcome.beside(
        "answer of a tree with 2 s at the edge",
        "8 s against 2 s",
        format!("{} against {}", length(alone.answered), length(told.answered)),
        if (3.5..4.5).contains(&ratio) {
            format!("The same: {ratio:.1} times, with four hops of 2 s each.")
        } else {
            format!("{ratio:.1} times, where four hops of 2 s each would make it four.")
        },
    );
    outcome.beside(
        "work after the caller's two seconds",
        "not published",
        format!("{} against {}", length(alone.late()), length(told.late())),
        "Ours alone: the hops' time after the edge's two seconds, summed; a caller who leaves is in the table.",
    );
}
