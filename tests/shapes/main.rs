//! Every shape of async function, guarded, beside the same function bare.
//!
//! A module here is one group of shapes, written once as a macro and made three times: bare, guarded, and guarded with
//! retry (so every shape is also shown to survive `macro_rules`). A shape has to do three things: give what the bare
//! function gives; end at its timeout when it hangs, where the bare one goes on hanging; and, under retry, start each
//! attempt from the arguments it was called with.

mod arguments;
mod async_trait;
mod blocks;
mod company;
mod fallbacks;
mod futures;
mod generics;
mod hedged;
mod hygiene;
mod nesting;
mod receivers;
mod returns;
mod support;
