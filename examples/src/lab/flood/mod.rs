//! # Who drowns when one of three is slow
//!
//! The claim: three dependencies that share their workers share their outages. When one of them is slow, its calls stay; the
//! common room fills with them, and search and payments, which are well, are not served any more. With a room for each the slow
//! one fills its own, and the others do not notice.
//!
//! Measured by what the service counted for each dependency, first with all three fast and then with slow recommendations, in
//! a common room and in one for each, side by side. `cargo run --release -- flood` is the same as a page with the two switches.
//!
//! ```text
//!   stage    three dependencies, a service, and a crowd      room   the two ways through it
//!   recent   the last five seconds, and who is stalled
//! ```
//!
//! Invariants:
//! * both have six workers and eighteen places in sum, and the same arrivals.

pub mod recent;
pub mod room;
pub mod stage;

use std::time::Duration;

use futures::future::join_all;

use super::frame::{Bench, Experiment, attribute};
use super::outcome::{Cell, Outcome, Plot, Series, Table};
use crate::report::words;
use crate::tally::percent;
use room::{Ended, SITES, SOURCE};
use stage::{EVERY, FAST, NAMES, SAMPLE, SHARES, SLOW, Stage, Switches};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "flood",
    question: "Who else drowns when one of three dependencies is slow?",
    setup: "Three dependencies behind one service, 20 calls a second: 45 % to recs, 28 % to search, 27 % to payments, each \
            answered after 100 ms. Then recs takes 8 s. Six workers and 18 places for all, or two workers and six places for \
            each by an attribute. The live page with the same is `cargo run --release -- flood`.",
    meaning: "A worker limit that all share protects the machine and nobody on it. The slowest dependency ends up with all of it, \
              whatever its share of the calls: divide before that, by what each needs on a good day.",
    run: |bench| Box::pin(run(bench)),
};

const ROOMS: [(&str, bool); 2] = [("common room", false), ("one each", true)];

/// How one dependency's calls ended while all were fast, and while recs was slow.
struct Part {
    fast: Ended,
    slow: Ended,
    stalled: bool,
}

/// One stage, played.
struct Seen {
    parts: Vec<Part>,
    history: Vec<Vec<f64>>,
}

async fn run(bench: &Bench) -> anyhow::Result<Outcome> {
    let (fast, slow) = (bench.seconds(5.0, 2.0), bench.seconds(20.0, 8.0));
    let lines = NAMES.iter().zip(SITES).map(|(name, site)| ((*name).to_owned(), attribute(SOURCE, site)));
    let mut outcome = Outcome { lines: lines.collect(), ..Outcome::default() };
    outcome.set("calls_a_second", 1.0 / EVERY.as_secs_f64());
    outcome.set("shares_percent", format!("{SHARES:?}"));
    outcome.set("fast_ms", FAST.as_secs_f64() * 1e3);
    outcome.set("slow_ms", SLOW.as_secs_f64() * 1e3);
    outcome.set("fast_for_seconds", fast.as_secs_f64());
    outcome.set("slow_for_seconds", slow.as_secs_f64());
    let both = join_all(ROOMS.map(|(_, bulkheads)| play(bench, bulkheads, fast, slow)));
    let seen = tokio::select! {
        seen = both => seen.into_iter().collect::<anyhow::Result<Vec<_>>>()?,
        () = bench.live.follow("all fast, then recs slow", fast + slow, String::new) => return Ok(outcome),
    };
    outcome.tables.push(table(&seen));
    outcome.remarks.push("A call that came just before recs turned slow may be served after.".to_owned());
    outcome.plots.push(plot(&seen));
    judge(&seen, slow, &mut outcome);
    Ok(outcome)
}

async fn play(bench: &Bench, bulkheads: bool, fast: Duration, slow: Duration) -> anyhow::Result<Seen> {
    let stage = Stage::open(Switches { bulkheads, recs_slow: false }).await?;
    let counts = || [0, 1, 2].map(|at| stage.now(at)).map(|now| (now.common.and(now.own), now.stalled));
    bench.pause(fast).await;
    // Calls under way are neither here nor there, and few.
    let before = counts();
    stage.turn(Switches { bulkheads, recs_slow: true });
    bench.pause(slow).await;
    let after = counts();
    let history = [0, 1, 2].map(|at| stage.now(at).history).into();
    stage.stop().await;
    let parts = before.iter().zip(after);
    let parts =
        parts.map(|((fast, _), (all, stalled))| Part { fast: *fast, slow: all.since(*fast), stalled }).collect();
    Ok(Seen { parts, history })
}

fn served(ended: Ended) -> Option<f64> {
    // Those that came just before the switch may end after it.
    percent(ended.served.min(ended.came), ended.came)
}

fn table(seen: &[Seen]) -> Table {
    let heads = [
        "rooms",
        "dependency",
        "all fast: turned away",
        "recs slow: came",
        "served",
        "of those",
        "turned away",
        "stalled",
    ];
    let mut table = Table::new("What the service counted", &heads);
    for ((room, _), seen) in ROOMS.iter().zip(seen) {
        for (name, part) in NAMES.iter().zip(&seen.parts) {
            table.row([
                (*room).into(),
                (*name).into(),
                part.fast.refused.into(),
                part.slow.came.into(),
                part.slow.served.into(),
                Cell::Share(served(part.slow)),
                part.slow.refused.into(),
                if part.stalled { "stalled" } else { "goes on" }.into(),
            ]);
        }
    }
    table
}

fn plot(seen: &[Seen]) -> Plot {
    let mut series = Vec::new();
    for ((room, _), seen) in ROOMS.iter().zip(seen) {
        // Recs falls to nothing in both, once it is slow.
        for (name, history) in NAMES.iter().zip(&seen.history).skip(1) {
            let at = |turn: usize| (turn as f64 + 4.0) * SAMPLE.as_secs_f64();
            let points = history.iter().enumerate().map(|(turn, rate)| (at(turn), *rate)).collect();
            series.push(Series { name: format!("{name}, {room}"), points });
        }
    }
    let caption = "Answers a second of the two that are well; recs turns slow on the way".to_owned();
    Plot { caption, x: "seconds", y: "answers a second", log_x: false, series }
}

fn judge(seen: &[Seen], slow: Duration, outcome: &mut Outcome) {
    let [common, own] = seen else { return };
    let shown = |seen: &Seen| {
        let one = |(name, part): (&&str, &Part)| format!("{name} {}", words::share(served(part.slow)));
        NAMES.iter().zip(&seen.parts).map(one).collect::<Vec<_>>().join(", ")
    };
    let turned_away = |seen: &Seen| seen.parts.iter().map(|part| part.fast.refused).sum::<u64>();
    outcome.claim(
        "With all three fast, nobody is turned away in either",
        turned_away(common) + turned_away(own) == 0,
        format!("{} and {} turned away", turned_away(common), turned_away(own)),
    );
    let others = |seen: &Seen| [1, 2].map(|at: usize| served(seen.parts[at].slow).unwrap_or_default());
    outcome.claim(
        "In a common room, one slow dependency takes search and payments with it",
        others(common).iter().all(|share| *share < 50.0) && common.parts.iter().all(|part| part.stalled),
        shown(common),
    );
    // Those still under way at the end have not been served yet.
    outcome.claim(
        "With one each, search and payments are served as before",
        others(own).iter().all(|share| *share >= 95.0) && own.parts[1..].iter().all(|part| part.slow.refused == 0),
        shown(own),
    );
    let marked: Vec<_> = NAMES.iter().zip(&own.parts).filter(|(_, part)| part.stalled).map(|(name, _)| *name).collect();
    outcome.claim("And only the slow one is stalled", marked == ["recs"], marked.join(", "));
    outcome.beside(
        "search and payments when shared",
        "they freeze",
        format!("{:.1} % and {:.1} % served", others(common)[0], others(common)[1]),
        format!(
            "Over the {} s from the moment recs turned slow, which include the time in which the room filled.",
            slow.as_secs()
        ),
    );
}
