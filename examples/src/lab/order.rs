//! # Slot first, or connection first?
//!
//! The claim: a bulkhead around the vendor call alone, with the connection taken before it, protects nothing. Whoever waits
//! for a slot waits with a connection in hand; the pool is as dry as without a bulkhead, and the vendor is even bored.
//!
//! Measured with one and the same bulkhead, above the whole work and above the vendor call inside of it. Both queue, since
//! it is in the queue that connections are held.
//!
//! Invariants:
//! * the two guarded variants have the same attribute, word for word, but for the compartment's name.

use std::time::Duration;

use watertight::resilient;

use super::frame::{Bench, Experiment, Variant};
use super::outcome::{Cell, Outcome, Table, points};
use super::scene::{Scene, Seen, settings, side_by_side};
use super::service::{Desk, Done};
use crate::report::words;
use crate::vendor::Behaviour;

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "order",
    question: "Does it matter whether the slot or the pooled connection is taken first?",
    setup: "50 clients on /work, a vendor that answers after 5 s, a pool of 10. The same bulkhead of five slots with a queue \
            stands above the whole work, or inside of it after the connection is taken.",
    meaning: "Put the attribute on the function that takes the connection, or on one around it. If you cannot, the bulkhead \
              must not queue, and its slots count as connections gone.",
    run: |bench| Box::pin(run(bench)),
};

#[resilient(bulkhead = "order-before:5/queue:50/wait:10s")]
async fn order_before(desk: &Desk) -> Done {
    desk.work().await
}

async fn connection_first(desk: &Desk) -> Done {
    let _holding = desk.hold().await?;
    order_after(desk).await
}

#[resilient(bulkhead = "order-after:5/queue:50/wait:10s")]
async fn order_after(desk: &Desk) -> Done {
    desk.ask().await
}

const SOURCE: &str = include_str!("order.rs");
const VARIANTS: [Variant; 3] = [
    Variant::bare("no bulkhead", |desk| Box::pin(desk.work())),
    Variant::guarded("slot first", SOURCE, "order_before", |desk| Box::pin(order_before(desk))),
    Variant::guarded("connection first", SOURCE, "order_after", |desk| Box::pin(connection_first(desk))),
];

async fn run(bench: &Bench) -> anyhow::Result<Outcome> {
    let scene = Scene::closed(Behaviour::After(Duration::from_secs(5)), 50, bench.seconds(12.0, 4.5));
    let mut outcome = Outcome { lines: VARIANTS.iter().map(Variant::line).collect(), ..Outcome::default() };
    settings(bench, &scene, &mut outcome);
    let seen = side_by_side(bench, "vendor 5 s", &VARIANTS.map(|variant| (scene.clone(), variant))).await?;
    let mut table =
        Table::new("The same bulkhead in two places", &["", "/db good", "of", "vendor saw", "connection held, p50"]);
    for it in &seen {
        table.row([
            it.variant.into(),
            Cell::Share(it.db.success()),
            it.db.requests.into(),
            it.vendor.requests.into(),
            Cell::Time(it.holding.p50),
        ]);
    }
    outcome.tables.push(table);
    judge(&seen, &mut outcome);
    Ok(outcome)
}

fn judge(seen: &[Seen], outcome: &mut Outcome) {
    let [none, before, after] = seen else { return };
    let share = |seen: &Seen| seen.db.success().unwrap_or_default();
    let shown = |seen: &Seen| words::share(seen.db.success());
    outcome.claim("Without a bulkhead /db starves", share(none) < 50.0, shown(none));
    outcome.claim("Slot first, /db stands", share(before) >= 100.0, shown(before));
    outcome.claim("Connection first, /db starves", share(after) < 50.0, shown(after));
    outcome.claim(
        "No better than without a bulkhead",
        share(after) <= share(none) + 15.0,
        format!("{} against {}", shown(after), shown(none)),
    );
    outcome.beside(
        "/db, connection first",
        "1 of 9, as bad as none",
        format!("{} of {}", after.db.ok, after.db.requests),
        format!(
            "{} as a share; without a bulkhead it was {} of {} here.",
            points(after.db.success(), 100.0 / 9.0),
            none.db.ok,
            none.db.requests
        ),
    );
}
