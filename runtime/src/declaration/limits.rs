//! The legal range of every figure that a site may declare, and the few defaults that a rule compares with.
//!
//! The attribute checks them when the user's crate is compiled, the builder when a guard is built, and what one refuses
//! the other must not let through. The two crates cannot share a module: one is a macro and exports macros alone. So
//! this file stands in both, letter for letter, and a test holds the copies equal.
//!
//! Invariant: nothing in here but constants and one question about a character; lengths are in nanoseconds, shares from
//! 0 to 1.

/// Thirty years of 365 days: where the runtime stops counting as well.
pub(crate) const LONGEST: u64 = 30 * 365 * 86_400 * 1_000_000_000;

/// How many slots, or callers in a queue, or both together, a bulkhead may have: its word has room for no more.
pub(crate) const MOST_SLOTS: u64 = 1_000_000;

/// More threads than anybody means: each reserves a stack, and a thousand that hang are no bound.
pub(crate) const MOST_THREADS: u64 = 1_024;

/// The fewest slots of a bulkhead that finds their number by measuring, unless it says how many.
pub(crate) const FLOOR: u32 = 2;
/// The most.
pub(crate) const CEILING: u32 = 128;

/// The shortest time between two tokens of a rate: finer, and an interval in whole nanoseconds would be off by more than a
/// thousandth.
pub(crate) const SHORTEST_INTERVAL: u64 = 1_000;

/// The results a breaker may judge together, and wait for.
pub(crate) const MOST_CALLS: u64 = 100_000;
/// The shortest time in which a breaker may judge: it is counted in tenths, and a tenth of less is noise.
pub(crate) const SHORTEST_WINDOW: u64 = 100_000_000;
/// The longest: an hour ago says nothing about now.
pub(crate) const LONGEST_WINDOW: u64 = 3_600_000_000_000;
/// The least share that opens a breaker.
pub(crate) const LEAST_SHARE: f64 = 0.001;
/// The probes of a breaker.
pub(crate) const MOST_PROBES: u64 = 1_000;
/// The window of a breaker that does not name one: the runtime's default.
pub(crate) const WINDOW: u32 = 100;

/// Further attempts.
pub(crate) const MOST_RETRIES: u64 = 100;
/// What the pauses may be multiplied by.
pub(crate) const MOST_FACTOR: f64 = 100.0;
/// Retries granted a second, above which a budget is none.
pub(crate) const MOST_PER_SECOND: f64 = 1e6;

/// The characters of a name.
pub(crate) const LONGEST_NAME: usize = 64;

/// Whether a character can stand in a metric label, a key of a settings file and a shell's argument alike.
pub(crate) fn can_stand_in_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}
