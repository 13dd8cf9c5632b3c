//! The limits of this process that are a fleet's: reading what they want, and putting shares in force.
//!
//! Both are a look at the registry, on the time of whoever syncs. A name that no call has reached yet is there as well: it
//! wants little, and has something when its first call comes.
//!
//! **Keys.** There may be a hundred thousand, and a share of a limit each of them would be as many lines in every
//! question. So only those take part that were in use since the last sync, and of these the busiest, a few hundred for each
//! name. The others have an equal part, which for a key that few processes use is less than it could have and for one that
//! all use is what it would have. Of two keys as busy, the one that takes part already goes on.
//!
//! Invariants: a key that no longer takes part has an equal part before the store is told; what is given is put in force in
//! one step for each name.

use std::collections::HashMap;
use std::sync::Arc;

use super::decide::Reading;
use crate::base::clock::Moment;
use crate::base::share::Share;
use crate::registry;
use crate::strategies::bulkhead::{Asking, Bulkhead, KeyDemand, Keyed};
use crate::strategies::rate::{KeyPace, Pace, Rate};

/// The limits of a process, for whoever syncs them.
pub(super) trait Limits: Send + 'static {
    /// How they stand, and what was wanted since this was asked before.
    fn read(&mut self, now: Moment) -> Vec<Reading>;
    /// Puts these shares in force, and one of so many equal parts for what has none.
    fn give(&mut self, shares: &[(Arc<str>, u32)], replicas: u32, now: Moment);
    /// Equal parts for all.
    fn part(&mut self, replicas: u32, now: Moment) {
        self.give(&[], replicas, now);
    }
}

/// Those of this process.
pub(super) struct Here {
    /// How many keys of each name take part.
    keys: usize,
    read: Option<Moment>,
    places: HashMap<Arc<str>, Place>,
    /// How fast tokens of each rate were taken lately, and what is known of those that take part now.
    paces: [HashMap<Arc<str>, Smooth>; 2],
}

/// Tokens counted over a fifth of a second, at five a second, are none or too many; and over the few milliseconds after which
/// something is given back, one is a hundred a second. So what was taken counts by how long ago: a second later, by a third.
#[derive(Clone, Copy, Default)]
struct Smooth(f64);

impl Smooth {
    const SPAN: f64 = 1e9;

    /// So much was taken in the time since; the pace it comes to.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
    fn seen(&mut self, taken: f64, since: u64) -> u32 {
        self.0 = self.0 * (-(since as f64) / Self::SPAN).exp() + taken / Self::SPAN;
        self.0 as u32
    }
}

/// Where a share goes.
#[derive(Clone, Copy)]
enum Place {
    Whole(&'static Bulkhead),
    Total(&'static Keyed),
    Key(&'static Keyed, u64),
    Rate(&'static Rate),
    RateKey(&'static Rate, u64),
}

impl Here {
    pub(super) fn new(keys: usize) -> Self {
        Self { keys, read: None, places: HashMap::new(), paces: Default::default() }
    }

    fn reading(&mut self, limit: String, place: Place, reading: impl FnOnce(Arc<str>) -> Reading) -> Reading {
        let limit: Arc<str> = limit.into();
        self.places.insert(limit.clone(), place);
        reading(limit)
    }

    fn pace(&mut self, limit: String, place: Place, reading: impl FnOnce(Arc<str>, &mut Smooth) -> Reading) -> Reading {
        let limit: Arc<str> = limit.into();
        self.places.insert(limit.clone(), place);
        let [before, now] = &mut self.paces;
        let smooth = now.entry(limit.clone()).or_insert_with(|| before.get(&limit).copied().unwrap_or_default());
        reading(limit, smooth)
    }

    fn bulkhead(&mut self, bulkhead: &'static Bulkhead, all: &mut Vec<Reading>) {
        let name = bulkhead.name();
        if let Some(keyed) = bulkhead.keys() {
            return self.keyed(name, bulkhead, keyed, all);
        }
        let [ran, waited] = bulkhead.take_peaks(Asking::Fleet);
        let seen = bulkhead.occupancy();
        let pressed = bulkhead.take_pressed();
        let (whole, share, running) = (bulkhead.limits().slots, seen.slots, seen.running);
        let peak = ran.saturating_add(waited);
        all.push(self.reading(format!("b:{name}"), Place::Whole(bulkhead), |limit| Reading {
            limit,
            whole,
            share,
            running,
            peak,
            pressed,
        }));
    }

    fn keyed(&mut self, name: &str, bulkhead: &'static Bulkhead, keyed: &'static Keyed, all: &mut Vec<Reading>) {
        let whole = bulkhead.limits().slots;
        if let Some(total) = keyed.whole_total() {
            let (running, peak, pressed) = keyed.take_total();
            let share = keyed.total().unwrap_or(total);
            all.push(self.reading(format!("t:{name}"), Place::Total(keyed), |limit| Reading {
                limit,
                whole: total,
                share,
                running,
                peak,
                pressed,
            }));
        }
        let mut demands = keyed.demands();
        busiest(&mut demands, self.keys, |it| (it.leased, it.peak));
        let (taking_part, others) = demands.split_at(demands.len().min(self.keys));
        let (taking_part, idle): (Vec<_>, Vec<_>) =
            taking_part.iter().copied().partition(|it| it.peak > 0 || it.pressed);
        if others.iter().chain(&idle).any(|it| it.leased) {
            let kept = taking_part.iter().filter(|it| it.leased).map(|it| (it.wide, it.slots));
            keyed.give(&kept.collect());
        }
        for KeyDemand { wide, peak, running, slots, pressed, .. } in taking_part {
            all.push(self.reading(format!("k:{name}:{wide:016x}"), Place::Key(keyed, wide), |limit| Reading {
                limit,
                whole,
                share: slots,
                running,
                peak,
                pressed,
            }));
        }
    }

    fn rate(&mut self, name: &str, rate: &'static Rate, since: u64, now: Moment, all: &mut Vec<Reading>) {
        let limit = rate.limit();
        let whole = limit.grains();
        let one = f64::from(limit.grain()) * limit.unit as f64;
        let reading = |limit: Arc<str>, Pace { taken, pressed, grains }, pace: &mut Smooth| {
            let peak = pace.seen(f64::from(taken) * one, since);
            Reading { limit, whole, share: grains, running: 0, peak, pressed }
        };
        if !rate.is_keyed() {
            let pace = rate.take_pace();
            all.push(self.pace(format!("r:{name}"), Place::Rate(rate), |limit, smooth| reading(limit, pace, smooth)));
            return;
        }
        let mut paces = rate.key_paces();
        busiest(&mut paces, self.keys, |it| (it.leased, it.pace.taken));
        let (taking_part, others) = paces.split_at(paces.len().min(self.keys));
        let is_used = |it: &KeyPace| it.pace.taken > 0 || it.pace.pressed;
        let (taking_part, idle): (Vec<_>, Vec<_>) = taking_part.iter().copied().partition(is_used);
        if others.iter().chain(&idle).any(|it| it.leased) {
            let kept = taking_part.iter().filter(|it| it.leased).map(|it| (it.wide, it.pace.grains));
            rate.give(&kept.collect(), now);
        }
        for KeyPace { wide, pace, .. } in taking_part {
            let place = Place::RateKey(rate, wide);
            all.push(self.pace(format!("q:{name}:{wide:016x}"), place, |limit, smooth| reading(limit, pace, smooth)));
        }
    }
}

/// The busiest in front, the rest in any order.
fn busiest<T, O: Ord>(all: &mut [T], how_many: usize, by: impl Fn(&T) -> O) {
    if all.len() > how_many && how_many > 0 {
        all.select_nth_unstable_by(how_many - 1, |one, other| by(other).cmp(&by(one)));
    }
}

impl Limits for Here {
    fn read(&mut self, now: Moment) -> Vec<Reading> {
        let since = self.read.replace(now).map_or(1_000_000_000, |before| now.since(before).max(1_000_000));
        self.places.clear();
        self.paces.swap(0, 1);
        self.paces[1].clear();
        let mut all = Vec::new();
        for bulkhead in registry::shared_bulkheads() {
            self.bulkhead(bulkhead, &mut all);
        }
        for (name, rate) in registry::shared_rates() {
            self.rate(&name, rate, since, now, &mut all);
        }
        all
    }

    fn give(&mut self, shares: &[(Arc<str>, u32)], replicas: u32, now: Moment) {
        let part = Share::Part(replicas);
        let given: HashMap<&str, u32> = shares.iter().map(|(limit, share)| (&**limit, *share)).collect();
        let mut slots: HashMap<*const Keyed, HashMap<u64, u32>> = HashMap::new();
        let mut grains: HashMap<*const Rate, HashMap<u64, u32>> = HashMap::new();
        let mut wholes: HashMap<*const Bulkhead, Share> = HashMap::new();
        let mut totals: HashMap<*const Keyed, Share> = HashMap::new();
        let mut rates: HashMap<*const Rate, Share> = HashMap::new();
        for (limit, place) in &self.places {
            let Some(share) = given.get(&**limit).copied() else { continue };
            match *place {
                Place::Whole(bulkhead) => drop(wholes.insert(bulkhead, Share::Leased(share))),
                Place::Total(keyed) => drop(totals.insert(keyed, Share::Leased(share))),
                Place::Key(keyed, wide) => drop(slots.entry(keyed).or_default().insert(wide, share)),
                Place::Rate(rate) => drop(rates.insert(rate, Share::Leased(share))),
                Place::RateKey(rate, wide) => drop(grains.entry(rate).or_default().insert(wide, share)),
            }
        }
        for bulkhead in registry::shared_bulkheads() {
            let address: *const Bulkhead = bulkhead;
            bulkhead.set_share(wholes.get(&address).copied().unwrap_or(part));
            if let Some(keyed) = bulkhead.keys() {
                let address: *const Keyed = keyed;
                keyed.set_total_share(totals.get(&address).copied().unwrap_or(part));
                keyed.give(&slots.remove(&address).unwrap_or_default());
            }
        }
        for (_, rate) in registry::shared_rates() {
            let address: *const Rate = rate;
            rate.set_share(rates.get(&address).copied().unwrap_or(part), now);
            rate.give(&grains.remove(&address).unwrap_or_default(), now);
        }
    }
}
