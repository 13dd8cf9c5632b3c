//! Faults that a test has set, and which attempts they strike.
//!
//! A fault strikes where the body would have run: the attempt has passed its breaker, holds its slot, and its timeout
//! runs. What follows is the pipeline's ordinary business. A hang holds the slot and is cut off at the limit, an error is
//! judged by the predicates that judge the body's errors, a panic unwinds through the guards.
//!
//! **Whom it strikes.** Tests run side by side in one process and call the same functions, so a fault that struck every
//! call would strike other tests' too. It strikes the calls polled by the tokio runtime in which it was set, whatever task
//! they are in: a test is a runtime, and what it spawns stays on it (see [`super::world`]). Set outside of every runtime,
//! or [`everywhere`](Plan::everywhere), it strikes all calls of the process.
//!
//! **Dice.** A rate is rolled from a seed that is the same in every run unless the test says otherwise, so a test that
//! fails fails again.
//!
//! Invariants: with no fault set an attempt pays one relaxed load; the body of an attempt that is struck by anything but
//! a delay is never polled; what was struck is counted, and nothing else.

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use fastrand::Rng;
use tokio::runtime::Id;
use tokio::time::{Sleep, sleep};

use super::Identity;
use super::world;

/// How many faults are set.
static HOW_MANY: AtomicUsize = AtomicUsize::new(0);
static SET: Mutex<Vec<Arc<Live>>> = Mutex::new(Vec::new());

fn set() -> MutexGuard<'static, Vec<Arc<Live>>> {
    SET.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An error on its way to the function whose type it is.
pub(crate) type AnyError = Box<dyn Any + Send>;

/// An error type of which a test can inject values: one line in the crate that defines it, `impl Injectable for AppError {}`.
///
/// The function that is struck has to know its error type by more than its shape. Whether a type borrows is the one thing
/// that the compiler never chooses by, so that it does not has to be said, and this trait says it.
///
/// It is implemented for [`Error`](super::Error), `std::io::Error`, `std::fmt::Error`, `String`, `()` and
/// `Box<dyn Error + Send + Sync>`.
pub trait Injectable: Send + Sized + 'static {
    /// The value that was injected, if it is of this type.
    #[doc(hidden)]
    fn from_injected(error: AnyError) -> Result<Self, AnyError> {
        error.downcast().map(|error| *error)
    }
}

impl Injectable for super::Error {}
impl Injectable for std::io::Error {}
impl Injectable for fmt::Error {}
impl Injectable for String {}
impl Injectable for () {}
impl Injectable for super::BoxError {}

/// What a struck body does.
#[derive(Clone)]
pub(crate) enum Act {
    Hang,
    Delay(Duration),
    Error(Arc<dyn Fn() -> AnyError + Send + Sync>, &'static str),
    Panic(String),
}

/// A fault in full: nothing about it changes once it is set, so no attempt meets half of it.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) act: Act,
    /// The share of attempts that is struck.
    pub(crate) rate: f64,
    pub(crate) seed: u64,
    /// How many attempts are struck at most.
    pub(crate) times: u64,
    pub(crate) everywhere: bool,
}

/// A fault that is set.
pub(crate) struct Live {
    site: &'static Identity,
    runtime: Option<Id>,
    plan: Plan,
    dice: Mutex<Rng>,
    struck: AtomicU64,
}

impl Live {
    /// Sets a fault on a function.
    pub(crate) fn set(site: &'static Identity, plan: Plan) -> Arc<Self> {
        let live = Arc::new(Self {
            site,
            runtime: if plan.everywhere { None } else { world::runtime() },
            dice: Mutex::new(Rng::with_seed(plan.seed)),
            plan,
            struck: AtomicU64::new(0),
        });
        set().push(Arc::clone(&live));
        HOW_MANY.fetch_add(1, Ordering::Relaxed);
        live
    }

    /// Lifts it. Attempts that it has struck stay struck.
    pub(crate) fn lift(self: &Arc<Self>) {
        set().retain(|other| !Arc::ptr_eq(self, other));
        HOW_MANY.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many attempts it has struck.
    pub(crate) fn struck(&self) -> u64 {
        self.struck.load(Ordering::Relaxed)
    }

    pub(crate) fn site(&self) -> &'static Identity {
        self.site
    }

    /// Whether it strikes this attempt; if so, that is counted.
    fn strikes(&self, site: &'static Identity) -> bool {
        if !std::ptr::eq(self.site, site) || (self.runtime.is_some() && self.runtime != world::runtime()) {
            return false;
        }
        // Under the lock of the dice, so that two threads neither roll the same number nor strike once too often.
        let mut dice = self.dice.lock().unwrap_or_else(PoisonError::into_inner);
        let strikes = self.struck() < self.plan.times && (self.plan.rate >= 1.0 || dice.f64() < self.plan.rate);
        if strikes {
            self.struck.fetch_add(1, Ordering::Relaxed);
        }
        strikes
    }
}

/// What has become of an attempt's body.
#[derive(Default)]
pub(crate) enum Struck {
    /// It runs.
    #[default]
    No,
    /// It runs after this.
    Later(Pin<Box<Sleep>>),
    Hung,
    /// It returns this.
    Failed(Option<(AnyError, &'static str)>),
    Panics(String),
}

/// What is to be done with the body now.
pub(crate) enum Instead {
    /// Poll it.
    Run,
    /// It has returned this error, of the type of this name.
    Return(AnyError, &'static str),
}

impl Struck {
    /// What a body that is about to begin is struck by.
    #[inline]
    pub(crate) fn look_up(site: &'static Identity) -> Self {
        if HOW_MANY.load(Ordering::Relaxed) == 0 { Self::No } else { Self::find(site) }
    }

    #[cold]
    fn find(site: &'static Identity) -> Self {
        // The one set last has the first say; making the error is the test's code and has to wait for the lock's end.
        let act = set().iter().rev().find(|live| live.strikes(site)).map(|live| live.plan.act.clone());
        match act {
            None => Self::No,
            Some(Act::Hang) => Self::Hung,
            Some(Act::Delay(length)) => Self::Later(Box::pin(sleep(length))),
            Some(Act::Error(make, name)) => Self::Failed(Some((make(), name))),
            Some(Act::Panic(message)) => Self::Panics(message),
        }
    }

    /// Does what the body was struck with.
    ///
    /// # Panics
    ///
    /// When that is a panic.
    #[inline]
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Instead> {
        if matches!(self, Self::No) { Poll::Ready(Instead::Run) } else { self.act(cx) }
    }

    #[cold]
    fn act(&mut self, cx: &mut Context<'_>) -> Poll<Instead> {
        match self {
            Self::No => {}
            Self::Later(delay) => {
                if delay.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                *self = Self::No;
            }
            Self::Hung | Self::Failed(None) => return Poll::Pending,
            Self::Failed(error) => {
                if let Some((error, name)) = error.take() {
                    return Poll::Ready(Instead::Return(error, name));
                }
            }
            Self::Panics(message) => std::panic::panic_any(std::mem::take(message)),
        }
        Poll::Ready(Instead::Run)
    }
}

/// Ends an attempt that was struck by an error which its function cannot return.
#[cold]
pub(crate) fn refuse(site: &'static Identity, name: &'static str) -> ! {
    std::panic::panic_any(format!(
        "an injected error of type `{name}` has struck {site}, which cannot return it: it has another error type, or one \
         that lacks `impl watertight::testing::Injectable for {name} {{}}`"
    ))
}

impl fmt::Debug for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hang => f.write_str("hang"),
            Self::Delay(length) => write!(f, "delay of {length:?}"),
            Self::Error(_, name) => write!(f, "error of type {name}"),
            Self::Panic(message) => write!(f, "panic of {message:?}"),
        }
    }
}
