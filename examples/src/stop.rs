//! # Ending early
//!
//! An experiment that can only be killed leaves sockets, threads and half a table behind. Here ending early is an
//! ordinary event: one flag, seen by everybody who waits, after which the normal way out is taken. There is no second
//! way out to keep correct.
//!
//! Invariants:
//! * once stopped, always stopped;
//! * dropping the [`Stopper`] stops, so a piece whose owner is gone never runs on.

use tokio::sync::watch;

/// The side that says stop.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

/// The side that is told.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

/// A fresh pair.
pub fn pair() -> (Stopper, Stop) {
    let (say, hear) = watch::channel(false);
    (Stopper(say), Stop(hear))
}

impl Stopper {
    /// Stops everything that holds the other side.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Ends when stopped.
    pub async fn stopped(mut self) {
        // An error means the stopper is gone, which stops as well.
        let _ = self.0.wait_for(|stopped| *stopped).await;
    }

    /// Whether it is over already.
    pub fn is_stopped(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }
}

/// Stopped by Ctrl-C, or by the polite form of kill where there is one; listening when this returns.
pub fn on_interrupt() -> Stop {
    let (stopper, stop) = pair();
    let interrupted = interrupts();
    tokio::spawn(async move {
        interrupted.await;
        stopper.stop();
    });
    stop
}

/// Signals are claimed here, not at the first poll: one that came in between would end the process uncleanly.
#[cfg(unix)]
fn interrupts() -> impl Future<Output = ()> + Send {
    use tokio::signal::unix::{SignalKind, signal};
    let [ctrl_c, terminate] = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    async move {
        match (ctrl_c, terminate) {
            (Ok(mut ctrl_c), Ok(mut terminate)) => {
                tokio::select! {
                    _ = ctrl_c.recv() => {}
                    _ = terminate.recv() => {}
                }
            }
            // Not ours to claim: then the system's own way of ending us stays in force.
            _ => std::future::pending().await,
        }
    }
}

#[cfg(not(unix))]
async fn interrupts() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use super::pair;

    #[tokio::test]
    async fn told_once_or_abandoned_it_is_over() {
        let (stopper, stop) = pair();
        assert!(!stop.is_stopped());
        stopper.stop();
        assert!(stop.is_stopped());
        stop.stopped().await;

        let (stopper, stop) = pair();
        drop(stopper);
        assert!(stop.is_stopped());
        stop.stopped().await;
    }
}
