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

use proc_macro2::{Ident, Punct, Spacing, Span, TokenStream};
use quote::{ToTokens, TokenStreamExt};
use syn::Path;

/// The runtime as seen from the user's function.
pub(super) struct Paths<'a>(pub(super) &'a Path);

/// One of its names, at a place. Written token by token straight into the expansion: made into a stream of its own first,
/// a path would have to be handed to the compiler and taken back wherever it is named.
#[derive(Clone, Copy)]
pub(super) struct Name<'a> {
    runtime: &'a Path,
    parts: &'static [&'static str],
    at: Span,
}

impl ToTokens for Name<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let at = ours(self.at);
        for (index, segment) in self.runtime.segments.iter().enumerate() {
            if index > 0 || self.runtime.leading_colon.is_some() {
                colons(at, tokens);
            }
            // Moved to the place, without a change of what it means.
            let mut ident = segment.ident.clone();
            ident.set_span(ident.span().located_at(at));
            tokens.append(ident);
        }
        for part in ["__private"].iter().chain(self.parts) {
            colons(at, tokens);
            tokens.append(Ident::new(part, at));
        }
    }
}

fn colons(at: Span, tokens: &mut TokenStream) {
    for spacing in [Spacing::Joint, Spacing::Alone] {
        let mut colon = Punct::new(':', spacing);
        colon.set_span(at);
        tokens.append(colon);
    }
}

macro_rules! names {
    ($($function:ident => $($part:ident)::+;)+) => {
        impl<'a> Paths<'a> {
            $(pub(super) fn $function(&self, at: Span) -> Name<'a> {
                Name { runtime: self.0, parts: &[$(stringify!($part)),+], at }
            })+
        }
    };
}

names! {
    site => Site;
    setting => Setting;
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
    returned_by => Returned::by;
    returned_of => Returned::of;
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
