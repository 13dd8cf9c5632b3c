//! Figures from outside the code: a file, the environment, and overrides while the process runs.
//!
//! A timeout in an attribute is a guess of the day it was written. The day it turns out wrong, nobody wants to build and
//! deploy a binary first. So every figure of every attribute can be set from outside, in place, without losing a waiter, a
//! slot, a breaker's state or a count; and everything that is set says where it was set.
//!
//! | file | what it is |
//! |---|---|
//! | `address` | where a setting stands: scope and key |
//! | `keys`, `read`, `value` | the keys there are, their forms and readers, what they read |
//! | `merged` | all sources as one: which source, which scope |
//! | `effective`, `figure` | what they make of a declaration, and of a name |
//! | `judge`, `nearest`, `mistake` | whether it makes sense in this binary, and the sentence where it does not |
//! | `store` | what is set now, and who has to hear of a change |
//! | `live` | overrides, their ends, the record |
//! | `outside`, `watch` | a file and the environment; the file under watch (feature `settings`) |
//! | `report` | what is set, with its origin; the way back into the code |
//!
//! Nothing is read, watched or listened to unless somebody asks for it.
//!
//! Invariants: what is wrong changes nothing; a change is in force for the next attempt of every function, and nobody who
//! waits or runs is lost over it; every value in force has an origin.

mod address;
mod effective;
mod figure;
mod judge;
mod keys;
mod live;
mod merged;
mod mistake;
mod nearest;
mod origin;
#[cfg(feature = "settings")]
mod outside;
mod read;
mod report;
mod store;
#[cfg(all(test, not(watertight_loom)))]
mod tests;
mod value;
#[cfg(feature = "settings")]
mod watch;

pub use live::{Act, Override, record, revert, revert_all};
pub use mistake::{Mistake, Mistakes};
pub use origin::{Lease, Origin};
#[cfg(feature = "settings")]
pub use outside::{Outside, load};
pub use report::{InForce, SiteInForce, in_force, patch};
pub use store::rejected;
#[cfg(feature = "settings")]
pub use watch::{Watching, watch};

pub(crate) use effective::{allowance, effective, figures, limits, rules, threads};
pub(crate) use merged::Merged;
#[cfg(feature = "dashboard")]
pub(crate) use merged::path_of;
pub(crate) use report::all_effective;
#[cfg(feature = "dashboard")]
pub(crate) use report::{address_in_force, of_site, patch_of};
pub(crate) use store::{Subject, current, enrol, enrol_names};
pub(crate) use value::Force;

/// Whether a value is one that a key of a function, or of a name (`bulkhead.slots`), can have.
pub(crate) fn reads(key: &str, value: &str) -> bool {
    let of_name =
        key.split_once('.').and_then(|(kind, key)| keys::Key::find(address::Scope::named(kind, "")?.of(), key));
    let found = keys::Key::find(keys::Of::Function, key).or(of_name);
    found.is_some_and(|key| (key.read)(&value::Raw::word(value)).is_ok())
}
