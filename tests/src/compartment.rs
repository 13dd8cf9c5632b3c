//! What a bulkhead and a set of threads have in common: who runs and who waits.

/// The figures of a bulkhead, or of the threads of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compartment {
    /// How many may run.
    pub slots: u32,
    /// How many run.
    pub running: u32,
    /// How many have run at once at most.
    pub peak_running: u32,
    /// How many wait.
    pub queued: u32,
    /// How many have waited at once at most.
    pub peak_queued: u32,
}

/// The compartment of a name.
///
/// # Panics
///
/// When there is none of that name.
#[track_caller]
pub fn compartment(name: &str) -> Compartment {
    let snapshot = watertight::snapshot();
    if let Some(it) = snapshot.isolate(name) {
        let (slots, running, peak_running) = (it.threads, it.running, it.peak_running);
        return Compartment { slots, running, peak_running, queued: it.queued, peak_queued: it.peak_queued };
    }
    let it = snapshot.bulkhead(name).unwrap_or_else(|| panic!("no bulkhead `{name}`"));
    let (slots, running, peak_running) = (it.slots, it.running, it.peak_running);
    Compartment { slots, running, peak_running, queued: it.queued, peak_queued: it.peak_queued }
}

/// How many run in a compartment and how many wait for it.
#[track_caller]
pub fn occupancy(name: &str) -> (u32, u32) {
    let figures = compartment(name);
    (figures.running, figures.queued)
}

/// Asserts that a compartment has `slots` slots, that nobody runs and nobody waits.
///
/// # Panics
///
/// When it is not so.
#[track_caller]
pub fn assert_quiet(name: &str, slots: u32) {
    let it = compartment(name);
    assert_eq!((it.running, it.queued, it.slots), (0, 0, slots), "running, queued, slots of `{name}`");
}
