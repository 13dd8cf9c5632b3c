//! Faults by name: what a body would have done on a bad day, without the bad day.
//!
//! A fake needs a seam in the service, a place where the real client can be swapped. Faults need none: they strike the
//! guarded function itself, in the place of its body, with everything around it as in production. Where they strike, and
//! what keeps the tests of one process out of each other's way, is argued in [`crate::call::fault`].

use std::any::type_name;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::names::{self, NotOne};
use crate::call::fault::{Act, AnyError, Injectable, Live, Plan};

/// Sets a fault on a guarded function until the [`Injection`] is dropped.
///
/// It strikes attempts in the place of their body: the attempt holds its slot, its timeout runs, and everything that
/// follows is as if the body had done it. Struck are the calls polled by the tokio runtime in which this is called,
/// those of spawned tasks included, and no other test's; called outside of a runtime, it strikes every call of the process.
/// Of several faults on one function, the one set last has the first say.
///
/// The name is the function's, or its path as far as it takes to tell it from others of its name.
///
/// # Errors
///
/// When the name stands for no guarded function, or for several; the error says which were meant.
///
/// ```standalone_crate
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use watertight::testing::{Fault, inject};
/// use watertight::{ErrorKind, resilient};
///
/// #[resilient(timeout = "300ms")]
/// async fn in_stock(item: u64) -> Result<bool, watertight::Error> {
///     Ok(item > 0)
/// }
///
/// let hang = inject("in_stock", Fault::hang())?;
/// assert_eq!(in_stock(1).await.unwrap_err().kind(), ErrorKind::TimedOut);
/// assert_eq!(hang.struck(), 1);
/// drop(hang);
/// assert!(in_stock(1).await?);
/// # Ok(())
/// # }
/// ```
pub fn inject(name: &str, fault: Fault) -> Result<Injection, NotOne> {
    let site = &names::find(name)?.declaration.identity;
    Ok(Injection(Live::set(site, fault.0)))
}

/// What happens in the place of a body, and how often. It is complete before it is set, so no call meets half of it.
#[derive(Clone)]
#[must_use = "a fault strikes once it is injected"]
pub struct Fault(Plan);

impl Fault {
    fn new(act: Act) -> Self {
        Self(Plan { act, rate: 1.0, seed: 0, times: u64::MAX, everywhere: false })
    }

    /// The body never returns: it is cut off at its limit, or dropped by the caller.
    pub fn hang() -> Self {
        Self::new(Act::Hang)
    }

    /// The body begins after this, by tokio's clock.
    pub fn delay(length: Duration) -> Self {
        Self::new(Act::Delay(length))
    }

    /// The body returns an error made by `make`, which is the function's own: its type has to be the `E` of the `Result`
    /// that the function returns, and [`Injectable`]. (A [`Guard`](crate::Guard), which runs any closure, knows no error
    /// type of its own and cannot be struck by one.)
    ///
    /// A fault that strikes a function with another error type panics in the place of the body, and says so.
    ///
    /// ```standalone_crate
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use watertight::resilient;
    /// use watertight::testing::{Fault, Injectable, inject};
    ///
    /// #[derive(Debug)]
    /// struct Busy;
    ///
    /// impl Injectable for Busy {}
    ///
    /// #[resilient(retry = 2)]
    /// async fn ask() -> Result<u32, Busy> {
    ///     Ok(42)
    /// }
    ///
    /// let twice = inject("ask", Fault::error(|| Busy).times(2))?;
    /// assert_eq!(ask().await.unwrap(), 42);
    /// assert_eq!(twice.struck(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn error<E: Injectable>(make: impl Fn() -> E + Send + Sync + 'static) -> Self {
        Self::new(Act::Error(Arc::new(move || Box::new(make()) as AnyError), type_name::<E>()))
    }

    /// The body panics with this message.
    pub fn panic(message: impl Into<String>) -> Self {
        Self::new(Act::Panic(message.into()))
    }

    /// Strikes this share of the attempts, from 0 to 1, drawn at random; what lies outside counts as the nearer end.
    pub fn rate(self, share: f64) -> Self {
        Self(Plan { rate: if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }, ..self.0 })
    }

    /// Draws by another sequence of numbers. Without it every run of the test draws the same ones.
    pub fn seed(self, seed: u64) -> Self {
        Self(Plan { seed, ..self.0 })
    }

    /// Strikes so many attempts and no more.
    pub fn times(self, times: u64) -> Self {
        Self(Plan { times, ..self.0 })
    }

    /// Strikes calls on every runtime of the process: for a service that runs on one of its own, in a test that is alone.
    pub fn everywhere(self) -> Self {
        Self(Plan { everywhere: true, ..self.0 })
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { act, rate, seed, times, everywhere } = &self.0;
        let mut shown = f.debug_struct("Fault");
        shown.field("act", act).field("rate", rate).field("seed", seed);
        shown.field("times", times).field("everywhere", everywhere).finish()
    }
}

/// A fault that is set; lifted when this is dropped. Attempts that it has struck already stay struck.
#[must_use = "the fault is lifted when this is dropped"]
pub struct Injection(Arc<Live>);

impl Injection {
    /// How many attempts it has struck.
    pub fn struck(&self) -> u64 {
        self.0.struck()
    }
}

impl Drop for Injection {
    fn drop(&mut self) {
        self.0.lift();
    }
}

impl fmt::Debug for Injection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Injection").field("site", self.0.site()).field("struck", &self.struck()).finish()
    }
}
