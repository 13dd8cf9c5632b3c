//! # One loud tenant and nine quiet ones
//!
//! The claim: in a compartment that all tenants share, one who floods it takes it from the others: they ask rarely, so they
//! always find it full. With a compartment for each key the loud one is refused by its own, and the others do not notice.
//!
//! Measured on the quiet ones alone: their success and their slowest hundredth, beside the loud one, and without it.
//!
//! Invariants:
//! * the two attributes have the same figures but for the key;
//! * the quiet ones ask in the same beat in all three runs.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;
use futures::future::join_all;
use watertight::resilient;

use super::frame::{Bench, Experiment, attribute};
use super::outcome::{Cell, Outcome, Table};
use super::pool::Pool;
use super::service::{Desk, Done};
use crate::load::Load;
use crate::probe::Probe;
use crate::report::words;
use crate::server::Server;
use crate::tally::{Figures, Tally};
use crate::vendor::{Behaviour, Vendor};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "tenants",
    question: "What does one flooding tenant do to nine quiet ones?",
    setup: "Ten tenants call one function, whose body waits 50 ms for a vendor. One tenant has 64 clients in a closed loop; \
            the other nine ask twice a second each. One compartment of 8 slots and 16 places for all, or with a key, which \
            gives each tenant one of 4 slots and 8 places.",
    meaning: "Size the compartment for one tenant's honest peak, not for all of them; bound the sum with `/total:N` if the \
              resource behind is smaller. Look at the loudest key before you enlarge anything.",
    run: |bench| Box::pin(run(bench)),
};

#[resilient(bulkhead = "tenants-shared:8/queue:16/wait:1s")]
async fn tenants_shared(desk: &Desk, _tenant: u64) -> Done {
    desk.ask().await
}

#[resilient(bulkhead = "tenants-keyed:4/queue:8/wait:1s/total:32", key = tenant)]
async fn tenants_keyed(desk: &Desk, tenant: u64) -> Done {
    desk.ask().await
}

const SOURCE: &str = include_str!("tenants.rs");
const QUIET: u64 = 9;

#[derive(Clone, Copy)]
struct Setting {
    name: &'static str,
    keyed: bool,
    loud: bool,
}

const SETTINGS: [Setting; 3] = [
    Setting { name: "keyed, without the loud one", keyed: true, loud: false },
    Setting { name: "shared", keyed: false, loud: true },
    Setting { name: "keyed", keyed: true, loud: true },
];

async fn run(bench: &Bench) -> anyhow::Result<Outcome> {
    let length = bench.seconds(10.0, 3.0);
    let lines = [("shared", "tenants_shared"), ("keyed", "tenants_keyed")];
    let mut outcome = Outcome {
        lines: lines.map(|(name, site)| (name.to_owned(), attribute(SOURCE, site))).into(),
        ..Outcome::default()
    };
    outcome.set("seconds", length.as_secs_f64());
    outcome.set("loud_clients", 64);
    outcome.set("loud_pause_ms", 100);
    outcome.set("quiet_tenants", QUIET);
    outcome.set("quiet_requests_a_second_each", 2);
    outcome.set("vendor_ms", 50);
    let mut seen = Vec::new();
    for setting in SETTINGS {
        if !bench.stop.is_stopped() {
            seen.push(play(bench, setting, length).await?);
        }
    }
    let mut table = Table::new("Ten tenants", &["", "quiet: good", "of", "p50", "p99", "loud: good", "of"]);
    for (setting, (quiet, loud)) in SETTINGS.iter().zip(&seen) {
        table.row([
            setting.name.into(),
            Cell::Share(quiet.success()),
            quiet.requests.into(),
            Cell::Time(quiet.p50),
            Cell::Time(quiet.p99),
            Cell::Share(loud.success()),
            loud.requests.into(),
        ]);
    }
    outcome.tables.push(table);
    judge(bench, &seen, &mut outcome);
    Ok(outcome)
}

async fn play(bench: &Bench, setting: Setting, length: Duration) -> anyhow::Result<(Figures, Figures)> {
    let vendor = Vendor::start(Behaviour::After(Duration::from_millis(50))).await?;
    let desk = Desk::new(Pool::open(bench.postgres.as_deref()).await?, vendor.url());
    let route = if setting.keyed { get(keyed) } else { get(shared) };
    let server = Server::start(Router::new().route("/work/{tenant}", route).with_state(Arc::clone(&desk))).await?;
    let (quiet, loud) = (Arc::new(Tally::default()), Arc::new(Tally::default()));
    let patience = Duration::from_secs(5);
    let probe = Probe { every: Duration::from_millis(500), limit: patience, length };
    let crowd = Load { clients: 64, length, pause: Duration::from_millis(100), patience, grace: patience };
    let url = |tenant: u64| format!("{}/work/{tenant}", server.url());
    let run = async {
        let probes = join_all((1..=QUIET).map(|tenant| probe.run(url(tenant), &quiet, &bench.stop)));
        let flood = async {
            if setting.loud {
                crowd.run(|_, _| url(0), &loud, &bench.stop).await;
            }
        };
        tokio::join!(probes, flood)
    };
    let now = || format!("quiet {}", words::share(quiet.figures().success()));
    tokio::select! {
        _ = run => {}
        () = bench.live.follow(setting.name, length, now) => {}
    }
    server.stop().await;
    vendor.stop().await;
    desk.pool().close().await;
    Ok((quiet.figures(), loud.figures()))
}

async fn shared(State(desk): State<Arc<Desk>>, Path(tenant): Path<u64>) -> Done {
    tenants_shared(&desk, tenant).await
}

async fn keyed(State(desk): State<Arc<Desk>>, Path(tenant): Path<u64>) -> Done {
    tenants_keyed(&desk, tenant).await
}

fn judge(bench: &Bench, seen: &[(Figures, Figures)], outcome: &mut Outcome) {
    let [(alone, _), (shared, _), (keyed, loud)] = seen else { return };
    // A hundredth of few requests is one request, so a quick run on a busy machine is judged mildly.
    let most = bench.pick(1.5, 5.0);
    let shown = |quiet: &Figures| words::share(quiet.success());
    let slower = match (keyed.p99, alone.p99) {
        (Some(with), Some(without)) => with.as_secs_f64() / without.as_secs_f64().max(1e-9),
        _ => f64::INFINITY,
    };
    outcome.claim("Shared, the quiet ones starve", shared.success() < Some(80.0), shown(shared));
    outcome.claim("Keyed, they are all served", keyed.success() >= Some(100.0), shown(keyed));
    outcome.claim(
        format!("With a slowest hundredth within {most} times the one they have alone"),
        slower <= most,
        format!("{slower:.2} times"),
    );
    outcome.milder(bench.quick, "1.5 times");
    outcome.claim("And the loud one is refused by its own compartment", loud.success() < Some(100.0), shown(loud));
    outcome.beside(
        "quiet tenants on a shared pool",
        "they starve",
        format!("{} served", shown(shared)),
        format!("{} of their {} calls were not served.", shared.requests - shared.ok, shared.requests),
    );
}
