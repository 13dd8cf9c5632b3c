//! A dashboard in the process: which function hurts users now, why, and which number to change.
//!
//! ```no_run
//! # async fn start() -> std::io::Result<()> {
//! let dashboard = watertight::dashboard::serve("127.0.0.1:7878").await?;
//! println!("the dashboard is at {}", dashboard.url());
//! # dashboard.forever();
//! # Ok(())
//! # }
//! ```
//!
//! An outage is the worst time to set up monitoring, and the one at which somebody wishes it were there. So the dashboard
//! needs nothing: no database, no agent, no file, no connection to anywhere. It keeps an hour in memory (`history`), works
//! every figure out here (`panels`) and draws them in the browser with a few hundred lines of its own (`assets`).
//!
//! Other dashboards taught what can go wrong with one. It is the way into a service for whoever reaches it, so it is served
//! on loopback unless told otherwise, changes nothing without a token, and accepts no name but a loopback one (`access`).
//! It must not be what the service dies of: viewers are counted and bounded, and one that reads nothing is dropped
//! (`viewers`, `serve`). And it must not believe what it shows: names may be anybody's text, so they are put on the page
//! as text, under a policy that runs no script but the page's own.
//!
//! | file | what it is |
//! |---|---|
//! | `serve` | the listener, and what ends it |
//! | `routes` | addresses and answers |
//! | `access` | who may ask, who may change |
//! | `control` | figures changed from the page, with an end and a name |
//! | `viewers` | live streams, bounded |
//! | `history/` | the past hour |
//! | `panels/` | what is shown, as data, one file per panel |
//! | `assets`, `page/` | the page itself: markup, style and script modules, as they are served |
//!
//! Invariants: no call waits for anything in here; nothing is read from or written to a file; nothing is asked of any other
//! machine; memory is bounded by the number of functions; without a token nothing can be changed.

mod access;
mod assets;
mod control;
mod history;
mod panels;
mod routes;
mod serve;
mod viewers;

use std::io;
use std::sync::Arc;

use axum::Router;
use tokio::net::ToSocketAddrs;

use crate::call::Identity;
use access::Token;
use history::History;
pub use serve::Serving;
use viewers::Viewers;

/// How many may watch at once.
const VIEWERS: usize = 16;

/// Serves the dashboard on a loopback address, read-only.
///
/// # Errors
///
/// When the address cannot be bound, or is not a loopback one; see [`Dashboard::beyond_loopback`].
///
/// # Panics
///
/// Outside a tokio runtime.
pub async fn serve(address: impl ToSocketAddrs) -> io::Result<Serving> {
    Dashboard::new().serve(address).await
}

/// The dashboard as a router, read-only, to be mounted in a service's own: `Router::new().nest("/watertight", ..)`.
///
/// Whoever reaches that server reaches the dashboard, so mount it where only colleagues come.
pub fn router() -> Router {
    Dashboard::new().router()
}

/// A dashboard to be set up before it is served.
///
/// | setting | default | why |
/// |---|---|---|
/// | token | none, so nothing can be changed | a page that can open breakers is a way to take a service down |
/// | functions | all | one that is left out looks like one that does not exist |
/// | viewers | 16 | each costs a connection and a few kibibytes a second |
/// | addresses | loopback alone | it shows the names of functions and keys to whoever reaches it |
#[derive(Clone, Debug)]
#[must_use = "nothing is served yet"]
pub struct Dashboard {
    token: Option<Token>,
    viewers: usize,
    beyond_loopback: bool,
    shows: fn(&Identity) -> bool,
}

impl Default for Dashboard {
    fn default() -> Self {
        Self { token: None, viewers: VIEWERS, beyond_loopback: false, shows: |_| true }
    }
}

/// What all answers share.
#[derive(Debug)]
struct Shared {
    history: Arc<History>,
    viewers: Viewers,
    token: Option<Token>,
    shows: fn(&Identity) -> bool,
}

impl Dashboard {
    /// Read-only, on loopback, for sixteen viewers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets whoever has this token hold breakers open and close them, and change figures for a time. An empty token is none.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Token::new(token.into());
        self
    }

    /// How many may watch at once, at least one.
    pub fn viewers(mut self, most: usize) -> Self {
        self.viewers = most.max(1);
        self
    }

    /// Which functions are on the first screen, by name, module, file or line: for a binary that also holds functions nobody
    /// runs in it. Default: all. It hides nothing elsewhere: the figures as text and a function's own page have them all.
    ///
    /// ```
    /// # use watertight::dashboard::Dashboard;
    /// let dashboard = Dashboard::new().only(|function| !function.module.starts_with("shop::migrations"));
    /// # let _ = dashboard;
    /// ```
    pub fn only(mut self, shows: fn(&Identity) -> bool) -> Self {
        self.shows = shows;
        self
    }

    /// Allows addresses that other machines reach. Put something that asks for a password in front.
    pub fn beyond_loopback(mut self) -> Self {
        self.beyond_loopback = true;
        self
    }

    /// The dashboard as a router, to be mounted in a service's own.
    ///
    /// The past is kept from here on, if this is called in a tokio runtime, else from the first request on.
    pub fn router(self) -> Router {
        routes::router(self.shared())
    }

    /// Serves it until the handle is dropped.
    ///
    /// # Errors
    ///
    /// When the address cannot be bound; when other machines reach it and [`beyond_loopback`](Self::beyond_loopback) was
    /// not said.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub async fn serve(self, address: impl ToSocketAddrs) -> io::Result<Serving> {
        let beyond = self.beyond_loopback;
        serve::start(self.shared(), address, beyond).await
    }

    fn shared(self) -> Arc<Shared> {
        let history = History::shared();
        history.keep_going();
        Arc::new(Shared { history, viewers: Viewers::new(self.viewers), token: self.token, shows: self.shows })
    }
}
