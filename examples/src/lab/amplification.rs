//! # What retries do to a vendor that is slow
//!
//! The claim: retrying what timed out multiplies the load of exactly the vendor that cannot carry it, and a call that was cut
//! off costs a connection each time. Our defaults do neither: a timeout is not retried unless the function says that running
//! twice does no harm, and even then a budget bounds the retries of all calls together.
//!
//! Measured at the vendor: requests, connections, peak concurrency, under calls that arrive at a rate whatever happens. The
//! vendor's answer takes three times the timeout, so nothing is served in any variant; what differs is what it is made to
//! carry.
//!
//! Invariants:
//! * the same calls arrive in each variant; only attributes differ.

use std::time::Duration;

use watertight::resilient;

use super::frame::{Bench, Experiment, Variant};
use super::outcome::{Cell, Outcome, Table, compared, ratio};
use super::scene::{Scene, Seen, settings, side_by_side};
use super::service::{Desk, Done};
use crate::vendor::Behaviour;

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "amplification",
    question: "How much more does a slow vendor have to carry because its callers retry?",
    setup: "30 calls a second in an open loop; the vendor answers after 3 s, the timeout is 1 s; one, two and three attempts \
            without a budget, then three with the defaults, then with the defaults for a function that says `idempotent`.",
    meaning: "The factor is your number of attempts, at every hop: three hops with three attempts each are 27 times. A budget \
              turns the factor into a percentage.",
    run: |bench| Box::pin(run(bench)),
};

#[resilient(timeout = "1s")]
async fn amplification_one(desk: &Desk) -> Done {
    desk.ask().await
}

#[resilient(timeout = "1s", idempotent, retry(1, on = [error, timeout], backoff(constant, first = "10ms"), budget = off))]
async fn amplification_two(desk: &Desk) -> Done {
    desk.ask().await
}

#[resilient(timeout = "1s", idempotent, retry(2, on = [error, timeout], backoff(constant, first = "10ms"), budget = off))]
async fn amplification_three(desk: &Desk) -> Done {
    desk.ask().await
}

#[resilient(timeout = "1s", retry = 2)]
async fn amplification_defaults(desk: &Desk) -> Done {
    desk.ask().await
}

#[resilient(timeout = "1s", retry = 2, idempotent)]
async fn amplification_budget(desk: &Desk) -> Done {
    desk.ask().await
}

const SOURCE: &str = include_str!("amplification.rs");
const VARIANTS: [Variant; 5] = [
    Variant::guarded("1 attempt", SOURCE, "amplification_one", |desk| Box::pin(amplification_one(desk))),
    Variant::guarded("2 attempts, no budget", SOURCE, "amplification_two", |desk| Box::pin(amplification_two(desk))),
    Variant::guarded("3 attempts, no budget", SOURCE, "amplification_three", |desk| {
        Box::pin(amplification_three(desk))
    }),
    Variant::guarded("3, defaults", SOURCE, "amplification_defaults", |desk| Box::pin(amplification_defaults(desk))),
    Variant::guarded("3, defaults, idempotent", SOURCE, "amplification_budget", |desk| {
        Box::pin(amplification_budget(desk))
    }),
];

async fn run(bench: &Bench) -> anyhow::Result<Outcome> {
    let scene = Scene::open(Behaviour::After(Duration::from_secs(3)), 30, bench.seconds(10.0, 4.0));
    let mut outcome = Outcome { lines: VARIANTS.iter().map(Variant::line).collect(), ..Outcome::default() };
    settings(bench, &scene, &mut outcome);
    let seen = side_by_side(bench, "vendor 3 s", &VARIANTS.map(|variant| (scene.clone(), variant))).await?;
    let heads =
        ["", "calls", "vendor saw", "against 1 attempt", "connections", "against", "peak at the vendor", "against"];
    let mut table = Table::new("A vendor of 3 s behind a timeout of 1 s", &heads);
    for it in &seen {
        let against = |of: fn(&Seen) -> u64| Cell::Ratio(ratio(of(it), of(&seen[0])));
        table.row([
            it.variant.into(),
            it.work.requests.into(),
            it.vendor.requests.into(),
            against(|it| it.vendor.requests),
            it.vendor.connections.into(),
            against(|it| it.vendor.connections),
            it.vendor.peak.into(),
            against(|it| it.vendor.peak),
        ]);
    }
    outcome.tables.push(table);
    judge(&seen, &mut outcome);
    Ok(outcome)
}

fn judge(seen: &[Seen], outcome: &mut Outcome) {
    let [one, _, three, defaults, budget] = seen else { return };
    let against = |it: &Seen, of: fn(&Seen) -> u64| ratio(of(it), of(one)).unwrap_or_default();
    let requests = |it: &Seen| against(it, |it| it.vendor.requests);
    outcome.claim(
        "Three attempts without a budget ask more than twice as often",
        requests(three) > 2.0,
        format!("{:.1}x", requests(three)),
    );
    let peak = against(three, |it| it.vendor.peak);
    outcome.claim("And hold more of the vendor at once", peak > 1.5, format!("{peak:.1}x"));
    outcome.claim(
        "With the defaults the vendor sees at most 1.1x",
        requests(defaults) <= 1.1,
        format!("{:.2}x", requests(defaults)),
    );
    outcome.claim(
        "Where retrying is harmless, the budget keeps it well below the number of attempts",
        requests(budget) < 1.0 + (requests(three) - 1.0) * 0.6,
        format!("{:.2}x", requests(budget)),
    );
    outcome.beside(
        "requests, 3 attempts against 1",
        "2.7x",
        format!("{:.1}x", requests(three)),
        format!("{}; three attempts can make it three at most.", compared(requests(three), 2.7)),
    );
    let connections = against(three, |it| it.vendor.connections);
    let each = |it: &Seen| ratio(it.vendor.connections, it.vendor.requests).unwrap_or_default();
    outcome.beside(
        "connections",
        "4.4x",
        format!("{connections:.1}x"),
        format!(
            "{}. Connections for each request: {:.2} with one attempt and {:.2} with three.",
            compared(connections, 4.4),
            each(one),
            each(three)
        ),
    );
    outcome.beside(
        "peak concurrency at the vendor",
        "2.9x",
        format!("{peak:.1}x"),
        format!("{}.", compared(peak, 2.9)),
    );
    outcome.beside(
        "served",
        "22 % fewer",
        format!("{} with one attempt, {} with three", one.work.ok, three.work.ok),
        "This vendor answers after exactly 3 s, beyond the limit of 1 s, so that only what it carries can be compared.",
    );
}
