//! A body that leaves for a thread of its own.
//!
//! ```text
//! let end = loop {
//!     let seat = match enter(call).await { Seat(seat) => seat, Refused => break .., Again => continue };
//!     let argument = given.give(call);
//!     let body = pin!(Some(isolated(seat, async move { BODY })));
//!     … once or attempt, as for every other body
//! };
//! ```
//!
//! The slot comes before the body, not beside it, since the body takes the slot along. What the body names it owns:
//! everything is moved, and an argument that is needed again (by a further attempt, by a fallback that names it) is
//! cloned for the body.
//!
//! A plain function is the same statements in an async block that the caller's thread waits for.
//!
//! Invariants
//! - Whether the body may leave is asked at the key: what the compiler has to say of it is said there.
//! - A refused attempt clones nothing.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};

use super::args::{Binding, Last};
use super::body::{block, kind};
use super::paths::{Paths, local, ours};
use crate::parse::shape::Kind;
use crate::plan::{Isolate, Plan};

/// `let __wt_end = …;` for a body that leaves.
pub(super) fn run(plan: &Plan, isolate: &Isolate, bindings: &[Binding], paths: &Paths<'_>) -> TokenStream {
    let here = Span::mixed_site();
    let (enter, entered, end, isolated) =
        (paths.enter(here), paths.entered(here), paths.end(here), paths.isolated(isolate.key));
    let kind = kind(plan, paths);
    let put_by = bindings.iter().map(|binding| binding.put_by(paths));
    let leave = bindings.iter().map(Binding::leave);
    let hand_out = bindings.iter().map(|binding| binding.hand_out(Last::Call, true));
    let body = block(plan, &TokenStream::new());
    let seat = local("__wt_seat", isolate.key);
    let body = quote_spanned!(ours(isolate.key)=> #isolated(#seat, async move #body));
    let run = if plan.runs_again() {
        let attempt = paths.attempt(here);
        quote_spanned! {here=>
            if let ::core::option::Option::Some(__wt_end) = #attempt(&mut __wt_call, __wt_body, __wt_kind).await {
                break __wt_end;
            }
        }
    } else {
        let once = paths.once(here);
        quote_spanned!(here=> break #once(&mut __wt_call, __wt_body, __wt_kind).await;)
    };
    quote_spanned! {here=>
        #(#put_by)*
        let __wt_end = loop {
            let __wt_seat = match #enter(&mut __wt_call).await {
                #entered::Seat(__wt_seat) => __wt_seat,
                #entered::Refused => break #end::Refused,
                #entered::Again => continue,
            };
            #(#hand_out)*
            let __wt_body = ::core::pin::pin!(::core::option::Option::Some(#body));
            #kind
            #run
        };
        #(#leave)*
    }
}

/// The statements of a plain function: its caller's thread waits for them.
pub(super) fn waited_for(plan: &Plan, guarded: TokenStream, paths: &Paths<'_>) -> TokenStream {
    if !matches!(plan.item.shape.kind, Kind::Plain) {
        return guarded;
    }
    let here = Span::mixed_site();
    let wait = paths.wait(here);
    quote_spanned!(here=> #wait(async move { #guarded })).into_token_stream()
}
