//! A body that may be left running at its limit.
//!
//! ```text
//! let tail = tail_of(call);
//! loop {
//!     let argument = given.give(call);
//!     let body = pin!(Some(observed(tail, async move { BODY })));
//!     judged(body, errors_of(kind));
//!     … attempt, as for every other body
//! }
//! ```
//!
//! Whether this attempt is one that may leave is settled before its body is in its place, since afterwards it cannot be moved. What
//! the body names it owns: an argument that is needed again is cloned for it, as for a body on a thread of its own.
//!
//! Invariant: whether the body may leave is asked at the key: what the compiler has to say of it is said there.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

use super::args::{Binding, Last};
use super::body::{block, kind};
use super::paths::{Paths, local, ours};
use crate::plan::Plan;

/// `let __wt_end = …;` for a body that may be left running, and is alone.
pub(super) fn run(plan: &Plan, key: Span, bindings: &[Binding], paths: &Paths<'_>) -> TokenStream {
    let here = Span::mixed_site();
    let (tail, kind) = (draws(paths), kind(plan, paths));
    let (judged, errors_of) = (paths.judged(here), paths.errors_of(here));
    let put_by = bindings.iter().map(|binding| binding.put_by(paths));
    let leave = bindings.iter().map(Binding::leave);
    let hand_out = bindings.iter().map(|binding| binding.hand_out(Last::Call, true));
    let block = block(plan, &TokenStream::new());
    let body = wrapped(Some(key), quote_spanned!(ours(key)=> async move #block), paths);
    let body = quote_spanned! {here=>
        #(#hand_out)*
        let mut __wt_body = ::core::pin::pin!(::core::option::Option::Some(#body));
        #kind
        #judged(__wt_body.as_mut(), #errors_of(&__wt_kind));
    };
    let run = if plan.runs_again() {
        let attempt = paths.attempt(here);
        quote_spanned! {here=>
            let __wt_end = loop {
                #body
                if let ::core::option::Option::Some(__wt_end) = #attempt(&mut __wt_call, __wt_body, __wt_kind).await {
                    break __wt_end;
                }
            };
        }
    } else {
        let once = paths.once(here);
        quote_spanned! {here=>
            let __wt_end = {
                #body
                #once(&mut __wt_call, __wt_body, __wt_kind).await
            };
        }
    };
    quote_spanned!(here=> #(#put_by)* #tail #run #(#leave)*)
}

/// `let __wt_tail = …;`: what draws the attempts.
pub(super) fn draws(paths: &Paths<'_>) -> TokenStream {
    let here = Span::mixed_site();
    let tail_of = paths.tail_of(here);
    quote_spanned!(here=> let __wt_tail = #tail_of(&__wt_call);)
}

/// The body of an attempt, as one that may be left running if that is what the function is to do.
pub(super) fn wrapped(key: Option<Span>, body: TokenStream, paths: &Paths<'_>) -> TokenStream {
    let Some(key) = key else { return body };
    let (observed, tail) = (paths.observed(key), local("__wt_tail", key));
    quote_spanned!(ours(key)=> #observed(#tail, #body))
}

/// For two attempts at once: what draws them, what tells the first how an error is known, and what makes the second and tells it.
pub(super) fn beside(key: Option<Span>, paths: &Paths<'_>) -> (TokenStream, TokenStream, TokenStream) {
    let here = Span::mixed_site();
    if key.is_none() {
        return (TokenStream::new(), TokenStream::new(), quote_spanned!(here=> &mut __wt_again));
    }
    let (judged, judging, errors_of) = (paths.judged(here), paths.judging(here), paths.errors_of(here));
    let judge = quote_spanned! {here=>
        let __wt_errors = #errors_of(&__wt_kind);
        #judged(__wt_body.as_mut(), __wt_errors);
    };
    let second = quote_spanned!(here=> |__wt_is_last: bool| #judging(__wt_again(__wt_is_last), __wt_errors));
    (draws(paths), judge, second)
}
