//! Bodies that run on threads of their own.
//!
//! Nothing in the line changes for them: the slot is asked for at the bulkhead's place, and what is polled at the body's
//! place is the ticket of a body that is polled elsewhere. Dropping the ticket, as every strategy that ends a body early
//! drops the body, is what tells it to stop. Only the slot takes another way. It leaves the call and travels with the
//! body, since it may be given back long after the call has ended; so a call of this kind comes in two steps, [`enter`]
//! for the slot and then the attempt.
//!
//! A bulkhead beside `isolate` is refused by the attribute. It would be a second queue with a second wait in front of the
//! same body, and of two bounds on one thing the smaller one holds and the other misleads. Two functions that call each
//! other have both.
//!
//! Invariants: a slot of threads is only ever held by a call until its body is made; a refusal speaks of threads where
//! threads are what is missing.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::Compartment;
use super::call::Call;
use super::gate::Gate;
use crate::call::context::{Ambient, Holding};
use crate::strategies::bulkhead::Held;
use crate::strategies::isolate::{self, Here, Ticket, Workers};

/// Takes what an attempt needs before its body is made.
#[inline]
pub fn enter<'a>(call: &'a mut Pin<&mut Call>) -> Entering<'a> {
    Entering { call: call.as_mut() }
}

/// The future of [`enter`].
#[must_use = "futures do nothing unless awaited"]
pub struct Entering<'a> {
    call: Pin<&'a mut Call>,
}

/// What [`enter`] came to.
#[derive(Debug)]
pub enum Entered {
    /// The body may be made.
    Seat(Seat),
    /// Refused for good; the call knows why.
    Refused,
    /// A pause is over, ask again.
    Again,
}

impl Future for Entering<'_> {
    type Output = Entered;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Entered> {
        Poll::Ready(match ready!(self.call.as_mut().poll_gate(cx)) {
            Gate::Run => Entered::Seat(self.call.as_mut().take_seat()),
            Gate::Refused => Entered::Refused,
            Gate::Again => Entered::Again,
        })
    }
}

/// A slot on its way to the thread it stands for, with what the body inherits.
#[derive(Debug)]
pub struct Seat {
    held: Option<Held>,
    workers: Option<&'static Workers>,
    context: Ambient,
}

impl Call {
    fn take_seat(self: Pin<&mut Self>) -> Seat {
        let context = self.as_ref().context();
        let this = self.project();
        let workers = this.pipeline.bulkhead.as_ref().and_then(Compartment::workers);
        Seat { held: this.standing.take_held(), workers, context }
    }
}

impl isolate::Seat for Held {
    fn holding(&mut self) -> &mut Holding {
        &mut self.holding
    }
}

/// A body on a thread of its own, or, called from such a thread, on the one it is on.
#[must_use = "futures do nothing unless awaited"]
pub struct Isolated<F: Future>(Place<F>);

/// Where a body is polled.
enum Place<F: Future> {
    /// Nowhere yet. In tests a body goes to its thread at the first poll, which never comes where a fault has struck it.
    #[cfg(feature = "testing")]
    Unsent(Option<Box<dyn FnOnce() -> Self + Send>>),
    /// On its thread.
    There(Ticket<F::Output>),
    /// Here, in the slot of the call around it.
    Here(Here<F, Held>),
    /// Here, for a site without threads, which no declaration that comes this way is.
    Bare(Pin<Box<F>>),
}

/// Gives a body to its thread.
pub fn isolated<F>(seat: Seat, body: F) -> Isolated<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    #[cfg(feature = "testing")]
    let place = Place::Unsent(Some(Box::new(|| send(seat, body))));
    #[cfg(not(feature = "testing"))]
    let place = send(seat, body);
    Isolated(place)
}

fn send<F>(seat: Seat, body: F) -> Place<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    match (seat.held, seat.workers) {
        (Some(held), Some(workers)) if !held.is_borrowed() => Place::There(workers.submit(seat.context, held, body)),
        (Some(held), _) => Place::Here(Here::new(seat.context, held, body)),
        (None, _) => Place::Bare(Box::pin(body)),
    }
}

impl<F: Future> Unpin for Isolated<F> {}

impl<F: Future> Future for Isolated<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let place = &mut self.get_mut().0;
        #[cfg(feature = "testing")]
        if let Place::Unsent(send) = place
            && let Some(send) = send.take()
        {
            *place = send();
        }
        match place {
            #[cfg(feature = "testing")]
            Place::Unsent(_) => Poll::Pending,
            Place::There(ticket) => Pin::new(ticket).poll(cx),
            Place::Here(here) => Pin::new(here).poll(cx),
            Place::Bare(body) => body.as_mut().poll(cx),
        }
    }
}
