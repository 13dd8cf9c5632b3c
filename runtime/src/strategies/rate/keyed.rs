//! A bucket for each key: `rate = "100/s", key = tenant_id`.
//!
//! A bucket that is full is as good as a new one, so a key that nobody uses is forgotten once its bucket would be full again,
//! and not before: a caller cannot have its tokens anew by staying away. Until then it takes up memory. A million callers
//! at `1/h` are a million buckets for an hour, however often each of them comes.
//!
//! Invariants: those of the rate, for each key; a bucket that owes anything is never forgotten.

use std::sync::Arc;
use std::task::Context;

use super::decide::{Tokens, stamp};
use super::turn::{Patience, Turn, View};
use super::{Asked, Figures, Rate, Token, Waiting};
#[cfg(feature = "redis")]
use super::{KeyPace, Pace};
use crate::base::clock::Moment;
use crate::base::line::Waiters;
use crate::base::share::Share;
use crate::base::table::{Census, Forgettable, Place, SHARDS, Table};

/// The buckets of a name, by key. What a shard shares is how many of its callers wait.
pub(super) type Buckets = Table<Bucket, u32>;

/// One key's bucket, and its line once somebody has waited.
#[derive(Debug)]
pub(super) struct Bucket {
    tokens: Tokens,
    line: Option<Box<Waiters>>,
    /// What all processes know the key by; 0 where nobody asked.
    #[cfg_attr(not(feature = "redis"), allow(dead_code))]
    pub(super) wide: u64,
    /// Figures of its own, where it has a share of a fleet's.
    own: Option<Box<Figures>>,
    /// Whether somebody was turned away, and how many tokens had been taken, when that was asked last.
    #[cfg_attr(not(feature = "redis"), allow(dead_code))]
    asked: (bool, u32),
}

impl Bucket {
    fn of(wide: u64) -> Self {
        Self { tokens: Tokens::full(), line: None, wide, own: None, asked: (false, 0) }
    }

    fn figures(&self, all: Figures) -> Figures {
        self.own.as_deref().copied().unwrap_or(all)
    }

    /// Somebody is turned away.
    fn note_refused(&mut self) {
        self.asked.0 = true;
    }
}

#[cfg(feature = "redis")]
impl Bucket {
    /// What it was asked for since this was asked before, if it was or has parts of its own.
    pub(super) fn take_pace(&mut self, base: u32) -> Option<KeyPace> {
        let (turned_away, before) = std::mem::replace(&mut self.asked, (false, self.tokens.taken()));
        let taken = self.asked.1.wrapping_sub(before).cast_signed().max(0).cast_unsigned();
        let pressed = turned_away || self.line.as_ref().is_some_and(|line| line.len() > 0);
        let grains = self.own.as_ref().map_or(base, |own| own.count);
        let pace = Pace { taken, pressed, grains };
        let is_used = taken > 0 || pressed || self.own.is_some();
        is_used.then_some(KeyPace { wide: self.wide, pace, leased: self.own.is_some() })
    }

    pub(super) fn is_leased(&self) -> bool {
        self.own.is_some()
    }

    /// Other figures from now on, its own or those of all.
    pub(super) fn fit(&mut self, all: Figures, own: Option<Figures>, now: u64, woken: &mut Vec<std::task::Waker>) {
        let (before, after) = (self.figures(all), own.unwrap_or(all));
        self.own = own.map(Box::new);
        if before != after {
            self.tokens.refit(before, after, now);
            woken.extend(self.line.iter_mut().flat_map(|line| line.take_wakers(0, usize::MAX)));
        }
    }

    /// What all have has changed.
    fn refit(&mut self, before: Figures, after: Figures, now: u64) {
        if self.own.is_none() {
            self.tokens.refit(before, after, now);
        }
    }
}

impl Forgettable for Bucket {
    fn is_forgettable(&self, now: u64) -> bool {
        self.tokens.is_full(now)
    }
}

fn now() -> u64 {
    stamp(Moment::now())
}

impl Rate {
    fn buckets(&self) -> &Buckets {
        self.keyed.get_or_init(|| Table::new(SHARDS, u32::default))
    }

    #[cfg(feature = "redis")]
    pub(super) fn refit_keys(&self, before: Figures, after: Figures, now: u64) {
        if let Some(buckets) = self.keyed.get() {
            buckets.each(|shard| shard.values().for_each(|(_, bucket)| bucket.refit(before, after, now)));
        }
    }

    /// Holds the bucket of a key. `wide` is what all processes know it by, asked for where there are several.
    pub(crate) fn hold(&self, id: u128, shown: impl FnOnce() -> Arc<str>, wide: impl FnOnce() -> u64) -> Place {
        let make = || Bucket::of(if self.share() == Share::Whole { 0 } else { wide() });
        self.buckets().hold(id, shown, make, now, |_, _| ()).0
    }

    pub(crate) fn let_go(&self, bucket: Place) {
        self.buckets().let_go(bucket, now);
    }

    /// What [`Rate::ask`] does, with the bucket of a key.
    pub(super) fn ask_key(&'static self, bucket: Place, now: u64, patience: Patience, cx: &Context<'_>) -> Asked {
        let figures = self.figures();
        let asked = self.buckets().with(bucket, |buckets, at| {
            let (key, _) = buckets.both(at)?;
            if key.line.as_ref().is_some_and(|line| line.len() > 0) {
                return None;
            }
            match key.tokens.take(key.figures(figures), now) {
                Ok(()) => Some(Ok(())),
                Err(due) if patience.allows(due) => None,
                Err(due) => {
                    key.note_refused();
                    buckets.count_refused(at);
                    Some(Err(due))
                }
            }
        });
        match asked {
            Some(Ok(())) => return Asked::Token(Token::of(self, Some(bucket), now)),
            Some(Err(due)) => return Asked::Refused(self.describe(due.saturating_sub(now))),
            None => {}
        }
        let waker = cx.waker().clone();
        match self.view_key(bucket, |mut view| view.ask(now, patience, waker)) {
            Turn::Taken => Asked::Token(Token::of(self, Some(bucket), now)),
            Turn::Waiting(ticket, due) => Asked::Waiting(Waiting::of(self, Some(bucket), ticket, patience, due)),
            Turn::Refused(due) => {
                self.refused(Some(bucket));
                Asked::Refused(self.describe(due.saturating_sub(now)))
            }
        }
    }

    /// Looks at a bucket with its line.
    pub(super) fn view_key<T>(&self, bucket: Place, look: impl FnOnce(View<'_>) -> T) -> T {
        let figures = self.figures();
        self.buckets().with(bucket, |buckets, at| {
            // A held bucket is where its place says; were it ever not, a full one answers for it.
            let (mut spare, mut count) = (Bucket::of(0), 0);
            let (key, waiting) = buckets.both(at).unwrap_or((&mut spare, &mut count));
            let figures = key.figures(figures);
            let line = key.line.get_or_insert_with(Box::default);
            let before = line.len();
            let seen = look(View { figures, tokens: &key.tokens, line });
            *waiting = waiting.wrapping_add_signed(difference(line.len(), before));
            seen
        })
    }

    pub(super) fn spend_of(&self, bucket: Place) {
        self.buckets().with(bucket, |buckets, at| {
            if let Some((key, _)) = buckets.both(at) {
                key.tokens.spend();
            }
        });
    }

    pub(super) fn give_back_to(&self, bucket: Place, taken: u64) {
        let figures = self.figures();
        let woken = self.buckets().with(bucket, |buckets, at| {
            let (key, _) = buckets.both(at)?;
            let figures = key.figures(figures);
            let line = key.line.as_mut().filter(|line| line.len() > 0);
            match (key.tokens.give_back(figures, taken), line) {
                (true, Some(line)) => Some(line.take_wakers(0, usize::MAX).collect::<Vec<_>>()),
                _ => None,
            }
        });
        woken.into_iter().flatten().for_each(std::task::Waker::wake);
    }

    /// Wakes everybody who waits for a token of a key.
    pub(super) fn wake_keys(&self) {
        let Some(buckets) = self.keyed.get() else { return };
        let mut woken = Vec::new();
        buckets.each(|shard| {
            let lines = shard.values().filter_map(|(_, key)| key.line.as_mut());
            lines.for_each(|line| woken.extend(line.take_wakers(0, usize::MAX)));
        });
        woken.into_iter().for_each(std::task::Waker::wake);
    }

    /// Counts a caller that was refused.
    pub(super) fn refused(&self, bucket: Option<Place>) {
        if let Some(bucket) = bucket {
            self.buckets().refused(bucket);
        }
    }

    /// How many wait for a token of any key.
    pub(super) fn waiting_by_key(&self) -> u32 {
        let mut all = 0;
        if let Some(buckets) = self.keyed.get() {
            buckets.each(|shard| all += shard.shared);
        }
        all
    }

    /// Its keys, if it has any.
    pub(crate) fn census(&self) -> Option<Census> {
        self.keyed.get().map(Table::census)
    }
}

fn difference(now: usize, before: usize) -> i32 {
    let signed = |len: usize| i32::try_from(len).unwrap_or(i32::MAX);
    signed(now) - signed(before)
}
