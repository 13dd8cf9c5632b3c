//! The store's rule, in Rust: `sync.lua` line by line. The simulator and the models run on it, and a test asks both the same.
//!
//! Invariant: of a limit that all processes agree about, no more is ever given than the whole.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::store::{Answer, Ask, Claim, Failure};

const HIGHEST: usize = 31;
const GONE_AT_ONCE: usize = 50;
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// What is kept of a limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sum {
    pub(super) given: i64,
    pub(super) holders: i64,
    pub(super) whole: u32,
    heard: u64,
    short: u64,
    count: [i64; HIGHEST + 1],
    want: [i64; HIGHEST + 1],
}

#[derive(Clone, Debug, Default)]
struct Lease {
    ends: u64,
    number: u64,
    held: HashMap<Arc<str>, (u32, u32)>,
}

/// A store in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Grants {
    leases: BTreeMap<Arc<str>, Lease>,
    /// The same by the end of the lease, as the sorted set has them.
    ends: std::collections::BTreeSet<(u64, Arc<str>)>,
    sums: HashMap<Arc<str>, Sum>,
    born: u64,
    settled: u64,
}

impl Sum {
    fn counted(&mut self, want: u32, by: i64) {
        let at = ((u32::BITS - want.leading_zeros()) as usize).min(HIGHEST);
        self.count[at] += by;
        self.want[at] += by * i64::from(want);
        self.holders += by;
    }

    /// Whether there is not enough for all; the level up to which wants are met, or are filled.
    fn level(&self, whole: f64) -> (bool, f64) {
        let total: i64 = self.want.iter().sum();
        let (mut counted, mut wanted) = (0_i64, 0_i64);
        let used = (0..=HIGHEST).filter(|at| self.count[*at] > 0);
        if total as f64 > whole {
            for at in used {
                let left = (self.holders - counted) as f64;
                if wanted as f64 + self.want[at] as f64 / self.count[at] as f64 * left >= whole {
                    return (true, (whole - wanted as f64) / left);
                }
                (counted, wanted) = (counted + self.count[at], wanted + self.want[at]);
            }
            return (true, whole);
        }
        let mut filled = 0.0;
        for at in used {
            if counted > 0 && filled <= self.want[at] as f64 / self.count[at] as f64 {
                return (false, filled);
            }
            (counted, wanted) = (counted + self.count[at], wanted + self.want[at]);
            filled = (whole - total as f64 + wanted as f64) / counted as f64;
        }
        (false, filled)
    }
}

impl Grants {
    /// Answers one question at a moment of the store's clock, in milliseconds.
    pub(super) fn sync(&mut self, now: u64, ask: &Ask) -> Result<Answer, Failure> {
        if self.live(now) == 0 {
            *self = Self { born: now, settled: now + ask.lease, ..Self::default() };
        } else {
            self.settled = self.settled.max(self.born + ask.lease);
        }
        if self.leases.get(&ask.process).is_some_and(|mine| ask.number <= mine.number) {
            return Err(Failure("LATE".to_owned()));
        }
        let gone: Vec<_> = self.ends.iter().take_while(|(ends, _)| *ends <= now).take(GONE_AT_ONCE).cloned().collect();
        for (_, process) in &gone {
            self.forget(process);
        }
        if ask.leaves {
            self.forget(&ask.process);
            return Ok(Answer { replicas: self.live(now), settled: false, hurry: false, shares: Vec::new() });
        }
        let mut mine = self.leases.remove(&ask.process).unwrap_or_default();
        self.ends.remove(&(mine.ends, ask.process.clone()));
        let (settled, mut hurry, mut held, mut shares) = (now >= self.settled, false, HashMap::new(), Vec::new());
        for claim in &ask.claims {
            let before = mine.held.remove(&claim.limit);
            let (share, kept, hurries) = self.grant(now, ask, claim, before, settled);
            hurry |= hurries;
            held.insert(claim.limit.clone(), (claim.want, kept));
            shares.push(share);
        }
        mine.held.into_iter().for_each(|(limit, before)| self.give_back(&limit, before));
        let ends = now + ask.lease;
        self.ends.insert((ends, ask.process.clone()));
        self.leases.insert(ask.process.clone(), Lease { ends, number: ask.number, held });
        Ok(Answer { replicas: self.live(now), settled, hurry, shares })
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // none is negative, none beyond the whole
    fn grant(
        &mut self,
        now: u64,
        ask: &Ask,
        claim: &Claim,
        before: Option<(u32, u32)>,
        settled: bool,
    ) -> (u32, u32, bool) {
        let sum = self.sums.entry(claim.limit.clone()).or_default();
        let given = before.map_or(0, |(want, given)| {
            sum.counted(want, -1);
            i64::from(given)
        });
        sum.counted(claim.want, 1);
        if sum.whole == 0 || claim.whole <= sum.whole || now - sum.heard >= ask.lease {
            (sum.whole, sum.heard) = (claim.whole, now);
        }
        let whole = sum.whole;
        let free = (i64::from(whole) - (sum.given - given)).max(0) as u32;
        let honoured = claim.held.min(free);
        let (scarce, height) = sum.level(f64::from(whole));
        let mut turn = f64::from(ask.dice) / 1_000_000.0;
        if height < 1.0 {
            turn += (now / ask.lease) as f64 * GOLDEN;
            turn -= turn.floor();
        }
        let target = (height + turn).floor() as u32;
        let target = if scarce { target.min(claim.want) } else { target.max(claim.want).min(whole) };
        let share = match target > honoured {
            true if settled => target.min(free),
            true => honoured,
            false => target,
        };
        if share < claim.want.min(height.floor() as u32) {
            sum.short = now;
        }
        let hurry = share < claim.held && now - sum.short < ask.lease;
        let kept = share.max(honoured);
        sum.given += i64::from(kept) - given;
        (share, kept, hurry)
    }

    fn give_back(&mut self, limit: &Arc<str>, (want, given): (u32, u32)) {
        if let Some(sum) = self.sums.get_mut(limit) {
            sum.given -= i64::from(given);
            sum.counted(want, -1);
            if sum.holders == 0 {
                self.sums.remove(limit);
            }
        }
    }

    fn forget(&mut self, process: &Arc<str>) {
        if let Some(lease) = self.leases.remove(process) {
            self.ends.remove(&(lease.ends, process.clone()));
            lease.held.iter().for_each(|(limit, held)| self.give_back(limit, *held));
        }
    }

    /// How many have a lease.
    fn live(&self, now: u64) -> u32 {
        // As in a sorted set: whatever has ended stands in front.
        let ended = self.ends.iter().take_while(|(ends, _)| *ends <= now).count();
        u32::try_from(self.ends.len() - ended).unwrap_or(u32::MAX)
    }

    /// How much of a limit is given.
    pub(super) fn given(&self, limit: &str) -> i64 {
        self.sums.get(limit).map_or(0, |sum| sum.given)
    }

    /// How many limits something is kept of.
    pub(super) fn limits(&self) -> usize {
        self.sums.len()
    }
}
