//! The documented behaviour of each key, through the attribute: one file per key, and three for what belongs to none.
//!
//! | file | what it holds to the manual |
//! |---|---|
//! | `timeout` `deadline` `bulkhead` `rate` `retry` `hedge` `breaker` `fallback` `idempotent` `name` | the key of that name |
//! | `keyed` | a compartment and a bucket for each key |
//! | `bulkhead_auto` | slots found by measuring, against a model of a dependency |
//! | `hedge_load` | what hedging buys under load, and what it costs at most |
//! | `breaker_windows` `breaker_slow` `breaker_listeners` | the breaker's long form, and who hears of its changes |
//! | `retry_backoff` `retry_abort` | the retry's long form |
//! | `isolate` `isolate_plain` | the key of that name, on async and on plain functions |
//! | `observe` | the key `mode`: what strategies that only observe count, and that they do nothing |
//! | `tail` | the key `observe`: attempts that run on beyond their limit, and what they leave untouched |
//! | `pools` | the key `guards`, and what the check makes of it |
//! | `context` | `attempt()` and `call_id()`, inside, outside and nested |
//! | `testing` `inject` | what the feature of that name promises to tests of services, and faults by name |
//! | `errors` | what watertight's error says, and what it can become |
//! | `guard` `guard_keyed` `guard_isolated` | the same strategies for closures, built by hand; by key, hedged, with the most recent success; on threads |
//! | `tower_layer` | guards as tower layers |
//! | `tasks` `stream` | what tasks, sets of tasks and streams keep, and what a token ends |
//! | `fallback_on` `fallback_terms` | what a fallback answers for; for how many at once, and for how long |
//! | `last_good` | the fallback that answers with the most recent success |
//! | `shapes` | which functions can be annotated, and that their futures stay `Send` |

mod breaker;
mod bulkhead;
mod bulkhead_auto;
mod check;
mod context;
mod deadline;
mod errors;
mod fallback;
mod fallback_on;
mod fallback_terms;
mod guard;
mod guard_isolated;
mod guard_keyed;
mod hedge;
mod hedge_load;
mod idempotent;
mod inject;
mod isolate;
mod isolate_plain;
mod keyed;
mod last_good;
mod name;
mod observe;
mod pools;
mod rate;
mod retry;
mod shapes;
mod stream;
mod tail;
mod tasks;
mod testing;
mod timeout;
mod tower_layer;

mod breaker_listeners;
mod breaker_slow;
mod breaker_windows;
mod retry_abort;
mod retry_backoff;
