//! Which attempt of which call is running, for whoever has to tell another system.
//!
//! Invariants: a call has one id over all its attempts; no two calls of any two processes have the same.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use super::context::{Ambient, REQUEST};

/// Identifies one call, the same over all its attempts, different from every other call of any process.
///
/// Shown as 32 hexadecimal digits; fit to be an idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(u128);

impl CallId {
    #[inline]
    pub(crate) fn of(call: u64) -> Self {
        // The process's half: the standard library's hasher is seeded from the system's randomness.
        static PROCESS: OnceLock<u64> = OnceLock::new();
        let process = *PROCESS.get_or_init(|| RandomState::new().hash_one(std::process::id()));
        Self((u128::from(process) << 64) | u128::from(call))
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The number of the attempt that is running: 0 for the first. 0 outside every guarded function.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use watertight::resilient;
///
/// #[resilient(retry = 2)]
/// async fn third_time_lucky() -> Result<u32, std::io::Error> {
///     match watertight::attempt() {
///         2 => Ok(2),
///         _ => Err(std::io::Error::other("not yet")),
///     }
/// }
///
/// assert_eq!(third_time_lucky().await.unwrap(), 2);
/// assert_eq!(watertight::attempt(), 0);
/// # }
/// ```
pub fn attempt() -> u32 {
    Ambient::here().attempt
}

/// The call that is running, the same over all its attempts; `None` outside every guarded function.
///
/// A write that may be retried sends it along, so that the other side can tell a repetition from a second order.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use watertight::resilient;
///
/// #[resilient(timeout = "1s")]
/// async fn key() -> Result<String, watertight::Error> {
///     Ok(watertight::call_id().expect("inside a call").to_string())
/// }
///
/// assert_eq!(key().await.unwrap().len(), 32);
/// assert_eq!(watertight::call_id(), None);
/// # }
/// ```
pub fn call_id() -> Option<CallId> {
    match Ambient::here().call {
        0 | REQUEST => None,
        call => Some(CallId::of(call)),
    }
}
