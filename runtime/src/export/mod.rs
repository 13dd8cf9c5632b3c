//! Figures for other systems. One file per system; one that needs a crate is behind the feature named after it.

#[cfg(feature = "metrics")]
mod facade;
mod monitoring;
mod prometheus;

#[cfg(feature = "metrics")]
pub use facade::{Publisher, publish, publish_every};
#[cfg(feature = "json")]
pub use monitoring::grafana;
pub use monitoring::{Monitoring, rules};
pub use prometheus::{OPENMETRICS, PROMETHEUS, openmetrics, prometheus};
