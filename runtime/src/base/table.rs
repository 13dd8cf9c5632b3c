//! A value for each key that is in use, and for a few that lately were.
//!
//! Keys are chosen by callers: tenants, users, addresses. There is no end of them, so a table that keeps what it has seen
//! grows until the process dies, and one that throws things away must not throw away what somebody is using. So a value is
//! *held*: whoever uses it says so before and takes it back after, and only what nobody holds can go.
//!
//! **Short locks, and many.** The table is cut into shards by the key's number, each under a lock of its own that is held for
//! a look-up and a change of a few words: no user code runs under it, nothing waits under it. Looking a key up and
//! beginning to hold it is one step under that lock, and so is finding that nobody holds it and taking it out: an eviction
//! cannot meet an entry half-way.
//!
//! **No sweep.** An unheld value goes to the end of its shard's list of idle ones. When that is longer than it may be, whoever
//! lets go of a value, or makes a new one, takes out the oldest, two at most. So there is no task, no timer and no pause
//! that grows with the number of keys, and a million keys that were in use at once are gone when the last of them is let go
//! of. A value that is not worth forgetting yet (a bucket that would be full again) stays, and those behind it, until later.
//!
//! **A key is a number of 128 bits** ([`super::number`]), not compared with anything.
//!
//! **Places.** A held value is found by its place, without the key. Values move only while nobody holds them, when a shard
//! that has emptied gives its memory back.
//!
//! **Values may be the user's.** What is evicted is dropped when the lock has been let go of.
//!
//! Invariants: what is held is never evicted and never moves; in each shard at most [`KEPT`] idle values, or as many as the
//! table says, more than are not worth forgetting yet; memory follows the number of values.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

pub(crate) use super::place::Place;
use super::place::Same;
use super::sync::{Apart, Mutex};
use super::top::{Counted, Top};

/// How many idle values a shard keeps, unless its table says otherwise.
pub(crate) const KEPT: usize = 16;

/// How many shards there are where they need not be one.
pub(crate) const SHARDS: usize = 32;

/// How many keys a shard counts apart; alone, it counts more.
const COUNTED: u8 = 16;
const COUNTED_ALONE: u8 = 64;

const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Entry<V> {
    id: u128,
    holders: u32,
    // Its neighbours among the idle ones.
    older: u32,
    newer: u32,
    // Where it was counted last.
    seen_at: u8,
    refused_at: u8,
    shown: Arc<str>,
    value: V,
}

/// A part of the table, while its lock is held. `S` is what the values of a shard share.
#[derive(Debug)]
pub(crate) struct Shard<V, S> {
    by_id: HashMap<u128, u32, BuildHasherDefault<Same>>,
    entries: Vec<Option<Entry<V>>>,
    free: Vec<u32>,
    oldest: u32,
    newest: u32,
    idle: usize,
    // How many of those stay.
    kept: usize,
    seen: Top,
    refused: Top,
    pub(crate) shared: S,
}

/// What can be done with a value that nobody holds.
pub(crate) trait Forgettable {
    /// Whether one made anew would be as good.
    fn is_forgettable(&self, now: u64) -> bool;
}

/// A value for each key.
#[derive(Debug)]
pub(crate) struct Table<V, S> {
    shards: Box<[Locked<V, S>]>,
}

/// A shard under its lock, on cache lines of its own.
type Locked<V, S> = Apart<Mutex<Shard<V, S>>>;

/// How full a table is, and what it has counted.
#[derive(Debug, Default)]
pub(crate) struct Census {
    /// Values there are.
    pub(crate) kept: usize,
    /// Those that nobody holds.
    pub(crate) idle: usize,
    pub(crate) seen: Vec<Counted>,
    pub(crate) refused: Vec<Counted>,
}

impl<V, S> Shard<V, S> {
    fn new(counted: u8, kept: usize, shared: S) -> Self {
        Self {
            by_id: HashMap::default(),
            entries: Vec::new(),
            free: Vec::new(),
            oldest: NONE,
            newest: NONE,
            idle: 0,
            kept,
            seen: Top::with(counted),
            refused: Top::with(counted),
            shared,
        }
    }

    fn entry(&mut self, at: u32) -> Option<&mut Entry<V>> {
        self.entries.get_mut(at as usize)?.as_mut()
    }

    /// A value and what it shares.
    pub(crate) fn both(&mut self, at: u32) -> Option<(&mut V, &mut S)> {
        let entry = self.entries.get_mut(at as usize)?.as_mut()?;
        Some((&mut entry.value, &mut self.shared))
    }

    pub(crate) fn values(&mut self) -> impl Iterator<Item = (u32, &mut V)> {
        let entries = self.entries.iter_mut().zip(0..);
        entries.filter_map(|(entry, at)| entry.as_mut().map(|entry| (at, &mut entry.value)))
    }

    pub(crate) fn count_refused(&mut self, at: u32) {
        if let Some(entry) = self.entries.get_mut(at as usize).and_then(Option::as_mut) {
            self.refused.count(entry.id, &entry.shown, &mut entry.refused_at);
        }
    }

    /// Holds a value that is there.
    fn hold(&mut self, id: u128) -> Option<u32> {
        let at = *self.by_id.get(&id)?;
        let entry = self.entries[at as usize].as_mut()?;
        self.seen.count(id, &entry.shown, &mut entry.seen_at);
        entry.holders += 1;
        if entry.holders == 1 {
            self.unlink(at);
        }
        Some(at)
    }

    fn insert(&mut self, id: u128, shown: Arc<str>, value: V) -> u32 {
        let mut entry = Entry { id, holders: 1, older: NONE, newer: NONE, seen_at: 0, refused_at: 0, shown, value };
        self.seen.count(id, &entry.shown, &mut entry.seen_at);
        let at = self.free_place();
        self.entries[at as usize] = Some(entry);
        self.by_id.insert(id, at);
        at
    }

    /// A place nobody has. Those that are listed may have gone with the end of the list, or be taken since.
    fn free_place(&mut self) -> u32 {
        while let Some(free) = self.free.pop() {
            if self.entries.get(free as usize).is_some_and(Option::is_none) {
                return free;
            }
        }
        self.entries.push(None);
        u32::try_from(self.entries.len() - 1).unwrap_or(NONE)
    }

    /// Takes a value out of the line of idle ones.
    fn unlink(&mut self, at: u32) {
        let Some(entry) = self.entry(at) else { return };
        let (older, newer) = (std::mem::replace(&mut entry.older, NONE), std::mem::replace(&mut entry.newer, NONE));
        match self.entry(older) {
            Some(entry) => entry.newer = newer,
            None => self.oldest = newer,
        }
        match self.entry(newer) {
            Some(entry) => entry.older = older,
            None => self.newest = older,
        }
        self.idle -= 1;
    }

    fn link(&mut self, at: u32) {
        let newest = std::mem::replace(&mut self.newest, at);
        match self.entry(newest) {
            Some(entry) => entry.newer = at,
            None => self.oldest = at,
        }
        if let Some(entry) = self.entry(at) {
            entry.older = newest;
        }
        self.idle += 1;
    }
}

impl<V: Forgettable, S> Shard<V, S> {
    /// Takes out the oldest idle values, if there are too many, to be dropped by whoever holds the lock.
    fn forget(&mut self, gone: &mut [Option<Entry<V>>; 2], now: impl FnOnce() -> u64) {
        if self.idle <= self.kept {
            return;
        }
        let now = now();
        // Two for the one that comes, so that what could not be forgotten yet is caught up with.
        for gone in gone {
            let oldest = self.oldest;
            if self.idle <= self.kept || !self.entry(oldest).is_some_and(|entry| entry.value.is_forgettable(now)) {
                break;
            }
            self.unlink(oldest);
            *gone = self.entries[oldest as usize].take();
            if let Some(entry) = gone {
                self.by_id.remove(&entry.id);
                self.free.push(oldest);
            }
        }
        self.shrink();
    }

    /// Gives memory back once three quarters of the places are free, moving idle values down from the end.
    fn shrink(&mut self) {
        let kept = self.by_id.len();
        if self.entries.len() < 4 * KEPT || kept * 4 > self.entries.len() {
            return;
        }
        while self.entries.len() > kept * 2 {
            let last = self.entries.len() - 1;
            let at = u32::try_from(last).unwrap_or(NONE);
            match &self.entries[last] {
                None => {
                    self.entries.pop();
                }
                Some(entry) if entry.holders > 0 => break,
                Some(_) => {
                    let Some(free) = self.free.iter().position(|&free| (free as usize) < kept * 2) else { break };
                    let free = self.free.swap_remove(free);
                    self.relocate(at, free);
                    self.entries.pop();
                }
            }
        }
        let len = self.entries.len();
        if self.entries.capacity() > 4 * len {
            self.free.retain(|&free| (free as usize) < len);
            self.free.shrink_to(self.free.len() * 2);
            self.entries.shrink_to(len * 2);
            self.by_id.shrink_to(kept * 2);
        }
    }

    /// Moves an idle value to a free place.
    fn relocate(&mut self, from: u32, to: u32) {
        let Some(entry) = self.entries[from as usize].take() else { return };
        let (older, newer) = (entry.older, entry.newer);
        self.by_id.insert(entry.id, to);
        self.entries[to as usize] = Some(entry);
        match self.entry(older) {
            Some(entry) => entry.newer = to,
            None => self.oldest = to,
        }
        match self.entry(newer) {
            Some(entry) => entry.older = to,
            None => self.newest = to,
        }
    }
}

impl<V: Forgettable, S> Table<V, S> {
    /// A table of so many shards, a power of two; one where all values share something.
    pub(crate) fn new(shards: usize, shared: impl FnMut() -> S) -> Self {
        Self::keeping(KEPT, shards, shared)
    }

    /// The same with so many idle values in each.
    pub(crate) fn keeping(kept: usize, shards: usize, mut shared: impl FnMut() -> S) -> Self {
        let counted = if shards == 1 { COUNTED_ALONE } else { COUNTED };
        Self { shards: (0..shards).map(|_| Apart(Mutex::new(Shard::new(counted, kept, shared())))).collect() }
    }

    #[allow(clippy::cast_possible_truncation)] // masked to the number of shards
    fn shard_of(&self, id: u128) -> usize {
        (id >> 64) as usize & (self.shards.len() - 1)
    }

    /// Holds a key's value, made by `make` if there is none, and looks at it. `shown` is asked only if there is none, and
    /// outside of the lock.
    pub(crate) fn hold<T>(
        &self,
        id: u128,
        shown: impl FnOnce() -> Arc<str>,
        make: impl FnOnce() -> V,
        now: impl FnOnce() -> u64,
        look: impl FnOnce(&mut Shard<V, S>, u32) -> T,
    ) -> (Place, T) {
        let number = self.shard_of(id);
        let shard = &self.shards[number];
        {
            let mut shard = shard.lock();
            if let Some(at) = shard.hold(id) {
                return (Place::new(number, at), look(&mut shard, at));
            }
        }
        let (shown, value) = (shown(), make());
        let mut gone = [None, None];
        let mut shard = shard.lock();
        // Somebody else may have been quicker.
        let at = match shard.hold(id) {
            Some(at) => at,
            None => shard.insert(id, shown, value),
        };
        shard.forget(&mut gone, now);
        (Place::new(number, at), look(&mut shard, at))
    }

    /// Holds a held value once more.
    #[cfg(feature = "futures")]
    pub(crate) fn hold_again(&self, place: Place) {
        let (shard, at) = place.parts();
        if let Some(entry) = self.shards[shard].lock().entry(at) {
            entry.holders += 1;
        }
    }

    /// Holds no longer.
    pub(crate) fn let_go(&self, place: Place, now: impl FnOnce() -> u64) {
        let (shard, at) = place.parts();
        let mut gone = [None, None];
        let mut shard = self.shards[shard].lock();
        let Some(entry) = shard.entry(at) else { return };
        entry.holders -= 1;
        if entry.holders == 0 {
            shard.link(at);
            shard.forget(&mut gone, now);
        }
    }

    /// Looks at a key's value if there is one, without holding it.
    pub(crate) fn peek<T>(&self, id: u128, look: impl FnOnce(&mut V) -> T) -> Option<T> {
        let mut shard = self.shards[self.shard_of(id)].lock();
        let at = *shard.by_id.get(&id)?;
        shard.entry(at).map(|entry| look(&mut entry.value))
    }

    /// Looks at a held value, under its shard's lock.
    pub(crate) fn with<T>(&self, place: Place, look: impl FnOnce(&mut Shard<V, S>, u32) -> T) -> T {
        let (shard, at) = place.parts();
        look(&mut self.shards[shard].lock(), at)
    }

    /// Looks at each shard in turn.
    pub(crate) fn each(&self, mut look: impl FnMut(&mut Shard<V, S>)) {
        self.shards.iter().for_each(|shard| look(&mut shard.lock()));
    }

    pub(crate) fn refused(&self, place: Place) {
        self.with(place, Shard::count_refused);
    }

    pub(crate) fn census(&self) -> Census {
        let mut census = Census::default();
        self.each(|shard| {
            census.kept += shard.by_id.len();
            census.idle += shard.idle;
            census.seen.extend_from_slice(shard.seen.counters());
            census.refused.extend_from_slice(shard.refused.counters());
        });
        for counted in [&mut census.seen, &mut census.refused] {
            counted.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.shown.cmp(&other.shown)));
        }
        census
    }
}
