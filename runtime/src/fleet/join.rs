//! Joining a fleet, and being in it.
//!
//! Invariants: a process is in one fleet at most; a store that cannot be reached is no reason not to start, and what is
//! wrong with the figures is.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use redis::Client;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::decide::Member;
use super::figures::{Books, FleetFigures};
use super::limits::Here;
use super::redis::Redis;
use super::sync::Sync;
use crate::base::clock::{Moment, nanos};
use crate::base::rng::roll;
use crate::replicas;

/// The shortest lease: a fifth of it has to be a round trip and then some.
const SHORTEST: Duration = Duration::from_millis(100);
/// The longest: for so long nobody has what a dead process had.
const LONGEST: Duration = Duration::from_secs(60);

/// Joining the processes that share this Redis and this name; made by [`join`](super::join()), done by awaiting it.
#[derive(Debug)]
#[must_use = "a process has joined once this was awaited"]
pub struct Join {
    client: Client,
    name: Option<String>,
    replicas: Option<u32>,
    lease: Duration,
    keys: usize,
}

/// Joins the processes that share this Redis: limits that say `/fleet` hold over all of them from now on.
///
/// It starts one task, on the runtime of whoever awaits it, which asks the Redis five times in a lease. Awaiting it takes until
/// the first answer that leaves no limit without a share, a lease at most. **A Redis that is not there is no error**: the process starts
/// with one of [`Join::replicas`] equal parts, says so in [`Fleet::figures`] and in the log, and goes on asking.
///
/// ```no_run
/// # async fn start() -> Result<(), Box<dyn std::error::Error>> {
/// use watertight::fleet;
///
/// let client = redis::Client::open("redis://127.0.0.1/")?;
/// let fleet = fleet::join(client).name("shop").replicas(8).await?;
/// println!("{} processes", fleet.figures().replicas);
/// // ... serve, and at the end:
/// fleet.leave().await;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// When this process is in a fleet already, outside of a tokio runtime, and for figures that make no sense.
pub fn join(client: Client) -> Join {
    Join { client, name: None, replicas: None, lease: Duration::from_secs(1), keys: 256 }
}

impl Join {
    /// What the fleet is called: processes with another name share nothing with this one. Default: the name of the program's
    /// file, which processes of one service have in common.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// How many processes there are at least, as [`declare_replicas`](super::declare_replicas) says it. Default: what that
    /// has said, else 1.
    pub fn replicas(self, replicas: u32) -> Self {
        Self { replicas: Some(replicas), ..self }
    }

    /// For how long a share is given, 100 milliseconds to a minute: so long is what a process had that died nobody's, and so
    /// long can the Redis be away before anybody notices. Default: one second. In a fleet of more than 200 processes it is
    /// 5 ms for each, so that the Redis is asked a thousand times a second at most.
    pub fn lease(self, lease: Duration) -> Self {
        Self { lease, ..self }
    }

    /// How many keys of each limit have a share of their own, the busiest in this process, 1 to 1 024. The others have an equal
    /// part. Default: 256.
    pub fn keys(self, keys: usize) -> Self {
        Self { keys, ..self }
    }

    fn check(&self) -> Result<(), JoinError> {
        let mistake = |what: String| Err(JoinError(What::Mistake(what)));
        if !(SHORTEST..=LONGEST).contains(&self.lease) {
            return mistake(format!("a lease of {:?} is not between {SHORTEST:?} and {LONGEST:?}", self.lease));
        }
        if self.replicas == Some(0) {
            return mistake("`replicas` is 0, and this is one; leave it out if you do not know".to_owned());
        }
        if !(1..=1_024).contains(&self.keys) {
            return mistake(format!("`keys` is {}; write a number from 1 to 1024", self.keys));
        }
        match &self.name {
            Some(name) if name.is_empty() || name.contains(['{', '}']) => {
                mistake(format!("a fleet cannot be called \"{name}\"; write one or more characters, without braces"))
            }
            _ => Ok(()),
        }
    }

    async fn join(self) -> Result<Fleet, JoinError> {
        self.check()?;
        let runtime = Handle::try_current().map_err(|_| JoinError(What::NoRuntime))?;
        if replicas::join(true) {
            return Err(JoinError(What::Twice));
        }
        let Self { client, name, replicas: declared, lease, keys } = self;
        if let Some(replicas) = declared {
            replicas::declare_replicas(replicas);
        }
        let name = name.unwrap_or_else(program);
        let least = replicas::declared().unwrap_or(1);
        let process = format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        let member = Member::new(process.into(), dice(), nanos(lease), least, Moment::now());
        let books = Arc::new(Books::new(name.clone(), &member));
        let (limits, store) = (Here::new(keys), Redis::new(client, &name, lease * 3 / 10));
        let stop = Arc::new(Notify::new());
        let task = runtime.spawn(Sync { member, store, limits, books: books.clone() }.run(stop.clone()));
        let _ = timeout(lease, books.settled()).await;
        Ok(Fleet { books, stop, task: Some(task) })
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // below a million
fn dice() -> u32 {
    (roll() * 1e6) as u32
}

fn program() -> String {
    let path = std::env::current_exe().ok();
    path.as_ref()
        .and_then(|path| path.file_stem())
        .map_or_else(|| "service".to_owned(), |it| it.to_string_lossy().replace(['{', '}'], "_"))
}

impl IntoFuture for Join {
    type Output = Result<Fleet, JoinError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.join())
    }
}

/// A process in its fleet. Dropped, it leaves: its task gives the shares back and ends, and limits are one of `replicas` equal
/// parts from there on.
#[derive(Debug)]
#[must_use = "a fleet that is dropped has been left"]
pub struct Fleet {
    books: Arc<Books>,
    stop: Arc<Notify>,
    task: Option<JoinHandle<()>>,
}

impl Fleet {
    /// How this process stands: shares, where they come from, for how long they hold, and what asking came to.
    pub fn figures(&self) -> FleetFigures {
        self.books.read(Moment::now())
    }

    /// Gives every share back and ends the task. To be called when the last call has ended, since from here on this process
    /// has equal parts that nobody accounts for. Takes one round trip, a third of a lease at most. Dropped half-way, it leaves all
    /// the same.
    pub async fn leave(mut self) {
        self.stop.notify_one();
        if let Some(task) = self.task.take() {
            // Only a runtime that shuts down ends it otherwise.
            let _ = task.await;
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.stop.notify_one();
        replicas::join(false);
    }
}

/// Why a process has not joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinError(What);

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Twice,
    NoRuntime,
    Mistake(String),
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            What::Twice => {
                f.write_str("this process is in a fleet already; keep the `Fleet` that `join` gave, one for all limits")
            }
            What::NoRuntime => f.write_str("a fleet is joined inside of a tokio runtime, which runs its task"),
            What::Mistake(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for JoinError {}
