//! Other libraries' traits on top of ours, one file and one feature each.
//!
//! Invariants: an integration drives calls through [`crate::guard`] and has no way of its own; none imports another.

#[cfg(feature = "tower")]
pub(crate) mod tower;
