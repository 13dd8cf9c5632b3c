//! The task in which an attempt runs on.
//!
//! Invariants: it ends at the cap, whatever the body does, as soon as it gives its thread back; the body is polled and
//! dropped inside its own context; its place is given back however the task ends.

use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tokio::runtime::Handle;
use tokio::sync::futures::Notified;
use tokio::task::unconstrained;
use tokio::time::{Sleep, sleep_until};

use super::Tail;
use super::body::Released;
use crate::base::clock::Moment;
use crate::call::ObservedFate;
use crate::call::context::{Ambient, Deadline};
use crate::call::tally::Tally;

/// An attempt at its limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CutOff {
    pub(crate) started_at: Moment,
    /// How long it may run in all, in nanoseconds.
    pub(crate) cap: u64,
    /// Nanoseconds it had run.
    pub(crate) ran: u64,
    /// What its body inherits.
    pub(crate) context: Ambient,
}

impl Tail {
    /// Lets a body run on, if there is a place, a runtime, and no end in sight; drops it otherwise.
    #[cold]
    pub(crate) fn watch(&self, tally: &'static Tally, body: Released, cut: CutOff) {
        let until = cut.started_at.plus(cut.cap);
        let context = Ambient { deadline: Deadline { at: until, since: cut.started_at }, limit: until, ..cut.context };
        let handle = Handle::try_current().ok().filter(|_| tally.intake.is_open());
        let Some(handle) = handle.filter(|_| tally.beyond.begin(self.config.most())) else {
            let _scope = cut.context.enter();
            drop(body);
            return;
        };
        // Whatever happens from here on, the place is given back: by its Drop.
        let watch = Watch {
            body: Some(body),
            cap: sleep_until(until.to_instant()),
            stop: tally.beyond.stopped(),
            context,
            tally,
            started_at: cut.started_at,
            from: cut.ran,
            polling: false,
            has_ended: false,
        };
        drop(handle.spawn(watch));
    }
}

pin_project! {
    /// A body that runs on.
    struct Watch {
        body: Option<Released>,
        #[pin]
        cap: Sleep,
        #[pin]
        stop: Notified<'static>,
        context: Ambient,
        tally: &'static Tally,
        started_at: Moment,
        from: u64,
        polling: bool,
        has_ended: bool,
    }

    impl PinnedDrop for Watch {
        fn drop(this: Pin<&mut Self>) {
            let fate = if this.polling { ObservedFate::Panicked } else { ObservedFate::Stopped };
            this.end(fate);
        }
    }
}

impl Watch {
    fn end(self: Pin<&mut Self>, fate: ObservedFate) {
        let this = self.project();
        if std::mem::replace(this.has_ended, true) {
            return;
        }
        // Before the body is dropped, which may panic, too.
        this.tally.beyond.end(fate, *this.from, Moment::now().since(*this.started_at));
        let _scope = this.context.enter();
        drop(this.body.take());
    }
}

impl Future for Watch {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.as_mut().project();
        let Some(body) = this.body.as_mut() else { return Poll::Ready(()) };
        *this.polling = true;
        let scope = this.context.enter();
        let polled = body.as_mut().poll_end(cx);
        drop(scope);
        *this.polling = false;
        let fate = match polled {
            Poll::Ready(false) => ObservedFate::Answered,
            Poll::Ready(true) => ObservedFate::Failed,
            // Unconstrained: a body that eats the task's cooperative budget must not keep its own end from coming.
            Poll::Pending if Pin::new(&mut unconstrained(this.stop)).poll(cx).is_ready() => ObservedFate::Stopped,
            Poll::Pending if Pin::new(&mut unconstrained(this.cap)).poll(cx).is_ready() => ObservedFate::Capped,
            // It may have begun to stop before this was listened to.
            Poll::Pending if !this.tally.intake.is_open() => ObservedFate::Stopped,
            Poll::Pending => return Poll::Pending,
        };
        self.end(fate);
        Poll::Ready(())
    }
}
