//! The strategies in line, in the one order there is.
//!
//! ```text
//!   fallback( deadline( retry( breaker( rate limit( bulkhead( timeout( body )))))))
//! ```
//!
//! Each neighbour stands where it stands for a reason:
//!
//! - **fallback outermost**, since it answers for every refusal and must run with nothing held;
//! - **deadline outside retry**, so that all attempts share one clock;
//! - **retry outside everything an attempt takes**, so that no slot is held in a pause and each attempt asks anew;
//! - **breaker outside bulkhead**, so that an open breaker takes no slot, and a full bulkhead, which is our doing, does
//!   not look like a failing dependency;
//! - **rate outside bulkhead**, so that a call which comes too often takes no place in a queue; its token comes back when
//!   there is no slot;
//! - **bulkhead outside timeout**, so that waiting for a slot is bounded apart from the work, and the slot is taken
//!   before the body can take a pooled connection;
//! - **timeout innermost**, one per attempt, dropping the body where it stands.
//!
//! The order is fixed, whatever order the attribute's keys are written in: other libraries let users choose and then
//! warn them about the choice.
//!
//! [`answer`](mod@answer) asks the fallback, and [`terms`] says whether it is asked. [`run`] drives one attempt after another, [`race`] one that may be hedged, [`call`] is the guard that holds everything a
//! call takes, [`build`] turns a declaration into live parts once, at the first call, [`live`] holds what settings change of them, and [`floor`] estimates what a function can finish in. [`observe`]
//! is for strategies that decide and do nothing, [`tail`](mod@tail) for attempts that are left running at their limit.
//!
//! Invariants: a stage calls only the next; down goes one context, up comes one outcome; everything taken is a guard;
//! the path of a call takes no lock that is held across an await, and looks up no name.

mod after;
mod answer;
mod beside;
mod build;
mod call;
mod compartment;
mod end;
mod floor;
mod gate;
mod isolated;
mod keyed;
mod kind;
mod last_good;
mod live;
mod observe;
mod observer;
mod race;
mod run;
mod seldom;
mod standing;
mod tail;
mod terms;
mod throttle;

pub use answer::{answer, answer_unrefused, attempt_or, fall_back, fall_back_on, once_or, settle};
pub use call::Call;
pub(crate) use call::Start;
pub use end::{CarriesRefusals, End, Passes, PassesRefusals, Refusable};
pub use isolated::{Entered, enter, isolated};
pub use keyed::Key;
pub use kind::{Choice, Kind, Returned, asking};
pub use last_good::last_good;
pub use race::race;
pub use run::{attempt, once};
pub use tail::{errors_of, judged, judging, tail};
pub use terms::{Carrier, Carries, CarriesNothing, Terms, bounded, pass, pass_unrefused, weigh, weigh_on};

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::base::sync::Mutex;
use crate::call::Identity;
use crate::call::tally::Tally;
use crate::declaration::Declaration;
use crate::strategies::breaker::{Breaker, Causes};
use crate::strategies::rate::Rate;
use crate::strategies::tail::Tail;
use crate::strategies::{hedge, retry};
use compartment::Compartment;
use floor::Floor;
use live::Live;
pub(crate) use live::Switches;
use observer::Observer;
use terms::Answerer;

/// A site's strategies, resolved and live. Lengths are in nanoseconds.
pub(crate) struct Pipeline {
    pub(crate) declared: &'static Declaration,
    pub(crate) identity: &'static Identity,
    pub(crate) tally: &'static Tally,
    /// What settings may change.
    pub(crate) live: Live,
    /// What could be switched on here at all.
    can_do: u32,
    pub(crate) retry: Option<Retries>,
    /// Boxed, since few sites have it.
    pub(crate) hedge: Option<Box<hedge::Pace>>,
    /// What retries and hedges are paid from.
    pub(crate) budget: Option<&'static retry::Budget>,
    pub(crate) breaker: Option<&'static Breaker>,
    /// What this site counts against the dependency.
    pub(crate) faults: Causes,
    pub(crate) rate: Option<Throttle>,
    /// The bulkhead, or the one that stands in front of the site's own threads.
    pub(crate) bulkhead: Option<Compartment>,
    /// Which attempts are left running at their limit; boxed, since few sites have it.
    pub(crate) tail: Option<Box<Tail>>,
    /// Whether there is a place for a refusal: in its answer, or in front of a fallback.
    pub(crate) can_say_so: bool,
    /// Whether a thread waits for its calls, instead of a task.
    pub(crate) plain: bool,
    /// What there is to a fallback beside the function that answers.
    pub(crate) fallback: Option<Box<Answerer>>,
    floor: Floor,
    is_enrolled: AtomicBool,
    /// The strategies that only observe, once there are any.
    observer: OnceLock<Observer>,
}

/// A rate and how long this site waits for a token.
pub(crate) struct Throttle {
    pub(crate) rate: &'static Rate,
    pub(crate) wait: AtomicU64,
    /// Whether each key has a bucket of its own.
    pub(crate) keyed: bool,
}

/// Retries and their budget.
pub(crate) struct Retries {
    pub(crate) config: Mutex<retry::Config>,
    pub(crate) budget: Option<&'static retry::Budget>,
}

impl Throttle {
    /// How long a caller waits for a token, in nanoseconds.
    #[inline]
    pub(crate) fn patience(&self) -> u64 {
        self.wait.load(Ordering::Relaxed)
    }
}
