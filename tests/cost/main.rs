//! What can be counted exactly: allocations and bytes. Times are the benchmarks' business.
//!
//! | module | what it holds |
//! |---|---|
//! | `allocations` | none for a call of the full stack whose body is ready, none for a refusal, once everything is warm |
//! | `keys` | keys seen once leave next to nothing, keys in use a few hundred bytes each, and nothing once they are not |
//! | `sizes` | a guarded future is at most a kibibyte larger than the bare one |
//! | `unwatched` | calls that nobody watches add nothing to what the first ones took |

mod allocations;
mod keys;
mod sizes;
mod unwatched;
