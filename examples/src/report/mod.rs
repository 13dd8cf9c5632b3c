//! # The report
//!
//! The same results in three forms for three readers: a table side by side for the eye, a few sentences for whoever has
//! never seen such a table, JSON with every setting for whoever wants to compute with it. All three are made from the
//! one [`Outage`](crate::outage::Outage); none measures, and the sentences are chosen by the figures, so a run that
//! came out otherwise says so.
//!
//! Invariants:
//! * what was not measured is printed as "-", never as 0;
//! * a partial run is called partial in every form.

pub mod json;
pub mod story;
pub mod table;
pub mod words;
