//! Rules of the repository, as tests.
//!
//! | module | rule |
//! |---|---|
//! | `layers` | a module of the runtime imports what the table in ARCHITECTURE.md allows, and nothing else |
//! | `sizes` | no source file has more than 400 lines that are not tests |
//! | `essays` | every source file opens with an essay |
//! | `clock` | the runtime has one clock, does not block, and does not panic on purpose |
//! | `metrics_doc` | the table in docs/metrics.md is the list in the code |
//! | `twins` | a file that stands in both crates is one file |
//!
//! Each rule is a function over text, and has a test of its own that it finds what it looks for.

mod clock;
mod essays;
mod layers;
mod metrics_doc;
mod sizes;
mod source;
mod twins;
