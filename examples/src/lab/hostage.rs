//! # Who pays for a retry that holds a connection
//!
//! The claim: where the connection is taken first and the vendor call inside is retried, the vendor hardly notices, since the
//! pool throttles its callers; the pool pays. Each connection is held for all attempts together, and what needs only the
//! database starves.
//!
//! Measured by how long a piece of work holds its connection and by the probes of `/db`. In the guarded variant the attribute
//! stands above the whole work, so each attempt takes a connection of its own, after its slot, and gives it back before the
//! pause.
//!
//! Invariants:
//! * the crowd is a closed loop: vendor requests are bounded by the pool in every variant.

use std::time::Duration;

use watertight::resilient;

use super::frame::{Bench, Experiment, Variant};
use super::outcome::{Cell, Outcome, Table, compared, ratio};
use super::scene::{Scene, Seen, settings, side_by_side};
use super::service::{Desk, Done};
use crate::report::words;
use crate::vendor::Behaviour;

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "hostage",
    question: "Who pays when a call is retried while a pooled connection is held?",
    setup: "25 clients on /work, a vendor that answers after 3 s, a timeout of 1 s, a pool of 10. The vendor call is tried \
            once or three times inside of a connection; guarded, the attribute stands above the whole work.",
    meaning: "Holding time multiplies by the attempts, and with it the connections you need. Nothing that pauses or repeats \
              belongs between taking a connection and giving it back.",
    run: |bench| Box::pin(run(bench)),
};

#[resilient(timeout = "1s")]
async fn hostage_one(desk: &Desk) -> Done {
    desk.ask().await
}

#[resilient(timeout = "1s", idempotent, retry(2, on = [error, timeout], backoff(constant, first = "10ms"), budget = off))]
async fn hostage_three(desk: &Desk) -> Done {
    desk.ask().await
}

#[resilient(timeout = "1s", bulkhead = "hostage:8/queue:16", retry = 2)]
async fn hostage(desk: &Desk) -> Done {
    desk.work().await
}

async fn once_inside(desk: &Desk) -> Done {
    let _holding = desk.hold().await?;
    hostage_one(desk).await
}

async fn thrice_inside(desk: &Desk) -> Done {
    let _holding = desk.hold().await?;
    hostage_three(desk).await
}

const SOURCE: &str = include_str!("hostage.rs");
const VARIANTS: [Variant; 3] = [
    Variant::guarded("1 attempt inside", SOURCE, "hostage_one", |desk| Box::pin(once_inside(desk))),
    Variant::guarded("3 attempts inside", SOURCE, "hostage_three", |desk| Box::pin(thrice_inside(desk))),
    Variant::guarded("guarded, around it", SOURCE, "hostage", |desk| Box::pin(hostage(desk))),
];

async fn run(bench: &Bench) -> anyhow::Result<Outcome> {
    let scene = Scene::closed(Behaviour::After(Duration::from_secs(3)), 25, bench.seconds(12.0, 5.0));
    let mut outcome = Outcome { lines: VARIANTS.iter().map(Variant::line).collect(), ..Outcome::default() };
    settings(bench, &scene, &mut outcome);
    let seen = side_by_side(bench, "vendor 3 s", &VARIANTS.map(|variant| (scene.clone(), variant))).await?;
    let mut table = Table::new(
        "Retries inside of a connection, and around it",
        &["", "/db good", "of", "connection held, p50", "vendor saw"],
    );
    for it in &seen {
        table.row([
            it.variant.into(),
            Cell::Share(it.db.success()),
            it.db.requests.into(),
            Cell::Time(it.holding.p50),
            it.vendor.requests.into(),
        ]);
    }
    outcome.tables.push(table);
    judge(&seen, &mut outcome);
    Ok(outcome)
}

fn judge(seen: &[Seen], outcome: &mut Outcome) {
    let [one, three, guarded] = seen else { return };
    let share = |seen: &Seen| seen.db.success().unwrap_or_default();
    let held = |seen: &Seen| seen.holding.p50.unwrap_or_default();
    let shares = format!("{} to {}", words::share(one.db.success()), words::share(three.db.success()));
    let holds = format!("{} to {}", words::latency(one.holding.p50), words::latency(three.holding.p50));
    let requests = ratio(three.vendor.requests, one.vendor.requests).unwrap_or_default();
    outcome.claim("Three attempts hold a connection more than twice as long", held(three) > held(one) * 2, &*holds);
    outcome.claim("The vendor sees about as many requests", (0.7..1.4).contains(&requests), format!("{requests:.2}x"));
    outcome.claim("And /db pays for it", share(three) < share(one) - 15.0, &*shares);
    outcome.claim("Guarded, /db stands", share(guarded) >= 100.0, words::share(guarded.db.success()));
    outcome.beside(
        "vendor requests",
        "equal",
        format!("{} to {}", one.vendor.requests, three.vendor.requests),
        format!("{requests:.2} times as many; in both, ten connections can ask once a second."),
    );
    let longer = held(three).as_secs_f64() / held(one).as_secs_f64().max(1e-9);
    outcome.beside("connection held", "1 s to 3 s", holds, format!("{}, as a factor.", compared(longer, 3.0)));
    outcome.beside(
        "/db",
        "85.7 % to 28.6 %",
        shares,
        format!("{:.1} points lost; published, 57.1.", share(one) - share(three)),
    );
}
