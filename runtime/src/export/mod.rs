//! Figures for other systems. One file per system, each behind the feature named after it.

#[cfg(feature = "metrics")]
mod facade;

#[cfg(feature = "metrics")]
pub use facade::{Publisher, publish, publish_every};
