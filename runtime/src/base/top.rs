//! The largest counts of a stream of keys, in fixed memory.
//!
//! *Space-Saving* (Metwally, Agrawal, El Abbadi: Efficient Computation of Frequent and Top-k Elements in Data Streams, 2005)
//! keeps a fixed number of counters. A key that has one is counted in it; a key that has none takes over the smallest and
//! goes on from its count, which is noted as its possible error. Of `n` things counted with `m` counters, every key that
//! occurred more than `n / m` times has a counter, and no counter is above the truth by more than its error, which is never
//! more than `n / m`.
//!
//! A caller that keeps the place a key was counted at last finds its counter without a search; the search is for keys that
//! have none, and goes over as many counters as there are.
//!
//! Invariants: never more counters than room was made for; counts sum to what was counted.

use std::sync::Arc;

/// A key's count: at most so much, and at least so much less its error.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    pub(crate) id: u128,
    pub(crate) shown: Arc<str>,
    pub(crate) count: u64,
    pub(crate) error: u64,
}

/// The counters.
#[derive(Debug)]
pub(crate) struct Top {
    counters: Vec<Counted>,
    most: u8,
}

impl Top {
    pub(crate) fn with(most: u8) -> Self {
        Self { counters: Vec::new(), most }
    }

    /// Counts a key once. `place` is where it was counted before, and will be next time.
    pub(crate) fn count(&mut self, id: u128, shown: &Arc<str>, place: &mut u8) {
        if let Some(counter) = self.counters.get_mut(usize::from(*place))
            && counter.id == id
        {
            counter.count += 1;
            return;
        }
        let known = self.counters.iter().position(|counter| counter.id == id);
        let at = known.unwrap_or_else(|| self.make_room(id, shown));
        self.counters[at].count += 1;
        *place = u8::try_from(at).unwrap_or(u8::MAX);
    }

    /// A counter for a key that has none.
    fn make_room(&mut self, id: u128, shown: &Arc<str>) -> usize {
        if self.counters.len() < usize::from(self.most) {
            self.counters.push(Counted { id, shown: Arc::clone(shown), count: 0, error: 0 });
            return self.counters.len() - 1;
        }
        let least = (0..self.counters.len()).min_by_key(|&at| self.counters[at].count).unwrap_or(0);
        let count = self.counters[least].count;
        self.counters[least] = Counted { id, shown: Arc::clone(shown), count, error: count };
        least
    }

    pub(crate) fn counters(&self) -> &[Counted] {
        &self.counters
    }
}

#[cfg(all(test, not(watertight_loom)))]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_are_never_below_the_truth_and_above_it_by_their_error_at_most(
            stream in prop::collection::vec((0u128..40, any::<bool>()), 1..2_000),
            most in 1u8..20,
        ) {
            let mut top = Top::with(most);
            let mut truth = BTreeMap::<u128, u64>::new();
            let mut places = BTreeMap::<u128, u8>::new();
            let n = stream.len() as u64;
            // Half of the stream is three loud keys.
            for (key, loud) in stream {
                let key = if loud { key % 3 } else { key };
                *truth.entry(key).or_default() += 1;
                top.count(key, &Arc::from(key.to_string()), places.entry(key).or_default());
            }
            prop_assert!(top.counters().len() <= usize::from(most));
            prop_assert_eq!(top.counters().iter().map(|counter| counter.count).sum::<u64>(), n);
            for counter in top.counters() {
                let truth = truth[&counter.id];
                prop_assert!(counter.count >= truth && counter.count - counter.error <= truth);
                prop_assert!(counter.error <= n / u64::from(most));
                prop_assert_eq!(&*counter.shown, counter.id.to_string());
            }
            for (key, count) in truth {
                let kept = top.counters().iter().any(|counter| counter.id == key);
                prop_assert!(kept || count <= n / u64::from(most), "{key} occurred {count} times of {n}");
            }
        }
    }
}
