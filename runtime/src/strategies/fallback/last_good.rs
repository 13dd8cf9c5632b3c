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
//! **By key.** A site with a `key` keeps one for each key, so that nobody is given another's answer. Keys are chosen by callers,
//! so there has to be a bound: the [`KEYS`] keys that had a success last are kept, and the one that had none for longest goes first.
//! It is looked up when there is something to keep or to find, and held by nobody in between: what is evicted under a call that
//! runs is missed, and no more.
//!
//! Invariants: what is served is never older than declared, and never another key's; a later success is never replaced by an
//! earlier one; nothing of the user's runs under a lock.

use std::any::{Any, TypeId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::clock::Moment;
use crate::base::table::{Forgettable, SHARDS, Shard, Table};

/// For how many keys a success is kept.
const KEYS: usize = 4_096;

/// A site's most recent success.
pub(crate) struct LastGood {
    /// The oldest that is served, in nanoseconds.
    max_age: u64,
    kept: Store,
}

enum Store {
    ForAll(Mutex<Shelf>),
    ByKey(Table<Shelf, ()>),
}

/// What is kept for one key, or for all: one per type, since a generic function is one site.
#[derive(Default)]
struct Shelf(Vec<Kept>);

struct Kept {
    of: TypeId,
    at: Moment,
    value: Arc<dyn Any + Send + Sync>,
}

impl Forgettable for Shelf {
    // Whatever its age: the bound is on the keys.
    fn is_forgettable(&self, _: u64) -> bool {
        true
    }
}

impl Shelf {
    /// Puts a success in the place of the one before, which comes back.
    fn put(&mut self, fresh: Kept) -> Option<Kept> {
        match self.0.iter_mut().find(|kept| kept.of == fresh.of) {
            Some(place) if place.at <= fresh.at => Some(std::mem::replace(place, fresh)),
            Some(_) => Some(fresh),
            None => {
                self.0.push(fresh);
                None
            }
        }
    }

    /// The success of a type and its age; or one that has grown too old, to be let go of.
    fn take_out(
        &mut self,
        of: TypeId,
        now: Moment,
        max_age: u64,
    ) -> Result<(Arc<dyn Any + Send + Sync>, u64), Option<Kept>> {
        let place = self.0.iter().position(|kept| kept.of == of).ok_or(None)?;
        let age = now.since(self.0[place].at);
        if age > max_age {
            return Err(Some(self.0.swap_remove(place)));
        }
        Ok((Arc::clone(&self.0[place].value), age))
    }
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
    pub(crate) fn new(max_age: u64) -> Self {
        Self { max_age, kept: Store::ForAll(Mutex::default()) }
    }

    /// One for each key.
    pub(crate) fn by_key(max_age: u64) -> Self {
        Self { max_age, kept: Store::ByKey(Table::keeping(KEYS / SHARDS, SHARDS, || ())) }
    }

    pub(crate) fn is_by_key(&self) -> bool {
        matches!(self.kept, Store::ByKey(_))
    }

    /// Puts a success in the place of the one before.
    pub(crate) fn keep<T: Keepable>(&self, key: u128, value: T, at: Moment) {
        let fresh = Kept { of: TypeId::of::<T>(), at, value: Arc::new(value) };
        let old = match &self.kept {
            Store::ForAll(store) => lock(store).put(fresh),
            Store::ByKey(table) => {
                let now = || 0;
                let put = |store: &mut Shard<Shelf, ()>, at| match store.both(at) {
                    Some((store, ())) => store.put(fresh),
                    None => Some(fresh),
                };
                let (place, old) = table.hold(key, || Arc::from(""), Shelf::default, now, put);
                table.let_go(place, now);
                old
            }
        };
        drop(old);
    }

    /// The most recent success and its age in nanoseconds, if it is not too old.
    pub(crate) fn find<T: Keepable>(&self, key: u128, now: Moment) -> Option<(T, u64)> {
        let look = |store: &mut Shelf| store.take_out(TypeId::of::<T>(), now, self.max_age);
        let found = match &self.kept {
            Store::ForAll(store) => look(&mut lock(store)),
            Store::ByKey(table) => table.peek(key, look)?,
        };
        // Cloned, and what is too old dropped, with no lock held.
        let (value, age) = found.ok()?;
        value.downcast_ref::<T>().map(|value| (value.clone(), age))
    }
}

fn lock(store: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    store.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn at(nanos: i64) -> Moment {
        Moment::from_raw(nanos)
    }

    #[test]
    fn the_most_recent_success_is_served_up_to_its_age_and_then_let_go() {
        let good = LastGood::new(60);
        assert_eq!(good.find::<u32>(0, at(0)), None);
        good.keep(0, 1_u32, at(10));
        good.keep(0, 2_u32, at(20));
        assert_eq!(good.find::<u32>(0, at(20)), Some((2, 0)));
        assert_eq!(good.find::<u32>(0, at(80)), Some((2, 60)), "exactly as old as it may be");
        assert_eq!(good.find::<u32>(0, at(81)), None);
        assert_eq!(good.find::<u32>(0, at(30)), None, "what was too old once is gone");
    }

    #[test]
    fn a_later_success_is_not_replaced_by_an_earlier_one_that_comes_late() {
        let good = LastGood::new(60);
        good.keep(0, "later", at(20));
        good.keep(0, "earlier", at(10));
        assert_eq!(good.find::<&str>(0, at(30)), Some(("later", 10)));
    }

    #[test]
    fn each_type_of_a_generic_function_has_a_place_of_its_own() {
        let good = LastGood::new(60);
        good.keep(0, 1_u32, at(0));
        good.keep(0, "two", at(5));
        assert_eq!(good.find::<u32>(0, at(10)), Some((1, 10)));
        assert_eq!(good.find::<&str>(0, at(10)), Some(("two", 5)));
        assert_eq!(good.find::<u64>(0, at(10)), None);
    }

    #[test]
    fn only_one_value_is_kept_however_many_there_were() {
        let (good, value) = (LastGood::new(60), Arc::new(0_u8));
        for n in 0..1_000 {
            good.keep(0, Arc::clone(&value), at(n));
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
                let Store::ForAll(store) = &self.0.kept else { return };
                assert!(store.try_lock().is_ok(), "locked");
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
        good.keep(0, Nosy(Arc::clone(&good)), at(10));
        good.keep(0, Nosy(Arc::clone(&good)), at(5));
        good.keep(0, Nosy(Arc::clone(&good)), at(20));
        assert!(good.find::<Nosy>(0, at(20)).is_some());
        assert!(good.find::<Nosy>(0, at(99)).is_none());
    }

    #[test]
    fn each_key_has_its_own_and_those_without_a_success_for_longest_go_first() {
        let good = LastGood::by_key(60);
        // Over the shards, as keys' numbers are.
        let spread = |key: u128| key << 64 | key;
        for key in 0..100_000_u128 {
            good.keep(spread(key), key, at(0));
        }
        assert_eq!(good.find::<u128>(spread(99_999), at(60)), Some((99_999, 60)));
        assert_eq!(good.find::<u128>(spread(99_999), at(61)), None);
        assert_eq!(good.find::<u128>(spread(0), at(1)), None, "long gone");
        let Store::ByKey(table) = &good.kept else { panic!("by key") };
        let census = table.census();
        assert_eq!((census.kept, census.idle), (KEYS, KEYS));
    }

    /// The same in a map: the latest of each key and type, gone once somebody finds it too old.
    #[derive(Default)]
    struct Model(HashMap<(u128, bool), (i64, u32)>);

    impl Model {
        fn keep(&mut self, place: (u128, bool), value: u32, at: i64) {
            if self.0.get(&place).is_none_or(|(before, _)| *before <= at) {
                self.0.insert(place, (at, value));
            }
        }

        fn find(&mut self, place: (u128, bool), now: i64) -> Option<(u32, u64)> {
            let (at, value) = *self.0.get(&place)?;
            let age = u64::try_from(now - at).unwrap_or(0);
            if age > 60 {
                self.0.remove(&place);
                return None;
            }
            Some((value, age))
        }
    }

    proptest! {
        #[test]
        fn what_is_served_is_what_a_map_of_latest_successes_serves(
            by_key: bool,
            steps in prop::collection::vec((any::<bool>(), 0_u128..5, any::<bool>(), 0_i64..300, any::<u32>()), 1..80),
        ) {
            let (good, mut model) = (if by_key { LastGood::by_key(60) } else { LastGood::new(60) }, Model::default());
            for (keeps, key, small, at_nanos, value) in steps {
                let place = (if by_key { key } else { 0 }, small);
                if keeps {
                    model.keep(place, value, at_nanos);
                    // Two types, so two places for one key.
                    if small { good.keep(key, value, at(at_nanos)) } else { good.keep(key, u64::from(value), at(at_nanos)) }
                } else {
                    let found = if small {
                        good.find::<u32>(key, at(at_nanos))
                    } else {
                        good.find::<u64>(key, at(at_nanos)).and_then(|(value, age)| Some((u32::try_from(value).ok()?, age)))
                    };
                    prop_assert_eq!(found, model.find(place, at_nanos));
                }
            }
        }
    }
}
