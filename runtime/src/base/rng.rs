//! Randomness for jitter, kept out of every decision.
//!
//! A decision is handed a roll between 0 and 1 like it is handed the time, so a test can hand it any roll it likes and
//! a failing run can be repeated. Only drivers call [`roll`].
//!
//! Invariant: no decision module imports this one.

/// A number drawn evenly from 0 (included) to 1 (excluded).
pub(crate) fn roll() -> f64 {
    fastrand::f64()
}
