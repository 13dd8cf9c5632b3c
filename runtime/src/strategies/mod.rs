//! One mechanism each, none of which knows another.
//!
//! | strategy | key | what it does | what it takes and gives back |
//! |---|---|---|---|
//! | [`fallback`] | `fallback` | answers when nothing else can | nothing |
//! | [`deadline`] | `deadline` | bounds the call and all it awaits | nothing |
//! | [`retry`] | `retry` | asks again, within a budget | a retry from the budget |
//! | [`hedge`] | `hedge` | asks a second time beside an attempt that takes long | a retry from the budget |
//! | [`breaker`] | `breaker` | stops asking once failure is undeniable | an admission, a probe |
//! | [`rate`] | `rate` | bounds how often bodies start | a token, a place in line |
//! | [`bulkhead`] | `bulkhead` | bounds how many run and how many wait | a slot, a place in the queue |
//! | [`isolate`] | `isolate` | gives code that blocks threads of its own | nothing: the slot is a bulkhead's |
//! | [`timeout`] | `timeout` | bounds one attempt | nothing |
//! | [`tail`] | `observe` | leaves a few attempts running at that bound, to learn from them | a place among the few |
//!
//! A strategy is one file until it outgrows it, then a folder: `mod` argues, `config` holds what a site declares,
//! `decide` is pure and is handed the time, `guard` gives back in its Drop what was taken. How the strategies stand in
//! line is the business of the pipeline alone.
//!
//! Invariants: no module in this folder imports a sibling; no `decide` awaits, reads a clock or rolls a die.

pub(crate) mod breaker;
pub(crate) mod bulkhead;
pub(crate) mod deadline;
pub mod fallback;
pub(crate) mod hedge;
pub(crate) mod isolate;
pub(crate) mod rate;
pub(crate) mod retry;
pub(crate) mod tail;
pub(crate) mod timeout;
