//! Rules about attempts that are left running.
//!
//! What runs on does so when its caller has been told that it failed, so it has to be harmless, and it has to own what it
//! works with. That the two hold is said by the word `idempotent` and seen at the arguments.
//!
//! Invariant: what passes here has a limit to run on beyond.

use proc_macro2::Span;

use super::threads::{self, Leaving};
use crate::diag::Errors;
use crate::parse::args::Args;
use crate::parse::item::Item;
use crate::parse::mode::{Mode, Strategy};

const LEAVING: Leaving = Leaving {
    why: "an attempt that is observed may run on when this call is long over, so it cannot borrow",
    alone: "the first attempt takes `self` along, and the next one would have none",
};

/// What the key asks of the other keys and of the function.
pub(super) fn fits(args: &Args, observe: &Mode, item: Option<&Item>, function: Span, errors: &mut Errors) {
    let Some(key) = args.tail.blame(function) else { return };
    if !args.timeout.written() {
        // An attribute with no strategy at all is told so, and that is enough.
        if args.protect() {
            errors.at(
                key,
                "this function has no `timeout`, so nothing is cut off whose length would have to be found out",
                "add `timeout = \"300ms\"`, or leave `observe` out",
            );
        }
        return;
    }
    if observe.observes(Strategy::Timeout) {
        errors.at(
            key,
            "the timeout only observes here and cuts nothing off, so every length is seen already",
            "enforce the timeout, or leave `observe = \"..%\"` out while you observe",
        );
    }
    if !args.idempotent.written() {
        errors.at(
            key,
            "an attempt that is observed runs on, and may still write, when its caller has been told that it failed",
            "add the key `idempotent` if that does no harm, or leave `observe` out",
        );
    }
    if args.isolate.written() {
        errors.at(
            key,
            "a body on a thread of its own runs on by itself when it is cut off, since nothing can stop it",
            "leave `observe` or `isolate` out",
        );
    } else if let Some(item) = item {
        threads::can_leave(args, item, &LEAVING, errors);
    }
    if let (Some(tail), Some(timeout)) = (args.tail.get(), args.timeout.get())
        && tail.cap.is_some_and(|cap| cap <= *timeout)
    {
        errors.at(
            key,
            "the `cap` is reached before the `timeout`, so nothing would be seen beyond it",
            "write a longer `cap`, or leave it out: without it, it is ten timeouts",
        );
    }
}
