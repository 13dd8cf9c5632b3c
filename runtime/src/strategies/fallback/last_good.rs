//! The most recent success, kept for the day there is none.
//!
//! Yesterday's prices beat no prices, up to an age that only the site knows. So a site that says `last_good("60s")` keeps
//! a copy of each success in the place of the one before, and a call that fails is answered with it as long as it is
//! not older than that. Without one the call fails with its own error: a made-up answer would not be the last good one.
//!
//! **What it costs.** Every success is cloned and put in its place under a lock that is held for a pointer: the clone is
//! made before, the old value is dropped after, and answering clones from a counted reference, so no code of the user's runs under
//! it. Large answers are best returned behind an `Arc`. Memory is one value per site, and per type where the site is
//! generic; one that has grown too old is let go by the next call that asks for it.
//!
//! **Age** is counted from the moment the success was judged, and told in figures when it is served: an answer that
//! looks fresh and is not has to show somewhere.
//!
//! Keyed sites come here with their key: [`LastGood::keep`] and [`LastGood::find`] are the only two places that choose
//! which value is meant.
//!
//! Invariants: what is served is never older than declared; a later success is never replaced by an earlier one; nothing
//! of the user's runs under the lock.

use std::any::{Any, TypeId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::clock::Moment;

/// A site's most recent success.
pub(crate) struct LastGood {
    /// The oldest that is served, in nanoseconds.
    max_age: u64,
    /// One per type: a generic function is one site.
    kept: Mutex<Vec<Kept>>,
}

struct Kept {
    of: TypeId,
    at: Moment,
    value: Arc<dyn Any + Send + Sync>,
}

/// What may be kept: it is copied for each success and each time it is served, from whatever thread.
#[diagnostic::on_unimplemented(
    message = "`last_good` keeps a copy of each answer, and `{Self}` cannot be copied or does not outlive the call",
    label = "this is to be kept for another call",
    note = "it has to be `Clone + Send + Sync + 'static`; return an `Arc` of it, or name a function: `fallback = path`"
)]
pub trait Keepable: Clone + Send + Sync + 'static {}

impl<T: Clone + Send + Sync + 'static> Keepable for T {}

impl LastGood {
    pub(crate) const fn new(max_age: u64) -> Self {
        Self { max_age, kept: Mutex::new(Vec::new()) }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a success in the place of the one before.
    pub(crate) fn keep<T: Keepable>(&self, value: T, at: Moment) {
        let fresh = Kept { of: TypeId::of::<T>(), at, value: Arc::new(value) };
        let mut kept = self.kept();
        let old = match kept.iter_mut().find(|kept| kept.of == fresh.of) {
            Some(place) if place.at <= at => Some(std::mem::replace(place, fresh)),
            Some(_) => Some(fresh),
            None => {
                kept.push(fresh);
                None
            }
        };
        drop(kept);
        drop(old);
    }

    /// The most recent success and its age in nanoseconds, if it is not too old.
    pub(crate) fn find<T: Keepable>(&self, now: Moment) -> Option<(T, u64)> {
        let mut kept = self.kept();
        let place = kept.iter().position(|kept| kept.of == TypeId::of::<T>())?;
        let age = now.since(kept[place].at);
        if age > self.max_age {
            let old = kept.swap_remove(place);
            drop(kept);
            drop(old);
            return None;
        }
        let value = Arc::clone(&kept[place].value);
        drop(kept);
        value.downcast_ref::<T>().map(|value| (value.clone(), age))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: i64) -> Moment {
        Moment::from_raw(nanos)
    }

    #[test]
    fn the_most_recent_success_is_served_up_to_its_age_and_then_let_go() {
        let good = LastGood::new(60);
        assert_eq!(good.find::<u32>(at(0)), None);
        good.keep(1_u32, at(10));
        good.keep(2_u32, at(20));
        assert_eq!(good.find::<u32>(at(20)), Some((2, 0)));
        assert_eq!(good.find::<u32>(at(80)), Some((2, 60)), "exactly as old as it may be");
        assert_eq!(good.find::<u32>(at(81)), None);
        assert_eq!(good.find::<u32>(at(30)), None, "what was too old once is gone");
    }

    #[test]
    fn a_later_success_is_not_replaced_by_an_earlier_one_that_comes_late() {
        let good = LastGood::new(60);
        good.keep("later", at(20));
        good.keep("earlier", at(10));
        assert_eq!(good.find::<&str>(at(30)), Some(("later", 10)));
    }

    #[test]
    fn each_type_of_a_generic_function_has_a_place_of_its_own() {
        let good = LastGood::new(60);
        good.keep(1_u32, at(0));
        good.keep("two", at(5));
        assert_eq!(good.find::<u32>(at(10)), Some((1, 10)));
        assert_eq!(good.find::<&str>(at(10)), Some(("two", 5)));
        assert_eq!(good.find::<u64>(at(10)), None);
    }

    #[test]
    fn only_one_value_is_kept_however_many_there_were() {
        let (good, value) = (LastGood::new(60), Arc::new(0_u8));
        for n in 0..1_000 {
            good.keep(Arc::clone(&value), at(n));
        }
        assert_eq!(Arc::strong_count(&value), 2);
        drop(good);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn code_of_the_users_never_runs_under_the_lock() {
        /// Looks into the store it lies in whenever it is copied or dropped.
        struct Nosy(Arc<LastGood>);
        impl Nosy {
            fn look(&self) {
                assert!(self.0.kept.try_lock().is_ok(), "locked");
            }
        }
        impl Clone for Nosy {
            fn clone(&self) -> Self {
                self.look();
                Self(Arc::clone(&self.0))
            }
        }
        impl Drop for Nosy {
            fn drop(&mut self) {
                self.look();
            }
        }
        let good = Arc::new(LastGood::new(60));
        good.keep(Nosy(Arc::clone(&good)), at(10));
        good.keep(Nosy(Arc::clone(&good)), at(5));
        good.keep(Nosy(Arc::clone(&good)), at(20));
        assert!(good.find::<Nosy>(at(20)).is_some());
        assert!(good.find::<Nosy>(at(99)).is_none());
    }
}
