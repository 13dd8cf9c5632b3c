//! # `vendor`
//!
//! The dependency alone, on a port of its own. How it answers is set at the start and can be set anew while it runs, by a
//! request to `/behave`; what it saw is at `/books`, and a line of it is printed whenever it has changed.
//!
//! Invariants:
//! * the books are the vendor's own, counted at its listener and in its handlers;
//! * how it behaves is changed by no other site that a browser has open.

use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use watertight_examples::live::own_site_only;
use watertight_examples::stop;
use watertight_examples::vendor::{Behaviour, Vendor, VendorFigures};

use super::{every_second, length, say};

const KINDS: &str = "write a length such as `50ms` or `5s`, or `hang`, `mixed` or `fail`";

#[derive(clap::Args, Debug)]
#[command(after_help = super::RECIPE)]
pub(crate) struct Args {
    /// Where it listens, on loopback; a port of the system's choice unless written.
    #[arg(long, default_value_t = 0, value_name = "PORT")]
    port: u16,
    /// How it answers: after a length such as `50ms`, or `hang` (accepts and never answers), `mixed` (90 % after 150 ms, 8 %
    /// after 800 ms, 2 % after 6 s) or `fail` (at once, with a 503).
    #[arg(long, default_value = "50ms", value_name = "HOW", value_parser = behaviour)]
    answers: Behaviour,
}

fn behaviour(text: &str) -> Result<Behaviour, String> {
    match text {
        "hang" => Ok(Behaviour::Hang),
        "mixed" => Ok(Behaviour::Mixed),
        "fail" => Ok(Behaviour::Fail),
        other => length(other).map(Behaviour::After).map_err(|_| format!("`{other}` is no way to answer; {KINDS}")),
    }
}

/// The vendor, once it is there.
type Slot = Arc<OnceLock<Vendor>>;

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (stop, slot) = (stop::on_interrupt(), Slot::default());
    let control = Router::new()
        .route("/books", get(books))
        .route("/behave", post(behave))
        .layer(from_fn(own_site_only))
        .with_state(Arc::clone(&slot));
    let vendor = Vendor::start_at(([127, 0, 0, 1], args.port).into(), args.answers, control).await?;
    say(&format!("the vendor answers at {}", vendor.url()));
    let vendor = slot.get_or_init(|| vendor);
    tokio::select! {
        () = every_second(|| line(vendor.figures())) => {}
        () = stop.stopped() => {}
    }
    say(&line(vendor.figures()));
    Ok(ExitCode::SUCCESS)
}

fn line(books: VendorFigures) -> String {
    let VendorFigures { requests, peak, unanswered, connections, closed, aborted } = books;
    format!(
        "attempts {requests}  most at once {peak}  left unanswered {unanswered}  connections opened {connections}, closed \
         {closed}, aborted {aborted}"
    )
}

async fn books(State(slot): State<Slot>) -> Response {
    let Some(vendor) = slot.get() else { return StatusCode::SERVICE_UNAVAILABLE.into_response() };
    let VendorFigures { requests, peak, unanswered, connections, closed, aborted } = vendor.figures();
    let books = json!({
        "attempts": requests,
        "peak": peak,
        "unanswered": unanswered,
        "connections": { "opened": connections, "closed": closed, "aborted": aborted },
    });
    Json(books).into_response()
}

async fn behave(State(slot): State<Slot>, body: String) -> Response {
    let asked: Value = serde_json::from_str(&body).unwrap_or_default();
    let how = asked.as_str().ok_or_else(|| format!("send a text in quotes, as JSON; {KINDS}"));
    match (how.and_then(behaviour), slot.get()) {
        (Ok(how), Some(vendor)) => {
            vendor.behave(how);
            let how = match how {
                Behaviour::After(wait) if wait < Duration::from_secs(1) => format!("after {} ms", wait.as_millis()),
                other => format!("{other:?}").to_lowercase(),
            };
            (StatusCode::OK, format!("from the next request on: {how}\n")).into_response()
        }
        (Err(wrong), _) => (StatusCode::BAD_REQUEST, format!("{wrong}\n")).into_response(),
        (_, None) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Behaviour, behaviour};
    use std::time::Duration;

    #[test]
    fn how_it_answers_is_read_or_refused_with_what_there_is() {
        assert_eq!(behaviour("50ms"), Ok(Behaviour::After(Duration::from_millis(50))));
        assert_eq!(behaviour("hang"), Ok(Behaviour::Hang));
        assert!(behaviour("slow").unwrap_err().contains("`hang`, `mixed` or `fail`"));
    }
}
