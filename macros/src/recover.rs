//! What is emitted when the attribute cannot do its work.
//!
//! A macro that fails and emits only its error takes the function away with it. Then every caller fails to compile,
//! the editor marks half the file, and the one sentence that matters is the last to be read. So the item goes out
//! exactly as it came in, behind the messages: one mistake is one error.
//!
//! The same holds for mistakes of our own. Half-typed code reaches a macro in states that nobody has thought of; a
//! panic in here is caught and turned into a message that says whose fault it is.
//!
//! Invariants
//! - The item's tokens are in the output, unread and unchanged, whatever happened; of an `impl` block, all but the
//!   attributes of this crate.
//! - Without an error there is no sign of this file in the output.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proc_macro2::TokenStream;
use quote::quote;

use crate::parse::block::without_own;

/// The expansion of `item`, or the messages and `item` as it was.
pub(crate) fn guarded(
    item: TokenStream,
    expand: impl FnOnce(TokenStream) -> Result<TokenStream, TokenStream>,
) -> TokenStream {
    let kept = item.clone();
    let messages = match catch_unwind(AssertUnwindSafe(|| expand(item))) {
        Ok(Ok(expanded)) => return expanded,
        Ok(Err(messages)) => messages,
        Err(panic) => ours(panic.as_ref()),
    };
    // Its methods' own attributes must not be expanded now: they may be about the block's.
    let kept = without_own(kept);
    quote!(#messages #kept)
}

/// A panic as a message.
fn ours(panic: &(dyn std::any::Any + Send)) -> TokenStream {
    let said = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    let message = format!(
        "the attribute `resilient` failed on this function, which is a bug in watertight and not in your code: {said}\n\
         please report it with the function's signature; until then, remove the attribute here"
    );
    quote!(::core::compile_error! { #message })
}
