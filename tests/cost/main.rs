//! What can be counted exactly: allocations and bytes. Times are the benchmarks' business.
//!
//! | module | what it holds |
//! |---|---|
//! | `allocations` | none for a call of the full stack whose body is ready, none for a refusal, once everything is warm |
//! | `sizes` | a guarded future is at most a kibibyte larger than the bare one |

mod allocations;
mod sizes;
