//! How strategies stand to one another: the order of the full stack, step by step, and what each neighbour owes the next.
//!
//! ```text
//!   fallback( deadline( retry( breaker( bulkhead( timeout( body ))))))
//! ```
//!
//! | module | what it pins |
//! |---|---|
//! | `order` | the events of one call of the full stack, for every way it can end, whatever order the keys are written in |
//! | `pairs` | breaker × bulkhead, retry × bulkhead, retry × breaker, fallback × all, timeout × deadline |

mod order;
mod pairs;
