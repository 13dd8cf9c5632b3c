//! The settings of this process, and who has to hear of a change.
//!
//! ```text
//!   a source changes ──▶ judged ── wrong ──▶ nothing happens, the mistakes are told
//!                           └─ right ──▶ merged anew ──▶ every subject settles: names first, then functions
//! ```
//!
//! Subjects are what lives: the registry's names, and the pipeline of each function, from its first call on. Each is handed
//! all that is set and takes what concerns it; a subject that finds nothing changed does nothing. One thread at a time tells
//! them. Whoever changes settings meanwhile, a listener of a breaker that has just been changed for one, leaves a note and
//! goes on, and the thread that is at it goes round once more.
//!
//! Invariants: no lock is held while a subject settles; when a change returns on an idle store, all subjects have settled; a
//! subject that is added is settled by what holds then, and told of whatever comes after.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::merged::{Layer, Merged};
use super::mistake::Mistakes;
#[cfg(feature = "testing")]
use crate::call::world::{Copies, World};

/// Something that lives, and goes by settings.
pub(crate) trait Subject: Sync {
    /// Takes what concerns it.
    fn settle(&self, merged: &Merged);
}

/// Where settings come from, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Live,
    #[cfg_attr(not(feature = "settings"), allow(dead_code))]
    Environment,
    #[cfg_attr(not(feature = "settings"), allow(dead_code))]
    File,
}

#[derive(Default)]
struct Store {
    layers: BTreeMap<Source, Layer>,
    merged: Arc<Merged>,
    /// What has a name, which is told before those that use it.
    names: Option<&'static dyn Subject>,
    subjects: Vec<&'static dyn Subject>,
    /// What was wrong with the file the last time it was read, if it was.
    rejected: Option<Mistakes>,
    telling: bool,
    again: bool,
}

fn store() -> MutexGuard<'static, Store> {
    static STORE: OnceLock<Mutex<Store>> = OnceLock::new();
    let own = STORE.get_or_init(Default::default);
    #[cfg(feature = "testing")]
    let own = World::here().map_or(own, |world| {
        static COPIES: Copies<Mutex<Store>> = Copies::new();
        COPIES.of(world, 0, Default::default)
    });
    own.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All that is set now.
pub(crate) fn current() -> Arc<Merged> {
    Arc::clone(&store().merged)
}

/// What one source says now.
pub(super) fn layer(source: Source) -> Layer {
    store().layers.get(&source).cloned().unwrap_or_default()
}

/// Adds one that settles from now on. Once anything is set, everybody settles once more: what was set while this one was being
/// made may have passed it by.
pub(crate) fn enrol(subject: &'static dyn Subject) {
    let mut store = store();
    if store.subjects.iter().any(|known| std::ptr::addr_eq(*known, subject)) {
        return;
    }
    store.subjects.push(subject);
    let anything_is_set = !store.merged.all.is_empty();
    drop(store);
    if anything_is_set {
        tell();
    }
}

/// Changes what sources say.
pub(super) fn change(by: impl FnOnce(&mut BTreeMap<Source, Layer>)) {
    let mut store = store();
    by(&mut store.layers);
    store.merged = Arc::new(Merged::of(store.layers.values()));
    drop(store);
    tell();
}

/// What would be set if these sources said this.
pub(super) fn supposing<const N: usize>(these: [(Source, &Layer); N]) -> Merged {
    let store = store();
    let mut layers: BTreeMap<Source, &Layer> = store.layers.iter().map(|(source, layer)| (*source, layer)).collect();
    layers.extend(these);
    Merged::of(layers.into_values())
}

/// Takes note of what was wrong with a file, or that nothing is any more.
#[cfg_attr(not(feature = "settings"), allow(dead_code))]
pub(super) fn note_rejected(mistakes: Option<Mistakes>) {
    store().rejected = mistakes;
}

/// What was wrong with the settings file or the environment the last time they were read, if they were not applied for it.
pub fn rejected() -> Option<Mistakes> {
    store().rejected.clone()
}

/// Has what has a name settle from now on.
pub(crate) fn enrol_names(subject: &'static dyn Subject) {
    store().names.get_or_insert(subject);
}

/// One thread's turn at telling; given up however it ends.
struct Turn;

impl Drop for Turn {
    fn drop(&mut self) {
        store().telling = false;
    }
}

fn tell() {
    {
        let mut store = store();
        if std::mem::replace(&mut store.telling, true) {
            store.again = true;
            return;
        }
    }
    let turn = Turn;
    loop {
        let (merged, subjects) = {
            let mut store = store();
            store.again = false;
            let all: Vec<_> = store.names.iter().chain(&store.subjects).copied().collect();
            (Arc::clone(&store.merged), all)
        };
        for subject in subjects {
            subject.settle(&merged);
        }
        // Asked and given up under one lock, or a note left in between would be nobody's.
        let mut store = store();
        if !store.again {
            store.telling = false;
            drop(store);
            std::mem::forget(turn);
            return;
        }
    }
}
