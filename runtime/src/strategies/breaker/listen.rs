//! Who is told of changes of state.
//!
//! A listener is somebody's code: it may log, page a colleague, lock whatever it likes, or reset the very breaker it hears
//! about. So it is never called under a breaker's lock. Yet two changes must not overtake each other on their way out: who
//! hears "closed" before "open" believes the opposite of what holds. Therefore a change is put into the breaker's outbox
//! under the lock, and one thread at a time empties it: whoever finds it unattended. A change made meanwhile, by another
//! thread or by the listener itself, waits for that thread and is told after the one before it.
//!
//! A panic in a listener is that listener's: it is caught (the panic hook has reported it by then), the others are told
//! all the same, and so is the same listener of the next change. The call that happened to change the state goes on.
//!
//! Invariants: no lock is held while a listener runs; one breaker's changes are told one at a time, in the order in which
//! they happened; a listener sees every change made after it was registered.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock};

use super::change::Change;
use crate::call::trace;

type Told = dyn Fn(&Change) + Send + Sync;

struct Listener {
    /// `None`: of every breaker.
    name: Option<String>,
    tell: Arc<Told>,
}

impl Listener {
    fn hears(&self, name: &str) -> bool {
        self.name.as_deref().is_none_or(|own| own == name)
    }
}

static LISTENERS: RwLock<Vec<Listener>> = RwLock::new(Vec::new());

/// Calls `listener` after every change of state of the breakers of a name, for as long as the process lives.
///
/// A shared breaker has the name its declarations give it, a function's own breaker the function's name; it need not have
/// been reached by a call yet. Register at start-up: there is no way to take a listener away again.
///
/// The listener is called on the thread that caused the change, or on the one that is just telling the change before it,
/// with no lock held, and one breaker's changes come one at a time and in order. It should be quick: a call is waiting
/// for it. If it panics, the panic ends there.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use std::sync::mpsc::channel;
/// use watertight::{breaker, resilient};
///
/// #[resilient(breaker(window = 2, failures = "50%"))]
/// async fn rates(well: bool) -> Result<(), watertight::Error> {
///     # let error = || watertight::deadline::within(std::time::Duration::from_nanos(1), std::future::pending::<()>());
///     if well { Ok(()) } else { Err(error().await.unwrap_err()) }
/// }
///
/// let (tell, told) = channel();
/// breaker::on_change("rates", move |change| { let _ = tell.send(change.to_string()); });
/// rates(true).await.unwrap();
/// rates(false).await.unwrap_err();
/// assert_eq!(told.recv().unwrap(), "breaker `rates` went from closed to open: 1 of 2 failed, 0 were slow");
/// # }
/// ```
pub fn on_change(name: impl Into<String>, listener: impl Fn(&Change) + Send + Sync + 'static) {
    register(Listener { name: Some(name.into()), tell: Arc::new(listener) });
}

/// Like [`on_change`], for every breaker there is or will be.
pub fn on_any_change(listener: impl Fn(&Change) + Send + Sync + 'static) {
    register(Listener { name: None, tell: Arc::new(listener) });
}

fn register(listener: Listener) {
    LISTENERS.write().unwrap_or_else(PoisonError::into_inner).push(listener);
}

fn anybody_hears(name: &str) -> bool {
    trace::is_on()
        || LISTENERS.read().unwrap_or_else(PoisonError::into_inner).iter().any(|listener| listener.hears(name))
}

/// Tells everyone concerned.
pub(super) fn tell(change: &Change) {
    let Change { name, from, to, cause, .. } = change;
    trace::breaker_changed(name, [from.as_str(), to.as_str(), cause.as_str()], change);
    let listeners = LISTENERS.read().unwrap_or_else(PoisonError::into_inner);
    let concerned: Vec<_> =
        listeners.iter().filter(|it| it.hears(change.name)).map(|listener| Arc::clone(&listener.tell)).collect();
    drop(listeners);
    for tell in concerned {
        let _ = catch_unwind(AssertUnwindSafe(|| tell(change)));
    }
}

/// The changes of one breaker that have not been told yet.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: VecDeque<Change>,
    attended: bool,
}

impl Outbox {
    /// Puts a change in, if anybody is to hear of it. True when the calling thread has to empty the box.
    pub(super) fn put(&mut self, change: Change) -> bool {
        if !anybody_hears(change.name) {
            return false;
        }
        self.waiting.push_back(change);
        !std::mem::replace(&mut self.attended, true)
    }

    /// The next to be told; with the last one gone, whoever emptied the box is done.
    pub(super) fn take(&mut self) -> Option<Change> {
        let next = self.waiting.pop_front();
        self.attended = next.is_some();
        next
    }
}
