//! What surrounds the code that is running: deadline, attempt, call id, and the slots this chain of calls holds.
//!
//! A body must be able to ask how long it has left, and a call made inside it must inherit the answer, without either
//! passing an argument. A task-local would do at 14 ns a call; this does it for 2: the context is a few small `Copy`
//! values, swapped into a thread-local for the length of each poll and out again after it. What a future sees
//! therefore depends on where it is polled, not on where it was made: `join!` and `select!` inherit, a plain `spawn`
//! starts from nothing, `watertight::spawn` carries the deadline over by doing the same swap in the new task.
//!
//! **Held slots.** A function that holds a slot of a bulkhead and calls another function on the same bulkhead would wait
//! for itself once every slot is held that way. So the context lists the bulkheads whose slot this chain holds, and a
//! nested call borrows the slot instead of asking for another. An entry is lent to one borrower at a time; inside the
//! borrower's scope the entry is the borrower's own and shows as free again, so recursion needs no second entry. Four
//! different bulkheads deep are tracked; a fifth is not, and a call back into it waits like anyone else.
//!
//! **Limit and deadline.** A deadline is inherited: it is the caller's wish, and a call made inside heeds it. The limit of an
//! attempt is not: it is the site's own measure against its dependency, and whoever is called inside has one of its own.
//! But what leaves the process (a database's `statement_timeout`, a header) has to say when the answer stops being of
//! use, and that is whichever comes first. So the context holds both, `deadline::remaining()` reads the one, and edges
//! read [`Ambient::end`]. Without the limit, a query under `timeout = "300ms"` and no deadline would go out unbounded.
//!
//! Invariants: whatever a poll does, panic included, the context after it is the one before it, but for the lent marks of
//! entries that existed before; entries stand without gaps from the first place on; outside every scope nothing is
//! inherited.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::clock::Moment;

/// An absolute instant by which a call must end, and when it was set, so that the share used can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deadline {
    pub(crate) at: Moment,
    pub(crate) since: Moment,
}

impl Deadline {
    pub(crate) const NONE: Self = Self { at: Moment::NEVER, since: Moment::NEVER };

    #[inline]
    pub(crate) fn starting(now: Moment, nanos: u64) -> Self {
        Self { at: now.plus(nanos), since: now }
    }

    #[inline]
    pub(crate) fn is_set(self) -> bool {
        self.at != Moment::NEVER
    }

    /// The stricter of two.
    #[inline]
    pub(crate) fn tighten(self, other: Self) -> Self {
        if other.at < self.at { other } else { self }
    }

    /// How much of it is used at a moment, in tenths from 0 to 9.
    pub(crate) fn tenths_used(self, now: Moment) -> usize {
        let whole = self.at.since(self.since).max(1);
        let used = now.since(self.since).min(whole);
        (u128::from(used) * 10 / u128::from(whole)).min(9) as usize
    }
}

/// Bulkheads have numbers below this: what is left of an entry beside its holder.
pub(crate) const NUMBERS: u32 = 1 << (63 - Hold::HOLDER_BITS);

/// No call has this number.
pub(super) const REQUEST: u64 = u64::MAX;

/// How many different bulkheads a chain of nested calls can hold and still be recognised on re-entry.
const HOLDS: usize = 4;

/// A slot that this chain of calls holds: bulkhead, holder, and whether it is lent to a nested call. 0 is no entry.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Hold(u64);

impl Hold {
    const NONE: Self = Self(0);
    const LENT: u64 = 1;
    const HOLDER_BITS: u32 = 39;
    const HOLDER_MASK: u64 = (1 << Self::HOLDER_BITS) - 1;

    #[inline]
    fn new(bulkhead: u32, holder: u64) -> Self {
        Self((u64::from(bulkhead) << (Self::HOLDER_BITS + 1)) | (holder << 1))
    }

    #[inline]
    fn bulkhead(self) -> u32 {
        (self.0 >> (Self::HOLDER_BITS + 1)) as u32
    }

    #[inline]
    fn holder(self) -> u64 {
        (self.0 >> 1) & Self::HOLDER_MASK
    }

    /// Whether a call holds it, by its first attempt or by its second.
    #[cfg(feature = "futures")]
    fn is_of(self, call: u64) -> bool {
        let own = Self::HOLDER_MASK >> 1;
        self.holder() & own == call & own
    }

    #[inline]
    fn is_lent(self) -> bool {
        self.0 & Self::LENT != 0
    }

    #[inline]
    fn lent(self, lent: bool) -> Self {
        Self(self.0 & !Self::LENT | u64::from(lent))
    }
}

/// The slot a call holds (its own or a borrowed one) and whether it has lent it on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holding {
    bulkhead: u32,
    lent: bool,
    /// Held by the second attempt of a hedged one: the first may hold one of the same bulkhead.
    second: bool,
}

impl Holding {
    #[inline]
    pub(crate) fn of(bulkhead: u32) -> Self {
        Self { bulkhead, lent: false, second: false }
    }

    #[inline]
    pub(crate) fn bulkhead(self) -> u32 {
        self.bulkhead
    }

    #[inline]
    pub(crate) fn is_lent(self) -> bool {
        self.lent
    }

    /// Tells this slot from the one that the same call's first attempt holds.
    pub(crate) fn mark_second(&mut self) {
        self.second = true;
    }

    /// The tag under which the loans of a call that holds this are known: a call has two when it is hedged.
    #[inline]
    pub(crate) fn tag(self, call: u64) -> u64 {
        (call & (Hold::HOLDER_MASK >> 1)) | (u64::from(self.second) << (Hold::HOLDER_BITS - 1))
    }
}

/// What the code being polled inherits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ambient {
    pub(crate) deadline: Deadline,
    /// When the attempt that is running will be cut off, by its timeout or by its deadline.
    pub(crate) limit: Moment,
    pub(crate) call: u64,
    pub(crate) attempt: u32,
}

/// The thread's context, in parts, so that reading one does not copy the rest.
struct Here {
    deadline: Cell<Deadline>,
    limit: Cell<Moment>,
    call: Cell<u64>,
    attempt: Cell<u32>,
    holds: [Cell<Hold>; HOLDS],
    ids: Cell<(u64, u64)>,
}

thread_local! {
    static HERE: Here = const {
        Here {
            deadline: Cell::new(Deadline::NONE),
            limit: Cell::new(Moment::NEVER),
            call: Cell::new(0),
            attempt: Cell::new(0),
            holds: [const { Cell::new(Hold::NONE) }; HOLDS],
            ids: Cell::new((0, 0)),
        }
    };
}

impl Here {
    #[inline]
    fn position(&self, bulkhead: u32) -> Option<usize> {
        self.holds.iter().take_while(|hold| hold.get() != Hold::NONE).position(|hold| hold.get().bulkhead() == bulkhead)
    }

    /// The place of a bulkhead, or the first free one.
    #[inline]
    fn place(&self, bulkhead: u32) -> Option<usize> {
        self.holds.iter().position(|hold| hold.get() == Hold::NONE || hold.get().bulkhead() == bulkhead)
    }
}

impl Ambient {
    /// The context of the code that is running.
    #[inline]
    pub(crate) fn here() -> Self {
        HERE.with(|here| Self {
            deadline: here.deadline.get(),
            limit: here.limit.get(),
            call: here.call.get(),
            attempt: here.attempt.get(),
        })
    }

    /// The call of what was let in and is no call of a guarded function: a server's request.
    #[cfg(any(feature = "http", feature = "tonic"))]
    pub(crate) const REQUEST: u64 = REQUEST;

    /// Whether the code that is running belongs to a call, or to a request that was let in.
    pub(crate) fn is_inside() -> bool {
        HERE.with(|here| here.call.get()) != 0
    }

    /// The deadline around the code that is running.
    #[inline]
    pub(crate) fn deadline() -> Deadline {
        HERE.with(|here| here.deadline.get())
    }

    /// When nobody will be waiting any more for what is running: the limit of its attempt, or the deadline.
    #[cfg(any(
        test,
        feature = "futures",
        feature = "reqwest",
        feature = "sqlx",
        feature = "tokio-postgres",
        feature = "tonic"
    ))]
    pub(crate) fn end(self) -> Moment {
        self.limit.min(self.deadline.at)
    }

    /// Makes this the context until the scope ends, under the stricter of both deadlines; slots held stay visible.
    #[inline]
    pub(crate) fn enter(self) -> Scope {
        self.enter_holding(None)
    }

    /// The same for a call that holds a slot.
    #[inline]
    pub(crate) fn enter_holding(self, holding: Option<Holding>) -> Scope {
        HERE.with(|here| {
            let around = here.deadline.get();
            let limit = here.limit.get();
            let outer = Self {
                deadline: here.deadline.replace(around.tighten(self.deadline)),
                limit: here.limit.replace(limit.min(self.limit)),
                call: here.call.replace(self.call),
                attempt: here.attempt.replace(self.attempt),
            };
            let hold = holding.and_then(|holding| {
                let at = here.place(holding.bulkhead)?;
                Some((
                    at,
                    here.holds[at].replace(Hold::new(holding.bulkhead, holding.tag(self.call)).lent(holding.lent)),
                ))
            });
            Scope { outer, hold }
        })
    }

    /// Makes this the limit of what runs until the scope ends, whatever it was; all else stays.
    pub(crate) fn limited_anew(limit: Moment) -> Scope {
        HERE.with(|here| {
            let outer = Self::here();
            here.limit.set(limit);
            Scope { outer, hold: None }
        })
    }

    /// Borrows the slot this chain holds of a bulkhead, if it holds one that is not lent already: from whom.
    #[inline]
    pub(crate) fn borrow(bulkhead: u32) -> Option<u64> {
        // A bulkhead that could be given no number is not recognised again.
        if bulkhead == 0 {
            return None;
        }
        HERE.with(|here| {
            let hold = &here.holds[here.position(bulkhead)?];
            if hold.get().is_lent() {
                return None;
            }
            hold.set(hold.get().lent(true));
            Some(hold.get().holder())
        })
    }

    /// The same for the slot that the running call itself holds: of which bulkhead, and from whom.
    #[cfg(feature = "futures")]
    pub(crate) fn borrow_own() -> Option<(u32, u64)> {
        HERE.with(|here| {
            let call = here.call.get();
            let is_own = |hold: Hold| hold != Hold::NONE && hold.is_of(call);
            let hold = here.holds.iter().find(|hold| is_own(hold.get()) && !hold.get().is_lent())?;
            hold.set(hold.get().lent(true));
            Some((hold.get().bulkhead(), hold.get().holder()))
        })
    }

    /// Repays a slot to the call that lent it. False when the lender is not around: the borrower was moved out of the
    /// lender's scope, and the two have to settle through the bulkhead.
    pub(crate) fn repay(bulkhead: u32, lender: u64) -> bool {
        HERE.with(|here| {
            let Some(at) = here.position(bulkhead) else { return false };
            let hold = here.holds[at].get();
            let is_theirs = hold.holder() == lender && hold.is_lent();
            if is_theirs {
                here.holds[at].set(hold.lent(false));
            }
            is_theirs
        })
    }
}

/// Restores the outer context when dropped.
pub(crate) struct Scope {
    outer: Ambient,
    /// Where the call's slot is listed, and what stood there before.
    hold: Option<(usize, Hold)>,
}

impl Scope {
    /// Before the scope of a call that holds a slot ends: keeps the mark whether it is lent.
    #[inline]
    pub(crate) fn note_loan(&self, holding: &mut Holding) {
        if let Some((at, _)) = self.hold {
            holding.lent = HERE.with(|here| here.holds[at].get().is_lent());
        }
    }
}

impl Drop for Scope {
    #[inline]
    fn drop(&mut self) {
        HERE.with(|here| {
            here.deadline.set(self.outer.deadline);
            here.limit.set(self.outer.limit);
            here.call.set(self.outer.call);
            here.attempt.set(self.outer.attempt);
            if let Some((at, before)) = self.hold {
                here.holds[at].set(before);
            }
        });
    }
}

/// A new call's number: unique in the process, taken from blocks so that threads do not share a counter.
#[inline]
pub(crate) fn next_call() -> u64 {
    const BLOCK: u64 = 1 << 12;
    static BLOCKS: AtomicU64 = AtomicU64::new(0);
    HERE.with(|here| {
        let (mut next, mut end) = here.ids.get();
        if next == end {
            next = BLOCKS.fetch_add(1, Ordering::Relaxed) * BLOCK + 1;
            end = next + BLOCK;
        }
        here.ids.set((next + 1, end));
        next
    })
}
