//! How a process stands in its fleet, for whoever reads it: figures, and a word in the log when that changes.
//!
//! Invariant: nobody who reads holds up the task that writes for longer than a copy takes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use super::decide::Member;
use super::store::{Answer, Failure};
use crate::base::clock::Moment;
use crate::base::share::Share;
use crate::base::sync::Mutex;
use crate::call::trace;
use crate::registry;
use crate::replicas;

/// Where the shares in force come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// From the store, which has answered the last question.
    Leased,
    /// From the store, which has not answered since; they hold until their lease ends.
    LastShare,
    /// From nobody: one of `replicas` equal parts.
    EqualPart,
}

impl Source {
    /// The word used in logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Leased => "leased",
            Self::LastShare => "last_share",
            Self::EqualPart => "equal_part",
        }
    }
}

/// How this process stands in its fleet, at one moment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FleetFigures {
    /// The fleet's name.
    pub name: String,
    /// How many processes there are, as far as this one knows.
    pub replicas: u32,
    /// Where its shares come from.
    pub source: Source,
    /// How long a lease is, in a fleet of this size.
    pub lease: Duration,
    /// For how long the shares in force hold.
    pub leased_for: Option<Duration>,
    /// Questions that were answered.
    pub syncs: u64,
    /// Questions that were not, or too late.
    pub failures: u64,
    /// How often a lease has ended without another.
    pub lapses: u64,
    /// Why the last question was not answered.
    pub last_failure: Option<String>,
    /// How long the last answer took.
    pub round_trip: Duration,
    /// The limits of this process that are the fleet's.
    pub limits: Vec<ShareFigures>,
}

/// One limit, and this process's share of it: in slots of a bulkhead, in tokens a unit of a rate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ShareFigures {
    /// `"bulkhead"` or `"rate"`.
    pub strategy: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The limit of all processes together.
    pub limit: f64,
    /// What is in force here. Where it has keys: of each that has no share of its own.
    pub share: f64,
    /// How many of its keys have a share of their own, where it has keys.
    pub keys: Option<usize>,
}

#[derive(Debug)]
struct State {
    replicas: u32,
    source: Source,
    lease: u64,
    until: Option<Moment>,
    last_failure: Option<String>,
    round_trip: u64,
    /// Whether there was an answer that gave something, or none.
    settled: bool,
}

/// What the task writes down.
#[derive(Debug)]
pub(super) struct Books {
    name: String,
    state: Mutex<State>,
    syncs: AtomicU64,
    failures: AtomicU64,
    lapses: AtomicU64,
    changed: Notify,
}

impl Books {
    pub(super) fn new(name: String, member: &Member) -> Self {
        let state = State {
            replicas: member.replicas(),
            source: Source::EqualPart,
            lease: member.length(),
            until: None,
            last_failure: None,
            round_trip: 0,
            settled: false,
        };
        let zero = AtomicU64::new;
        let (syncs, failures, lapses) = (zero(0), zero(0), zero(0));
        Self { name, state: Mutex::new(state), syncs, failures, lapses, changed: Notify::new() }
    }

    pub(super) fn answered(&self, member: &Member, answer: &Answer, sent: Moment, now: Moment) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
        replicas::saw(answer.replicas);
        let before = {
            let mut state = self.state.lock();
            state.replicas = member.replicas();
            state.lease = member.length();
            state.until = member.until();
            state.round_trip = now.since(sent);
            state.settled |= answer.shares.iter().all(|share| *share > 0);
            std::mem::replace(&mut state.source, Source::Leased)
        };
        if before == Source::EqualPart {
            trace::fleet_leased(&self.name, answer.replicas);
        }
        self.changed.notify_one();
    }

    pub(super) fn failed(&self, Failure(why): Failure, now: Moment) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        let (before, left) = {
            let mut state = self.state.lock();
            state.settled = true;
            state.last_failure = Some(why.clone());
            let before = state.source;
            if before == Source::Leased {
                state.source = Source::LastShare;
            }
            (before, state.until.map_or(0, |until| until.since(now)))
        };
        if before == Source::Leased {
            trace::fleet_failing(&self.name, &why, left);
        }
        self.changed.notify_one();
    }

    pub(super) fn lapsed(&self, replicas: u32) {
        self.lapses.fetch_add(1, Ordering::Relaxed);
        let mut state = self.state.lock();
        (state.source, state.until) = (Source::EqualPart, None);
        drop(state);
        trace::fleet_alone(&self.name, replicas);
    }

    pub(super) fn left(&self) {
        let mut state = self.state.lock();
        (state.source, state.until) = (Source::EqualPart, None);
    }

    /// Until the first answer that leaves no limit without a share, or the first failure.
    pub(super) async fn settled(&self) {
        while !self.state.lock().settled {
            self.changed.notified().await;
        }
    }

    pub(super) fn read(&self, now: Moment) -> FleetFigures {
        let state = self.state.lock();
        FleetFigures {
            name: self.name.clone(),
            replicas: state.replicas,
            source: state.source,
            lease: Duration::from_nanos(state.lease),
            leased_for: state.until.map(|until| Duration::from_nanos(until.since(now))),
            syncs: self.syncs.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            lapses: self.lapses.load(Ordering::Relaxed),
            last_failure: state.last_failure.clone(),
            round_trip: Duration::from_nanos(state.round_trip),
            limits: limits(),
        }
    }
}

fn limits() -> Vec<ShareFigures> {
    let bulkheads = registry::shared_bulkheads().into_iter().map(|it| ShareFigures {
        strategy: "bulkhead",
        name: it.name(),
        limit: it.limits().slots.into(),
        share: it.occupancy().slots.into(),
        keys: it.keys().map(crate::strategies::bulkhead::Keyed::leased),
    });
    let rates = registry::shared_rates().into_iter().map(|(_, it)| {
        let (limit, grain) = (it.limit(), f64::from(it.limit().grain()));
        let share = it.figures().count;
        let keys = it.is_keyed().then(|| it.leased());
        let share = if it.share() == Share::Whole { limit.count.into() } else { f64::from(share) / grain };
        ShareFigures { strategy: "rate", name: it.name(), limit: limit.count.into(), share, keys }
    });
    bulkheads.chain(rates).collect()
}
