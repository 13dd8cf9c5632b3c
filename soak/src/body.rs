//! What a body does: everything a body can do to the pipeline around it, one of them at random.
//!
//! A body also keeps the books that the library's own are held against: how many run at once in each compartment, counted
//! by the bodies themselves. The library's figures could be wrong together; these are not made by it.
//!
//! Invariants: a body is counted from its first poll to its drop, but for the time in which it waits for a call of its own
//! (its slot is lent then); every panic here carries [`Planned`], so that any other is known to be a defect.

use std::future::{Future, pending};
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fastrand::Rng;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::sleep;
use watertight::{Class, Classify, Error};

use crate::caller::{Counted, patient};
use crate::gauge::{Compartment, Inside};
use crate::sites;

/// The payload of the panics that are meant.
#[derive(Debug)]
pub(crate) struct Planned;

/// What a body fails with.
#[derive(Debug)]
pub(crate) enum Fault {
    Refused(Error),
    /// Its own error; true for one that is worth another try.
    Own(bool),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Own(_) => f.write_str("the body failed"),
        }
    }
}

impl std::error::Error for Fault {}

impl Classify for Fault {
    fn class(&self) -> Class {
        match self {
            Self::Refused(_) | Self::Own(true) => Class::Retryable,
            Self::Own(false) => Class::Permanent,
        }
    }
}

/// What one call's bodies are to do.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// The tenant.
    pub(crate) key: u32,
    /// How many calls stand around it.
    pub(crate) depth: u8,
    pub(crate) compartment: Option<&'static Compartment>,
    /// Whether the body is to answer at once, to see that its function still lets anybody through.
    pub(crate) answers: bool,
}

/// Where somebody accepts connections and never answers.
pub(crate) static SILENT: OnceLock<SocketAddr> = OnceLock::new();
/// Each connection that is closed keeps its port for a minute, so there are few of them at a time.
static SOCKETS: Semaphore = Semaphore::const_new(4);
/// Bodies that have run.
pub(crate) static BODIES: AtomicU64 = AtomicU64::new(0);

/// Runs a body.
pub(crate) async fn play(plan: Plan) -> Result<u64, Fault> {
    BODIES.fetch_add(1, Ordering::Relaxed);
    let mut inside = plan.compartment.map(|compartment| compartment.enter(plan.key));
    if plan.answers {
        return Ok(plan.seed);
    }
    let mut rng = Rng::with_seed(plan.seed.wrapping_add(u64::from(watertight::attempt()).wrapping_mul(0x9E37_79B9)));
    for _ in 0..rng.u32(0..3) {
        tokio::task::yield_now().await;
    }
    match rng.u32(0..100) {
        0..32 => Ok(plan.seed),
        32..46 => Err(Fault::Own(rng.bool())),
        46..54 => {
            pause(&mut rng, 2_000).await;
            Ok(plan.seed)
        }
        54..62 => {
            pause(&mut rng, 60_000).await;
            if rng.bool() { Ok(plan.seed) } else { Err(Fault::Own(true)) }
        }
        62..68 => pending().await,
        68..70 => silence().await,
        70..74 => std::panic::panic_any(Planned),
        74..76 => {
            block(Duration::from_micros(rng.u64(100..4_000)));
            Ok(plan.seed)
        }
        76..79 => {
            // Always ready, so that nothing but the cooperative budget ever stops it.
            for _ in 0..rng.u32(1..2_000) {
                tokio::task::consume_budget().await;
            }
            Ok(plan.seed)
        }
        _ => nested(&plan, &mut rng, inside.as_mut()).await,
    }
}

/// Blocks its thread, past its limit at times.
#[allow(clippy::disallowed_methods)] // blocking is the subject
fn block(length: Duration) {
    std::thread::sleep(length);
}

async fn pause(rng: &mut Rng, most: u64) {
    sleep(Duration::from_micros(rng.u64(1..most))).await;
}

/// Reads from a server that accepts and never answers.
async fn silence() -> Result<u64, Fault> {
    let (Some(at), Ok(_permit)) = (SILENT.get(), SOCKETS.try_acquire()) else { return pending().await };
    let Ok(mut stream) = TcpStream::connect(at).await else { return Err(Fault::Own(true)) };
    let mut byte = [0];
    let _ = stream.read(&mut byte).await;
    // Not reached while the server lives.
    Err(Fault::Own(true))
}

/// Calls of its own: of any function, and so of its own compartment too.
async fn nested(plan: &Plan, rng: &mut Rng, inside: Option<&mut Inside>) -> Result<u64, Fault> {
    if plan.depth >= 2 {
        return Ok(plan.seed);
    }
    let call = |rng: &mut Rng| Counted::new(sites::any(rng), rng, plan.depth + 1);
    let (first, second) = (call(rng), call(rng));
    let way = rng.u32(0..4);
    let all = async {
        match way {
            0 => drop(first.await),
            1 => drop(futures::join!(first, second)),
            // Patient, since it goes on when this body is dropped.
            2 => drop(watertight::spawn(patient(first)).await),
            _ => {
                futures::future::select(first, second).await;
            }
        }
    };
    Inside::lent(inside, all).await;
    Ok(plan.seed)
}

/// A future that is there for a number of polls and is dropped then.
pub(crate) async fn polled<F: Future + Unpin>(mut body: F, polls: u32) -> Option<F::Output> {
    let mut left = polls;
    futures::future::poll_fn(move |cx| {
        let Some(rest) = left.checked_sub(1) else { return std::task::Poll::Ready(None) };
        left = rest;
        match std::pin::Pin::new(&mut body).poll(cx) {
            std::task::Poll::Ready(whole) => std::task::Poll::Ready(Some(whole)),
            std::task::Poll::Pending if left == 0 => std::task::Poll::Ready(None),
            std::task::Poll::Pending => std::task::Poll::Pending,
        }
    })
    .await
}
