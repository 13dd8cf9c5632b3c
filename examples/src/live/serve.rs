//! # The addresses, and the stream
//!
//! | address | answer |
//! |---|---|
//! | `/` | the page, with the state it begins with |
//! | `/assets/NAME` | its parts |
//! | `/api/state`, `/api/stream` | the state, once, and four times a second as server-sent events |
//! | `POST /api/switch` | what a switch says, as JSON |
//! | `/dashboard` | the dashboard of the guarded functions, those of the lab only where they are the subject |
//!
//! Invariants:
//! * at most sixteen watch at once; a place is given back however a stream ends;
//! * what somebody watches is written anew only while somebody watches.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::{from_fn, map_response};
use axum::response::sse::{Event, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use futures::stream;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Interval, interval};
use watertight::dashboard::Dashboard;

use super::{assets, guard};
use crate::server::Server;
use crate::stop::{Stop, Stopper, pair};

/// How many may watch at once.
const VIEWERS: usize = 16;
/// Between two states.
const BEAT: Duration = Duration::from_millis(250);
/// The longest body of a request, in bytes.
const LONGEST: usize = 1_024;

/// What a page shows.
pub trait Show: Send + Sync + 'static {
    /// Its markup; `{{first}}` is where the first state goes.
    const MARKUP: &'static str;
    /// Everything on it, as it is now.
    fn state(&self) -> Value;
    /// Turns a switch.
    ///
    /// # Errors
    /// What was wrong with what was asked.
    fn turn(&self, asked: &Value) -> Result<(), &'static str>;
}

/// A page that is being served.
#[derive(Debug)]
pub struct Live {
    server: Server,
    stopper: Stopper,
}

impl Live {
    /// Where it is.
    pub fn url(&self) -> String {
        format!("{}/", self.server.url())
    }

    /// Ends it, and waits for that.
    pub async fn stop(self) {
        self.stopper.stop();
        self.server.stop().await;
    }
}

struct Shared<S> {
    show: Arc<S>,
    places: Arc<Semaphore>,
    stop: Stop,
}

impl<S> Clone for Shared<S> {
    fn clone(&self) -> Self {
        Self { show: Arc::clone(&self.show), places: Arc::clone(&self.places), stop: self.stop.clone() }
    }
}

/// Serves a page at a loopback address, with a dashboard below it.
///
/// # Errors
/// When the address is taken, or not a loopback one.
pub async fn serve<S: Show>(address: SocketAddr, show: Arc<S>, dashboard: Dashboard) -> io::Result<Live> {
    let (stopper, stop) = pair();
    let shared = Shared { show, places: Arc::new(Semaphore::new(VIEWERS)), stop };
    let app = Router::new()
        .route("/", get(page::<S>))
        .route("/assets/{name}", get(asset))
        .route("/api/state", get(state::<S>))
        .route("/api/stream", get(watch::<S>))
        .route("/api/switch", post(turn::<S>))
        .with_state(shared)
        .nest("/dashboard", dashboard.router())
        .layer(DefaultBodyLimit::max(LONGEST))
        .layer(from_fn(guard::own_site_only))
        .layer(map_response(guard::with_policy));
    Ok(Live { server: Server::start_at(address, app).await?, stopper })
}

async fn page<S: Show>(State(shared): State<Shared<S>>) -> Html<String> {
    // Nothing in it can end the element it stands in.
    let first = shared.show.state().to_string().replace('<', "\\u003c");
    Html(S::MARKUP.replace("{{first}}", &first))
}

async fn asset(Path(name): Path<String>) -> Response {
    match assets::find(&name) {
        Some((kind, text)) => ([(CONTENT_TYPE, kind)], text).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn state<S: Show>(State(shared): State<Shared<S>>) -> Response {
    axum::Json(shared.show.state()).into_response()
}

async fn watch<S: Show>(State(shared): State<Shared<S>>) -> Response {
    let Ok(place) = Arc::clone(&shared.places).try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "as many watch as may").into_response();
    };
    let frames = stream::unfold((shared, interval(BEAT), place), frame::<S>);
    Sse::new(frames).into_response()
}

type Watching<S> = (Shared<S>, Interval, OwnedSemaphorePermit);

async fn frame<S: Show>(mut watching: Watching<S>) -> Option<(Result<Event, Infallible>, Watching<S>)> {
    let (shared, beat, _) = &mut watching;
    tokio::select! {
        _ = beat.tick() => {}
        () = shared.stop.clone().stopped() => return None,
    }
    let event = Event::default().event("state").data(shared.show.state().to_string());
    Some((Ok(event), watching))
}

async fn turn<S: Show>(State(shared): State<Shared<S>>, body: String) -> Response {
    let asked: Value = serde_json::from_str(&body).unwrap_or_default();
    match shared.show.turn(&asked) {
        Ok(()) => axum::Json(shared.show.state()).into_response(),
        Err(wrong) => (StatusCode::BAD_REQUEST, wrong).into_response(),
    }
}
