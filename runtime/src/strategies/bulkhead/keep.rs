//! A slot that outlives its call: kept by what the call returned.
//!
//! A call gives its slot back when its body returns, and what it returned may be a stream that has all its work before it. To keep the
//! slot for that, the stream borrows it like a nested call does, from inside the body ([`Keep::of_this_call`]). When the
//! call ends, its guard finds the slot out on loan, and leaves it to whoever has it.
//!
//! A nested call knows the compartment it borrows from; a stream is told no more than a number by the context. So the two meet
//! here, in a list that is looked at where a slot is kept or where a loan outlives its lender, and never else: the call leaves its
//! guard in the list, and the stream drops it when it has ended. If the stream ended first, in another task, the call finds that and
//! gives the slot back itself.
//!
//! Invariants: a kept slot is given back once, by the call or by the stream; a key's compartment is held as long as its slot is kept; no
//! guard is dropped under the list's lock.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::guard::Held;
use super::home::Home;
use crate::call::context::{Ambient, Holding, Scope};

/// A compartment's number and the tag of the call whose slot it is.
type Loan = (u32, u64);

/// How far a loan has come.
#[derive(Debug)]
enum Stage {
    /// The call is running.
    CallRuns,
    /// The call has ended and left its slot.
    Left(Left),
    /// The stream has ended, and the call will find that.
    StreamEnded,
}

fn loans() -> MutexGuard<'static, BTreeMap<Loan, Stage>> {
    static LOANS: Mutex<BTreeMap<Loan, Stage>> = Mutex::new(BTreeMap::new());
    LOANS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The slot of a call that has ended, and its key's compartment.
#[derive(Debug)]
struct Left {
    held: Option<Held>,
    home: Home,
}

impl Drop for Left {
    fn drop(&mut self) {
        self.held = None;
        self.home.let_go();
    }
}

/// The slot of the call it was made in, until it is dropped.
#[derive(Debug)]
pub(crate) struct Keep(Loan);

impl Keep {
    /// Keeps the slot of the call whose body is running, if it has one that is not lent.
    pub(crate) fn of_this_call() -> Option<Self> {
        let loan = Ambient::borrow_own()?;
        loans().insert(loan, Stage::CallRuns);
        Some(Self(loan))
    }

    /// Makes the slot one that nested calls can borrow, if the call around it is over; until then it is that call's.
    pub(crate) fn enter(&self, context: Ambient) -> Inside<'_> {
        let holding = match loans().get(&self.0) {
            Some(Stage::Left(left)) => left.held.as_ref().map(|held| held.holding),
            _ => None,
        };
        Inside { keep: self, scope: context.enter_holding(holding), holding }
    }
}

impl Drop for Keep {
    fn drop(&mut self) {
        // Inside the body that it was made in, it is a loan like any other.
        let (compartment, call) = self.0;
        let is_repaid = Ambient::repay(compartment, call);
        let mut loans = loans();
        let ended = match loans.remove(&self.0) {
            Some(Stage::CallRuns) if !is_repaid => loans.insert(self.0, Stage::StreamEnded),
            other => other,
        };
        drop(loans);
        drop(ended);
    }
}

/// The time in which what has the slot is polled.
pub(crate) struct Inside<'a> {
    keep: &'a Keep,
    scope: Scope,
    holding: Option<Holding>,
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let Some(mut holding) = self.holding else { return };
        self.scope.note_loan(&mut holding);
        if let Some(Stage::Left(Left { held: Some(held), .. })) = loans().get_mut(&self.keep.0) {
            held.holding = holding;
        }
    }
}

/// Who has a slot that is out on loan when its call ends.
pub(super) enum Found {
    /// A stream, to which the slot is left.
    Running,
    /// A stream that has ended: the slot is the call's again.
    Ended,
    /// No stream.
    Nobody,
}

/// A call ends with its slot out on loan: leaves it, as the guard that `held` makes, to the stream that keeps it, if one does.
pub(super) fn leave(loan: Loan, home: Home, held: impl FnOnce() -> Held) -> Found {
    let mut loans = loans();
    match loans.get_mut(&loan) {
        Some(stage @ Stage::CallRuns) => {
            home.hold();
            *stage = Stage::Left(Left { held: Some(held()), home });
            Found::Running
        }
        Some(Stage::StreamEnded) => {
            loans.remove(&loan);
            Found::Ended
        }
        Some(Stage::Left(_)) | None => Found::Nobody,
    }
}
