//! # A bulkhead without a timeout
//!
//! The claim: against a vendor that hangs for ever, five slots and no queue are enough to keep everything else alive, with
//! no timeout at all. Five calls are lost in it; all others are refused, and a refusal costs so little that an unpausing
//! crowd is turned away as fast as HTTP can carry it.
//!
//! Measured by the probes, by the vendor's count, and by refusals a second and per processor. The crowd does not pause here,
//! so the processor is busy and the variants are played one after the other.
//!
//! Invariants:
//! * the vendor is never asked by more than there are slots;
//! * the third variant, with a timeout as well, is there to show what the timeout adds: the slots come back.

use std::time::Duration;

use watertight::resilient;

use super::frame::{Bench, Experiment, Variant};
use super::outcome::{Cell, Outcome, Table, compared, points, ratio};
use super::scene::{Crowd, Scene, Seen, play, settings};
use super::service::{Desk, Done};
use crate::report::words;
use crate::vendor::Behaviour;

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "hang",
    question: "Is a bulkhead enough when the vendor hangs for ever, without any timeout?",
    setup: "50 clients on /work who do not pause; the vendor never answers. Bare; a bulkhead of five slots without a queue \
            and without a timeout; the same with a timeout. Processors here are shared by clients, service, pool and vendor.",
    meaning: "Slots bound the damage, whatever hangs and for how long. They do not give it back: without a timeout the five \
              slots are gone until the process ends. Keep slots below the pool's size and set both.",
    run: |bench| Box::pin(run(bench)),
};

#[resilient(bulkhead = "hang:5")]
async fn hang_slots(desk: &Desk) -> Done {
    desk.work().await
}

#[resilient(timeout = "1s", bulkhead = "hang-limited:5")]
async fn hang_limited(desk: &Desk) -> Done {
    desk.work().await
}

const SOURCE: &str = include_str!("hang.rs");
const VARIANTS: [Variant; 3] = [
    Variant::bare("bare", |desk| Box::pin(desk.work())),
    Variant::guarded("bulkhead 5", SOURCE, "hang_slots", |desk| Box::pin(hang_slots(desk))),
    Variant::guarded("bulkhead 5, timeout 1 s", SOURCE, "hang_limited", |desk| Box::pin(hang_limited(desk))),
];

async fn run(bench: &Bench) -> anyhow::Result<Outcome> {
    let length = bench.seconds(12.0, 2.0);
    let mut scene = Scene::closed(Behaviour::Hang, 50, length);
    if let Crowd::Closed(crowd) = &mut scene.crowd {
        crowd.pause = Duration::ZERO;
    }
    let mut outcome = Outcome { lines: VARIANTS.iter().map(Variant::line).collect(), ..Outcome::default() };
    settings(bench, &scene, &mut outcome);
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    outcome.set("processors", cores);
    let mut seen = Vec::new();
    for variant in &VARIANTS {
        if !bench.stop.is_stopped() {
            seen.push(play(bench, variant.name, &scene, variant).await?);
        }
    }
    outcome.tables.push(table(&seen, length, cores));
    judge(&seen, length, cores, &mut outcome);
    Ok(outcome)
}

fn per_second(seen: &Seen, length: Duration) -> u64 {
    seen.fates.refusals() / length.as_secs().max(1)
}

fn table(seen: &[Seen], length: Duration, cores: u64) -> Table {
    let heads =
        ["", "/db good", "of", "/healthy good", "of", "vendor saw", "refused", "a second", "a second and processor"];
    let mut table = Table::new("A vendor that never answers", &heads);
    for seen in seen {
        let rate = per_second(seen, length);
        table.row([
            seen.variant.into(),
            Cell::Share(seen.db.success()),
            seen.db.requests.into(),
            Cell::Share(seen.healthy.success()),
            seen.healthy.requests.into(),
            seen.vendor.requests.into(),
            seen.fates.refusals().into(),
            rate.into(),
            (rate / cores).into(),
        ]);
    }
    table
}

fn judge(seen: &[Seen], length: Duration, cores: u64, outcome: &mut Outcome) {
    let [bare, slots, limited] = seen else { return };
    let all = |seen: &Seen| seen.db.success() >= Some(100.0) && seen.healthy.success() >= Some(100.0);
    let of = |seen: &Seen| format!("{} of {}", seen.db.ok, seen.db.requests);
    outcome.claim("Bare, /db starves", bare.db.success() < Some(50.0), of(bare));
    outcome.claim("With a bulkhead alone /db and /healthy stand", all(slots), of(slots));
    outcome.claim("The vendor sees five requests, ever", slots.vendor.requests == 5, slots.vendor.requests.to_string());
    outcome.claim(
        "With a timeout as well they stand, too, and the slots come back",
        all(limited) && limited.vendor.requests > 5,
        of(limited),
    );
    let refused = ratio(slots.fates.refusals(), slots.fates.calls.max(1)).unwrap_or_default();
    outcome.claim("All other calls are refused", refused > 0.9, format!("{:.1} %", refused * 100.0));

    outcome.beside(
        "/db with a bulkhead of 5 and nothing else",
        "99 of 99",
        of(slots),
        format!("{}; a probe every 200 ms for {} s.", points(slots.db.success(), 100.0), length.as_secs()),
    );
    outcome.beside(
        "requests the vendor saw",
        "5",
        slots.vendor.requests.to_string(),
        match slots.vendor.requests {
            5 => "The same.".to_owned(),
            other => format!("{other}, where there are five slots."),
        },
    );
    let ours = per_second(slots, length);
    outcome.beside(
        "refusals",
        "1.2 million in 30 s, 40,000 a second, on 8 cores",
        format!("{} a second", words::count(ours)),
        format!(
            "{}, on {cores} processors, which clients, service and vendor share. Each is a whole request over HTTP; a refusal \
             alone is in docs/performance.md.",
            compared(ours as f64, 40_000.0)
        ),
    );
}
