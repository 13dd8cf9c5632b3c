//! A call's key: what selects its compartment and its bucket.
//!
//! The key is known when the call begins, before the arguments move into the body, and borrowed for that moment only. What is
//! left of it is where its compartment and its bucket are, held until the call has ended.
//!
//! Invariant: what a call holds of a key goes back in the call's Drop, after the slot and the token.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use super::Pipeline;
use super::call::Call;
use crate::base::number::{beginning, identify, widely};
use crate::base::table::Place;
use crate::strategies::bulkhead::{InKey, Keyed};
use crate::strategies::fallback::LastGood;
use crate::strategies::rate::Rate;

/// A key, as far as the runtime has to know it: its number, and how it is shown.
pub struct Key<'a> {
    id: u128,
    shown: Shown<'a>,
}

enum Shown<'a> {
    Display(&'a dyn fmt::Display),
    Debug(&'a dyn fmt::Debug),
}

impl<'a> Key<'a> {
    /// One that says how it is shown.
    pub fn displayed<K: std::hash::Hash + ?Sized>(key: &K, shown: &'a dyn fmt::Display) -> Self {
        Self { id: identify(key), shown: Shown::Display(shown) }
    }

    /// One that is shown as in source code.
    pub fn debugged<K: std::hash::Hash + ?Sized>(key: &K, shown: &'a dyn fmt::Debug) -> Self {
        Self { id: identify(key), shown: Shown::Debug(shown) }
    }

    /// What all processes know the key by: its text.
    fn wide(&self) -> u64 {
        match self.shown {
            Shown::Display(key) => widely(key),
            Shown::Debug(key) => widely(format_args!("{key:?}")),
        }
    }

    fn beginning(&self) -> Arc<str> {
        match self.shown {
            Shown::Display(key) => beginning(key),
            Shown::Debug(key) => beginning(format_args!("{key:?}")),
        }
    }
}

impl fmt::Debug for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.beginning())
    }
}

/// What a call holds of its key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Keys {
    pub(super) compartment: Option<InKey>,
    pub(super) bucket: Option<Place>,
}

impl Call {
    /// Tells a call its key, before its first attempt.
    pub fn keyed(self: Pin<&mut Self>, key: &Key<'_>) {
        let this = self.project();
        let pipeline = *this.pipeline;
        this.keys.compartment =
            pipeline.compartments().map(|keyed| keyed.hold(key.id, || key.beginning(), || key.wide()));
        if pipeline.last_good().is_some_and(LastGood::is_by_key) {
            this.seldom.more().key = key.id;
        }
        this.keys.bucket = pipeline.buckets().map(|rate| rate.hold(key.id, || key.beginning(), || key.wide()));
    }
}

impl Keys {
    #[inline]
    pub(super) fn are_held(self) -> bool {
        self.compartment.is_some() || self.bucket.is_some()
    }

    /// The call has ended.
    #[inline(never)]
    pub(super) fn let_go(self, pipeline: &Pipeline) {
        if let (Some((place, _)), Some(keyed)) = (self.compartment, pipeline.compartments()) {
            keyed.let_go(place);
        }
        if let (Some(place), Some(rate)) = (self.bucket, pipeline.buckets()) {
            rate.let_go(place);
        }
    }
}

impl Pipeline {
    /// The compartments of its keys, enforced or only observed.
    fn compartments(&self) -> Option<&'static Keyed> {
        let observed = || self.observer.get()?.bulkhead.get().map(|twin| &twin.compartment);
        self.bulkhead.as_ref().or_else(observed)?.keyed
    }

    /// The rate whose buckets its keys have, enforced or only observed.
    fn buckets(&self) -> Option<&'static Rate> {
        let observed = || self.observer.get()?.rate.get();
        self.rate.as_ref().or_else(observed).filter(|throttle| throttle.keyed).map(|throttle| throttle.rate)
    }
}
