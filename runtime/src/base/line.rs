//! A line of waiters, kept by whoever holds the lock around it.
//!
//! Tickets grow, so the line is sorted by them and a waiter is found by bisection. A ticket that is not in the line has
//! been called or has left: there is no third way out. Room is reserved for the whole line up to a limit, so that
//! waiting allocates nothing either; its bound keeps it small.
//!
//! Invariants: first in, first out; no waker is woken or dropped in here, since either may run anybody's code and there
//! is a lock around this.

use std::collections::VecDeque;
use std::task::Waker;

/// A place in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

#[derive(Debug)]
struct Waiter {
    ticket: Ticket,
    waker: Waker,
}

/// Those who wait, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    all: VecDeque<Waiter>,
    next: u64,
}

/// How many places are reserved up front at most.
const RESERVED: u32 = 1_024;

impl Waiters {
    pub(crate) fn with_room_for(places: u32) -> Self {
        Self { all: VecDeque::with_capacity(places.min(RESERVED) as usize), next: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn join(&mut self, waker: Waker) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.all.push_back(Waiter { ticket, waker });
        ticket
    }

    /// Takes out the oldest waiter.
    pub(crate) fn call_next(&mut self) -> Option<Waker> {
        self.all.pop_front().map(|waiter| waiter.waker)
    }

    /// How many stand before a ticket that is in the line.
    pub(crate) fn position(&self, ticket: Ticket) -> Option<usize> {
        self.all.binary_search_by_key(&ticket, |waiter| waiter.ticket).ok()
    }

    pub(crate) fn waker_of(&mut self, ticket: Ticket) -> Option<&mut Waker> {
        let at = self.position(ticket)?;
        Some(&mut self.all[at].waker)
    }

    /// Takes a waiter out of the middle.
    pub(crate) fn leave(&mut self, ticket: Ticket) -> Option<Waker> {
        let at = self.position(ticket)?;
        self.all.remove(at).map(|waiter| waiter.waker)
    }

    /// The wakers of up to `most` waiters from a place on, to be woken outside of the lock. Each leaves a new one when it
    /// has looked around.
    pub(crate) fn take_wakers(&mut self, from: usize, most: usize) -> impl Iterator<Item = Waker> {
        let waiters = self.all.iter_mut().skip(from).take(most);
        waiters.map(|waiter| std::mem::replace(&mut waiter.waker, Waker::noop().clone()))
    }
}
