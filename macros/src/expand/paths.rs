//! Every name of the runtime that generated code may touch, once.
//!
//! The two crates are one product that ships as two, and this list is the seam: what stands here has to exist under
//! `__private` over there, and nothing else of the runtime may be named in an expansion. A change on either side is a
//! change to this file.
//!
//! A path is made *for a place*. The compiler underlines from the first to the last token of an expression, so a call
//! that is meant to fail at the user's return type has to be located there with all of its tokens. Only the location
//! is borrowed; names resolve as in the macro, so nothing of the user's can be picked up by accident.
//!
//! Invariants
//! - Paths begin with `::` or with what the user gave as `crate`.
//! - Local names begin with `__wt_` and carry the macro's own hygiene: a user's local of the same name is another one.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Path;

/// The runtime as seen from the user's function.
pub(super) struct Paths<'a>(pub(super) &'a Path);

macro_rules! names {
    ($($function:ident => $($part:ident)::+;)+) => {
        impl Paths<'_> {
            $(pub(super) fn $function(&self, at: Span) -> TokenStream {
                let at = ours(at);
                let parts = quote_spanned!(at=> ::__private$(::$part)+);
                let runtime = located(self.0.to_token_stream(), at);
                quote!(#runtime #parts)
            })+
        }
    };
}

names! {
    site => Site;
    declaration => Declaration;
    timeout => timeout::Config;
    deadline => deadline::Config;
    bulkhead => bulkhead::Config;
    rate_enabled => rate_enabled;
    rate => rate::Config;
    breaker => breaker::Config;
    isolate => isolate::Config;
    retry => retry::Config;
    hedge => hedge::Config;
    observe => Observe;
    tail => tail::Config;
    list => list;
    call => Call;
    enter => enter;
    entered => Entered;
    isolated => isolated;
    end => End;
    wait => wait;
    once => once;
    once_or => once_or;
    attempt => attempt;
    attempt_or => attempt_or;
    race => race;
    tail_of => tail_of;
    observed => observed;
    judged => judged;
    judging => judging;
    errors_of => errors_of;
    given => Given;
    keys => keys;
    key_of => keys::KeyOf;
    kinds => kinds;
    returned => Returned;
    asking => asking;
    last_good => last_good;
    retry_any => retry_any;
    retry_on => retry_on;
    retry_abort => retry_abort;
    breaker_any => breaker_any;
    breaker_on => breaker_on;
    breaker_skip => breaker_skip;
    answer => answer;
    answer_unrefused => answer_unrefused;
    with_failure => with_failure;
    with_value => with_value;
    error_alone => ErrorAlone;
    settle => settle;
    fall_back => fall_back;
    fall_back_on => fall_back_on;
    fallback => fallback::Config;
    fallback_on => fallback_on;
    weigh => weigh;
    weigh_on => weigh_on;
    bounded => bounded;
    pass => pass;
    pass_unrefused => pass_unrefused;
    carrier => Carrier;
}

/// A local variable of the expansion, located at `at`.
pub(super) fn local(name: &str, at: Span) -> Ident {
    Ident::new(name, ours(at))
}

/// The place of `at` with the names of the macro.
pub(super) fn ours(at: Span) -> Span {
    Span::mixed_site().located_at(at)
}

/// Moves `tokens` to `at` without changing what they mean.
fn located(tokens: TokenStream, at: Span) -> TokenStream {
    let place = |mut tree: TokenTree| {
        let span = tree.span().located_at(at);
        if let TokenTree::Group(group) = &tree {
            tree = Group::new(group.delimiter(), located(group.stream(), at)).into();
        }
        tree.set_span(span);
        tree
    };
    tokens.into_iter().map(place).collect()
}
