//! # What a timeout costs
//!
//! The claim: a short timeout doubles the work done and takes a tenth of the tail, and it cuts off calls that would have been
//! answered. A longer one cuts almost none and still takes most of the tail. There is a best place, and it is found by
//! looking at the vendor's distribution, not by taste.
//!
//! Measured under a vendor that is well on the whole: 90 % after 150 ms, 8 % after 800 ms, 2 % after 6 s. Every call it cuts
//! off would have been answered in the end, so the share cut is the share of good calls lost. The timeout stands above the
//! vendor call alone: above the whole work it would cut the wait for a connection, too, which is another question.
//!
//! Invariants:
//! * the variants differ in the attribute line only, and are played at the same time.

use tokio::time::Instant;
use watertight::advice::Advised;
use watertight::resilient;

use super::frame::{Bench, Experiment, Variant};
use super::outcome::{Cell, Outcome, Plot, Series, Table, points, ratio};
use super::scene::{Crowd, Scene, Seen, settings, side_by_side};
use super::service::{Desk, Done};
use crate::report::words;
use crate::tally::percent;
use crate::vendor::Behaviour;

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "cost",
    question: "What does a timeout cost, and where should it stand?",
    setup: "30 clients on /work, a pool of 10, and a vendor of mixed speed: 90 % after 150 ms, 8 % after 800 ms, 2 % after \
            6 s. No timeout, and six different ones on the vendor call.",
    meaning: "Place the timeout between two humps of your own distribution, not on one: here anything from 850 ms to 5 s cuts \
              the same 2 %, and the nearer end frees connections sooner. What is cut off looks like a failure in every graph, \
              so look at the distribution before you set it.",
    run: |bench| Box::pin(run(bench)),
};

#[resilient(timeout = "250ms")]
async fn cost_250ms(desk: &Desk) -> Done {
    desk.ask().await
}

#[resilient(timeout = "500ms")]
async fn cost_500ms(desk: &Desk) -> Done {
    desk.ask().await
}

#[resilient(timeout = "1s")]
async fn cost_1s(desk: &Desk) -> Done {
    desk.ask().await
}

#[resilient(timeout = "2s")]
async fn cost_2s(desk: &Desk) -> Done {
    desk.ask().await
}

#[resilient(timeout = "10s")]
async fn cost_10s(desk: &Desk) -> Done {
    desk.ask().await
}

#[resilient(timeout = "4s")]
async fn cost_4s(desk: &Desk) -> Done {
    desk.ask().await
}

const SOURCE: &str = include_str!("cost.rs");
const VARIANTS: [Variant; 7] = [
    Variant::bare("none", |desk| Box::pin(desk.work())),
    Variant::guarded("250 ms", SOURCE, "cost_250ms", |desk| {
        Box::pin(async move {
            let _holding = desk.hold().await?;
            cost_250ms(desk).await
        })
    }),
    Variant::guarded("500 ms", SOURCE, "cost_500ms", |desk| {
        Box::pin(async move {
            let _holding = desk.hold().await?;
            cost_500ms(desk).await
        })
    }),
    Variant::guarded("1 s", SOURCE, "cost_1s", |desk| {
        Box::pin(async move {
            let _holding = desk.hold().await?;
            cost_1s(desk).await
        })
    }),
    Variant::guarded("2 s", SOURCE, "cost_2s", |desk| {
        Box::pin(async move {
            let _holding = desk.hold().await?;
            cost_2s(desk).await
        })
    }),
    Variant::guarded("4 s", SOURCE, "cost_4s", |desk| {
        Box::pin(async move {
            let _holding = desk.hold().await?;
            cost_4s(desk).await
        })
    }),
    Variant::guarded("10 s", SOURCE, "cost_10s", |desk| {
        Box::pin(async move {
            let _holding = desk.hold().await?;
            cost_10s(desk).await
        })
    }),
];
const MILLIS: [f64; 7] = [f64::NAN, 250.0, 500.0, 1_000.0, 2_000.0, 4_000.0, 10_000.0];

async fn run(bench: &Bench) -> anyhow::Result<Outcome> {
    let mut scene = Scene::closed(Behaviour::Mixed, 30, bench.seconds(20.0, 6.0));
    if let Crowd::Closed(crowd) = &mut scene.crowd {
        // The slowest answers are to be counted, not cut by the end of the run.
        crowd.grace = std::time::Duration::from_secs(7);
    }
    let mut outcome = Outcome { lines: VARIANTS.iter().map(Variant::line).collect(), ..Outcome::default() };
    settings(bench, &scene, &mut outcome);
    let (before, begun) = (watertight::snapshot(), Instant::now());
    let seen = side_by_side(bench, "mixed vendor", &VARIANTS.map(|variant| (scene.clone(), variant))).await?;
    outcome.tables.push(table(&seen));
    outcome.plots.push(plot(&seen));
    outcome.remarks.extend(advised(&before, begun.elapsed()));
    judge(&seen, &mut outcome);
    Ok(outcome)
}

/// What the runtime's own advice would have been, from the function whose timeout cuts nothing and so hides nothing.
fn advised(before: &watertight::Snapshot, over: std::time::Duration) -> Option<String> {
    let advice = watertight::advise_since(before, over);
    let site = advice.sites.iter().find(|site| site.identity.name == "cost_10s")?;
    let length = |length| words::latency(Some(length));
    let bands = site
        .bands
        .iter()
        .map(|band| format!("{:.0} % between {} and {}", band.share * 100.0, length(band.from), length(band.to)));
    let bands = bands.collect::<Vec<_>>().join(", ");
    Some(match site.advised {
        Advised::Timeout(it) => format!(
            "`watertight::advise()` after this run, from {} attempts under 10 s: the answers come in bands, {bands}; the \
             smallest timeout that cuts at most one in a thousand is {}. Whether the last band is worth waiting for, it \
             cannot know.",
            site.attempts,
            length(it.length),
        ),
        Advised::Unknown { watched_until, .. } => format!(
            "`watertight::advise()` after this run: more than one in a thousand were still running after {}, and nobody has \
             seen how long they take.",
            length(watched_until),
        ),
        _ => format!("`watertight::advise()` after this run: {} attempts are too few for advice.", site.attempts),
    })
}

/// Of the calls that reached the vendor, those cut off.
fn cut(seen: &Seen) -> Option<f64> {
    percent(seen.fates.timed_out, seen.vendor.requests)
}

fn table(seen: &[Seen]) -> Table {
    let heads = ["timeout", "requests ended", "of them good", "p50", "p99", "good calls cut off", "/db good"];
    let mut table = Table::new("A vendor of mixed speed", &heads);
    for it in seen {
        table.row([
            it.variant.into(),
            it.work.requests.into(),
            it.work.ok.into(),
            Cell::Time(it.work.p50),
            Cell::Time(it.work.p99),
            if it.variant == "none" { Cell::from("none") } else { Cell::Share(cut(it)) },
            Cell::Share(it.db.success()),
        ]);
    }
    table
}

fn plot(seen: &[Seen]) -> Plot {
    let line = |name: &str, of: fn(&Seen) -> Option<f64>| Series {
        name: name.to_owned(),
        points: seen.iter().zip(MILLIS).skip(1).filter_map(|(it, millis)| Some((millis, of(it)?))).collect(),
    };
    let caption = "What is cut off, and how many tenths of a second the slowest hundredth takes".to_owned();
    let tail = |it: &Seen| it.work.p99.map(|took| took.as_secs_f64() * 10.0);
    let series = vec![line("good calls cut off, %", cut), line("p99, tenths of a second", tail)];
    Plot { caption, x: "timeout, ms", y: "", log_x: true, series }
}

fn judge(seen: &[Seen], outcome: &mut Outcome) {
    let [none, short, _, middle, ..] = seen else { return };
    let p99 = |seen: &Seen| seen.work.p99.unwrap_or_default();
    let cut = |seen: &Seen| cut(seen).unwrap_or_default();
    let more = ratio(short.work.requests, none.work.requests).unwrap_or_default();
    let times = |of: &Seen| p99(none).as_secs_f64() / p99(of).as_secs_f64().max(1e-9);
    let tails = format!("{} against {}", words::latency(short.work.p99), words::latency(none.work.p99));
    outcome.claim("250 ms takes most of the tail", times(short) > 3.0, &*tails);
    outcome.claim("And gets much more done", more > 1.3, format!("{more:.1}x"));
    outcome.claim(
        "At the price of about a tenth of the good calls",
        (5.0..16.0).contains(&cut(short)),
        format!("{:.1} %", cut(short)),
    );
    outcome.claim("1 s cuts far fewer", cut(middle) * 2.0 < cut(short), format!("{:.1} %", cut(middle)));
    outcome.claim(
        "And still takes most of the tail",
        times(middle) > 1.8,
        format!("{:.1} times better", times(middle)),
    );

    outcome.beside(
        "p99 with 250 ms, against none",
        "561 ms against 6,473 ms",
        tails,
        format!("{:.1} times shorter; published, 11.5 times.", times(short)),
    );
    outcome.beside(
        "requests with 250 ms, against none",
        "1,214 against 636",
        format!("{} against {}", short.work.requests, none.work.requests),
        format!("{more:.1} times as many; published, 1.9 times in 20 s."),
    );
    outcome.beside(
        "good calls cut at 250 ms",
        "9.5 %",
        format!("{:.1} %", cut(short)),
        format!("{}; of this vendor's answers 10 % take longer, by its set-up.", points(Some(cut(short)), 9.5)),
    );
    outcome.beside(
        "good calls cut at 1 s, and p99 against none",
        "1.3 %, five times better",
        format!("{:.1} %, {:.1} times better", cut(middle), times(middle)),
        format!(
            "{} in what is cut; of this vendor's answers 2 % take longer, by its set-up.",
            points(Some(cut(middle)), 1.3)
        ),
    );
}
