//! Keeps a paused clock still while a thread of ours computes.
//!
//! A paused clock runs ahead to the next timer as soon as its runtime has nothing to do. It does not know our threads:
//! a body that computes for a millisecond would find its caller timed out by a clock that took its silence for waiting.
//! tokio stops the clock for its own blocking tasks, so with the feature `testing` one of those stands for each body that
//! is being polled or about to be, and is gone while the body rests at an await: there time may pass, and the body's own
//! sleeps end.
//!
//! A body that blocks its thread holds the clock still, as it would in the test's own task. Whoever tests *that* needs
//! real time. Without the feature all this is nothing.
//!
//! Invariant: what is held ends with the job or with its caller's leaving, whichever is first, so that no runtime waits
//! for abandoned work.

#[cfg(feature = "testing")]
mod kind {
    use std::sync::mpsc::{Sender, channel};
    use std::sync::{Mutex, PoisonError};

    use tokio::runtime::{Handle, RuntimeFlavor};

    /// Whether the clock is held, by a blocking task that ends when its channel is dropped.
    enum Hold {
        Released,
        Held { _until_dropped: Sender<()> },
        Over,
    }

    /// The clock of one job's runtime.
    pub(in super::super) struct Still {
        runtime: Option<Handle>,
        hold: Mutex<Hold>,
    }

    impl Still {
        /// Holds the clock from now on. Only a runtime of one thread can be paused.
        pub(in super::super) fn holding(runtime: Option<&Handle>) -> Self {
            let runtime = runtime.filter(|it| it.runtime_flavor() == RuntimeFlavor::CurrentThread).cloned();
            let still = Self { runtime, hold: Mutex::new(Hold::Released) };
            still.hold();
            still
        }

        /// There is something to do.
        pub(in super::super) fn hold(&self) {
            let Some(runtime) = &self.runtime else { return };
            let mut hold = self.hold.lock().unwrap_or_else(PoisonError::into_inner);
            if matches!(*hold, Hold::Released) {
                let (until_dropped, end) = channel::<()>();
                drop(runtime.spawn_blocking(move || end.recv()));
                *hold = Hold::Held { _until_dropped: until_dropped };
            }
        }

        /// There is nothing to do until the next wake-up.
        pub(in super::super) fn release(&self) {
            let mut hold = self.hold.lock().unwrap_or_else(PoisonError::into_inner);
            if matches!(*hold, Hold::Held { .. }) {
                *hold = Hold::Released;
            }
        }

        /// There will be nothing to do any more.
        pub(in super::super) fn end(&self) {
            *self.hold.lock().unwrap_or_else(PoisonError::into_inner) = Hold::Over;
        }
    }
}

#[cfg(not(feature = "testing"))]
mod kind {
    use tokio::runtime::Handle;

    /// Nothing.
    pub(in super::super) struct Still;

    #[allow(clippy::unused_self)] // as in the other kind
    impl Still {
        pub(in super::super) fn holding(_: Option<&Handle>) -> Self {
            Self
        }

        pub(in super::super) fn hold(&self) {}

        pub(in super::super) fn release(&self) {}

        pub(in super::super) fn end(&self) {}
    }
}

pub(super) use kind::Still;
