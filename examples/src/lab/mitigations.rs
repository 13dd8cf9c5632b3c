//! # Timeout or bulkhead?
//!
//! The claim: a short timeout saves `/db` at the vendor's expense. Each call that is cut off makes room for another one that
//! will be cut off, so a vendor that is already slow is asked twenty times as often. A long timeout saves nothing. A bulkhead
//! saves `/db` and asks less than before. The two together are what one wants, since each covers the other's weak side: slots
//! come back, and there are few of them.
//!
//! A timeout alone stands above the vendor call, as people write it; a slot has to be taken before the connection, so what has
//! a bulkhead stands above the whole work.
//!
//! Measured by the probes of `/db` and by the vendor's own count, all variants at the same time on stages of their own.
//!
//! Invariants:
//! * the body is the same in all variants: a connection, a query, the vendor.

use std::time::Duration;

use watertight::resilient;

use super::frame::{Bench, Experiment, Variant};
use super::outcome::{Cell, Outcome, Table, compared, points, ratio};
use super::scene::{Crowd, Scene, Seen, settings, side_by_side};
use super::service::{Desk, Done};
use crate::report::words;
use crate::vendor::Behaviour;

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "mitigations",
    question: "Which saves the other route, a timeout or a bulkhead, and what does the vendor pay?",
    setup: "50 clients on /work, a vendor that answers after 5 s, a pool of 10. No limit; a timeout of 250 ms, 1 s, 3 s on \
            the vendor call; a bulkhead of 5 above the whole work; both; and all an attribute has to say.",
    meaning: "A timeout alone helps only where clients x timeout / connections stays below the pool's acquire limit, and it \
              multiplies the vendor's load by its slowness over your timeout. Slots bound both.",
    run: |bench| Box::pin(run(bench)),
};

#[resilient(timeout = "250ms")]
async fn mitigations_250ms(desk: &Desk) -> Done {
    desk.ask().await
}

#[resilient(timeout = "1s")]
async fn mitigations_1s(desk: &Desk) -> Done {
    desk.ask().await
}

#[resilient(timeout = "3s")]
async fn mitigations_3s(desk: &Desk) -> Done {
    desk.ask().await
}

#[resilient(bulkhead = "mitigations-slots:5")]
async fn mitigations_slots(desk: &Desk) -> Done {
    desk.work().await
}

#[resilient(timeout = "250ms", bulkhead = "mitigations-both:5")]
async fn mitigations_both(desk: &Desk) -> Done {
    desk.work().await
}

#[resilient(timeout = "300ms", bulkhead = "mitigations-full:8/queue:16", breaker, retry = 2, fallback = empty)]
async fn mitigations_full(desk: &Desk) -> Done {
    desk.work().await
}

fn empty() {}

const SOURCE: &str = include_str!("mitigations.rs");
const VARIANTS: [Variant; 7] = [
    Variant::bare("none", |desk| Box::pin(desk.work())),
    Variant::guarded("timeout 250 ms", SOURCE, "mitigations_250ms", |desk| {
        Box::pin(async move {
            let _holding = desk.hold().await?;
            mitigations_250ms(desk).await
        })
    }),
    Variant::guarded("timeout 1 s", SOURCE, "mitigations_1s", |desk| {
        Box::pin(async move {
            let _holding = desk.hold().await?;
            mitigations_1s(desk).await
        })
    }),
    Variant::guarded("timeout 3 s", SOURCE, "mitigations_3s", |desk| {
        Box::pin(async move {
            let _holding = desk.hold().await?;
            mitigations_3s(desk).await
        })
    }),
    Variant::guarded("bulkhead 5", SOURCE, "mitigations_slots", |desk| Box::pin(mitigations_slots(desk))),
    Variant::guarded("both", SOURCE, "mitigations_both", |desk| Box::pin(mitigations_both(desk))),
    Variant::guarded("all of it", SOURCE, "mitigations_full", |desk| Box::pin(mitigations_full(desk))),
];

async fn run(bench: &Bench) -> anyhow::Result<Outcome> {
    let mut scene = Scene::closed(Behaviour::After(Duration::from_secs(5)), 50, bench.seconds(20.0, 5.0));
    if let Crowd::Closed(crowd) = &mut scene.crowd {
        // Seven crowds at once: who is refused comes back four times a second, which leaves the processor idle.
        crowd.pause = Duration::from_millis(250);
    }
    let mut outcome = Outcome { lines: VARIANTS.iter().map(Variant::line).collect(), ..Outcome::default() };
    settings(bench, &scene, &mut outcome);
    let seen = side_by_side(bench, "vendor 5 s", &VARIANTS.map(|variant| (scene.clone(), variant))).await?;
    outcome.tables.push(table(&seen));
    judge(&seen, &mut outcome);
    Ok(outcome)
}

fn table(seen: &[Seen]) -> Table {
    let heads = ["", "/db good", "/work good", "/work p50", "vendor saw", "against none"];
    let mut table = Table::new("A vendor of 5 s and a crowd of 50", &heads);
    for it in seen {
        table.row([
            it.variant.into(),
            Cell::Share(it.db.success()),
            Cell::Share(it.work.success()),
            Cell::Time(it.work.p50),
            it.vendor.requests.into(),
            Cell::Ratio(ratio(it.vendor.requests, seen[0].vendor.requests)),
        ]);
    }
    table
}

fn judge(seen: &[Seen], outcome: &mut Outcome) {
    let [none, short, middle, long, slots, both, full] = seen else { return };
    let share = |seen: &Seen| seen.db.success().unwrap_or_default();
    let shown = |seen: &Seen| format!("/db {}, vendor {}", words::share(seen.db.success()), seen.vendor.requests);
    let more = ratio(short.vendor.requests, none.vendor.requests).unwrap_or_default();
    outcome.claim("Without a limit /db starves", share(none) < 50.0, shown(none));
    outcome.claim("A timeout of 250 ms keeps /db alive", share(short) >= 99.0, shown(short));
    outcome.claim("At the price of several times as many requests to the vendor", more > 3.0, format!("{more:.1}x"));
    outcome.claim("A timeout of 3 s does not save /db", share(long) < 80.0, shown(long));
    outcome.claim(
        "A longer timeout is worse for /db",
        share(short) > share(middle) && share(short) > share(long),
        shown(middle),
    );
    outcome.claim("A bulkhead alone keeps /db alive", share(slots) >= 100.0, shown(slots));
    outcome.claim(
        "And asks the vendor less than no limit does",
        slots.vendor.requests <= none.vendor.requests,
        shown(slots),
    );
    outcome.claim("Both together keep /db alive", share(both) >= 100.0, shown(both));
    outcome.claim(
        "With all of it /db and /work stand",
        share(full) >= 100.0 && full.work.success() >= Some(100.0),
        shown(full),
    );
    let breaker = full.vendor.requests < both.vendor.requests;
    outcome.claim("And its breaker asks the vendor less than timeout and bulkhead do", breaker, shown(full));

    outcome.beside(
        "/db with a timeout of 250 ms",
        "100 %",
        words::share(short.db.success()),
        format!("{}.", points(short.db.success(), 100.0)),
    );
    outcome.beside(
        "vendor requests, 250 ms against none",
        "790 against 40 (19.8x)",
        format!("{} against {} ({more:.1}x)", short.vendor.requests, none.vendor.requests),
        format!("{}; the vendor's time over the timeout is 20.", compared(more, 19.8)),
    );
}
