//! # What becomes of the connection
//!
//! The claim: a call that is cut off costs its connection. HTTP/1.1 has no other way to say "never mind", so the client closes,
//! the server learns of it, and the next call opens a new one. That is churn; it is also how the server gets its side back.
//! What is worse is a caller who stops waiting and lets the call go on: nobody closes anything.
//!
//! Measured at the vendor, which counts connections opened and closed. Fifty calls hang and are given up after 1.5 s, in three
//! ways. Then the vendor answers again, and fifty more calls are made, twice.
//!
//! Invariants:
//! * each way has a client and a vendor of its own.

use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use tokio::time::timeout;
use watertight::resilient;

use super::frame::{Bench, Experiment, attribute};
use super::outcome::{Cell, Outcome, Table};
use crate::get::client;
use crate::shop::AppError;
use crate::vendor::{Behaviour, Vendor};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "sockets",
    question: "Does giving up close the connection, and what does the next call pay?",
    setup: "50 calls to a vendor that hangs, each given up after 1.5 s: by the client's own limit, by the attribute, or by \
            waiting no longer for a task that runs on. Then the vendor answers at once and 50 calls are made, twice.",
    meaning: "Dropping the future closes the connection, so the other side can stop. It also means one new connection (and TLS \
              handshake) for each call cut off: another reason not to cut what is only a little slow. Never give up on a task \
              without ending it.",
    run: |bench| Box::pin(run(bench)),
};

const CALLS: usize = 50;
const LIMIT: Duration = Duration::from_millis(1_500);

type Given = Result<(), AppError>;
type Way = fn(reqwest::Client, String) -> BoxFuture<'static, Given>;

async fn ask(client: reqwest::Client, url: String) -> Given {
    client.get(url).send().await?.error_for_status()?.bytes().await?;
    Ok(())
}

async fn by_client(client: reqwest::Client, url: String) -> Given {
    client.get(url).timeout(LIMIT).send().await?.error_for_status()?.bytes().await?;
    Ok(())
}

#[resilient(timeout = "1500ms")]
async fn sockets(client: reqwest::Client, url: String) -> Given {
    ask(client, url).await
}

async fn by_leaving(client: reqwest::Client, url: String) -> Given {
    let _ = timeout(LIMIT, tokio::spawn(ask(client, url))).await;
    Ok(())
}

const WAYS: [(&str, Way); 3] = [
    ("the client's own limit", |client, url| Box::pin(by_client(client, url))),
    ("guarded", |client, url| Box::pin(sockets(client, url))),
    ("a task left to itself", |client, url| Box::pin(by_leaving(client, url))),
];

/// What the vendor counted.
struct Counted {
    opened: u64,
    closed: u64,
    aborted: u64,
    replaced: u64,
    reused: u64,
    open_at_last: u64,
}

async fn run(bench: &Bench) -> anyhow::Result<Outcome> {
    let idle = bench.seconds(6.0, 1.0);
    let mut outcome = Outcome {
        lines: vec![("guarded".to_owned(), attribute(include_str!("sockets.rs"), "sockets"))],
        ..Outcome::default()
    };
    outcome.set("calls", CALLS);
    outcome.set("given_up_after_ms", 1_500);
    outcome.set("idle_seconds", idle.as_secs_f64());
    let all = join_all(WAYS.map(|(_, way)| play(bench, way, idle)));
    let counted = tokio::select! {
        counted = all => counted.into_iter().collect::<anyhow::Result<Vec<_>>>()?,
        () = bench.live.follow("50 calls hang", LIMIT * 2 + idle, String::new) => return Ok(outcome),
    };
    let heads = [
        "given up by",
        "opened",
        "closed half a second later",
        "of them with a request under way",
        "opened for the next 50",
        "for the 50 after",
        "still open when idle",
    ];
    let mut table = Table::new("Connections, as the vendor counts them", &heads);
    for ((name, _), it) in WAYS.iter().zip(&counted) {
        let counts = [it.opened, it.closed, it.aborted, it.replaced, it.reused, it.open_at_last];
        table.row([vec![Cell::from(*name)], counts.map(Cell::from).into()].concat());
    }
    outcome.tables.push(table);
    judge(&counted, idle, &mut outcome);
    Ok(outcome)
}

async fn play(bench: &Bench, way: Way, idle: Duration) -> anyhow::Result<Counted> {
    let vendor = Vendor::start(Behaviour::Hang).await?;
    let http = client();
    let fifty = || join_all((0..CALLS).map(|_| way(http.clone(), vendor.url())));
    fifty().await;
    bench.pause(Duration::from_millis(500)).await;
    let hung = vendor.figures();
    vendor.behave(Behaviour::After(Duration::from_millis(50)));
    fifty().await;
    let replaced = vendor.figures().connections;
    bench.pause(Duration::from_millis(100)).await;
    fifty().await;
    let reused = vendor.figures().connections;
    bench.pause(idle).await;
    let last = vendor.figures();
    vendor.stop().await;
    Ok(Counted {
        opened: hung.connections,
        closed: hung.closed,
        aborted: hung.aborted,
        replaced: replaced - hung.connections,
        reused: reused - replaced,
        open_at_last: last.connections - last.closed,
    })
}

fn judge(counted: &[Counted], idle: Duration, outcome: &mut Outcome) {
    let [own, guarded, left] = counted else { return };
    let all = CALLS as u64;
    let shown = |it: &Counted| format!("{} closed, {} opened anew", it.closed, it.replaced);
    outcome.claim(
        "Guarded, every call given up closes its connection",
        guarded.closed >= all && guarded.aborted == all,
        shown(guarded),
    );
    outcome.claim("As the client's own limit does", own.closed >= all && own.aborted == all, shown(own));
    outcome.claim("The next fifty pay with new connections", guarded.replaced * 10 >= all * 8, shown(guarded));
    outcome.claim("And the fifty after reuse those", guarded.reused * 2 < all, format!("{} opened", guarded.reused));
    outcome.claim("A task left to itself closes nothing", left.closed == 0 && left.aborted == 0, shown(left));
    outcome.beside(
        "aborted at the server",
        "50",
        guarded.aborted.to_string(),
        if guarded.aborted == all {
            "The same, within half a second."
        } else {
            "The others had not reached the vendor half a second later."
        },
    );
    outcome.beside(
        "replacement connections",
        "50, reaped after 4 s",
        format!("{}, {} of all open after {} s idle", guarded.replaced, guarded.open_at_last, idle.as_secs()),
        "reqwest keeps idle connections for 90 s unless told otherwise, by its documentation; that long was not watched.",
    );
}
