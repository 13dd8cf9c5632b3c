//! What answers for a call that failed, and where it is asked.
//!
//! A fallback that names no argument and has no terms is handed to the future that runs the body. Any other is asked when that
//! future is done, its terms first:
//!
//! ```text
//! let end = …;
//! let (kind, failure, terms) = {
//!     let terms = match weigh(kind, call, end) { Ok(terms) => terms, Err(spared) => return pass(call, spared, end) };
//!     match settle(kind, call, end) { Ok(whole) => return whole, Err(failure) => (kind, failure, terms) }
//! };
//! fall_back_on(kind, call, failure, FALLBACK, terms).await
//! ```
//!
//! Invariants
//! - What the compiler has to say of a fallback is said at the fallback, of a predicate at the predicate, and of a refusal that
//!   gets past both at the return type.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Expr, Pat};

use super::paths::{Name, Paths, local, ours};
use super::{body, mentions};
use crate::parse::shape::Kind;
use crate::plan::{self, Passes, Plan};

/// What of it may name the function's arguments. `last_good` is ours, and names nothing.
pub(super) fn of_the_users(fallback: &plan::Fallback) -> impl Iterator<Item = &Expr> {
    let value = Some(&fallback.value).filter(|_| fallback.last_good.is_none());
    value.into_iter().chain(&fallback.predicate)
}

/// Whether it can be made before it is known to be needed, and asked by whoever runs the body: making it runs nothing of the
/// user's, and it answers for everything, for as long as it takes.
pub(super) fn is_made_at_once(fallback: &plan::Fallback, has_deadline: bool) -> bool {
    let runs_nothing = matches!(fallback.value, Expr::Path(_) | Expr::Closure(_) | Expr::Call(_) | Expr::MethodCall(_));
    runs_nothing && fallback.passes == Passes::Nothing && !(has_deadline && fallback.last_good.is_none())
}

/// `Default::default`, from wherever.
fn is_default(path: &syn::Path) -> bool {
    let mut words = path.segments.iter().rev().map(|segment| &segment.ident);
    words.next().is_some_and(|last| last == "default") && words.next().is_some_and(|last| last == "Default")
}

/// A fallback in the form in which the runtime takes it.
pub(super) struct Fallback {
    at: Span,
    /// What has to stand before it.
    pub(super) prepared: TokenStream,
    pub(super) value: TokenStream,
}

impl Fallback {
    pub(super) fn new(fallback: &plan::Fallback, plan: &Plan, after: bool, paths: &Paths<'_>) -> Self {
        match fallback.last_good {
            None => Self::of(fallback, &plan.item.shape.kind, paths),
            Some(_) => Self::last_good(&fallback.value, after, paths),
        }
    }

    fn of(plan: &plan::Fallback, kind: &Kind, paths: &Paths<'_>) -> Self {
        let fallback = &plan.value;
        let (at, _) = body::ends(fallback);
        let (of_kind, told) = (local("__wt_kind", at), local("__wt_fallback", at));
        let value = match kind {
            Kind::AsyncTrait(_) => mentions::in_async_trait(fallback.to_token_stream()),
            _ => fallback.to_token_stream(),
        };
        let tell = |function: Name<'_>| quote_spanned!(ours(at)=> let #told = #function(&#of_kind, #value););
        let prepared = match fallback {
            Expr::Closure(_) if plan.unrefused => {
                let alone = paths.error_alone(at);
                return Self { at, prepared: TokenStream::new(), value: quote_spanned!(ours(at)=> #alone(#value)) };
            }
            // A closure that does not say what it takes has to be told before its body is looked at.
            Expr::Closure(closure) if closure.inputs.first().is_some_and(|input| !matches!(input, Pat::Type(_))) => {
                tell(paths.with_failure(at))
            }
            // Its type is whatever is wanted, so what is wanted has to be said.
            Expr::Path(path) if is_default(&path.path) => tell(paths.with_value(at)),
            Expr::Call(_) | Expr::MethodCall(_) => {
                return Self { at, prepared: TokenStream::new(), value: quote_spanned!(ours(at)=> || #value) };
            }
            _ => return Self { at, prepared: TokenStream::new(), value },
        };
        Self { at, prepared, value: told.into_token_stream() }
    }

    /// The most recent success, at the place where the user asks for it.
    fn last_good(fallback: &Expr, after: bool, paths: &Paths<'_>) -> Self {
        let (at, _) = body::ends(fallback);
        // Made together with what keeps the successes, and made anew where it has gone with the body's frame.
        let prepared = if after { body::last_good(at, paths) } else { TokenStream::new() };
        Self { at, prepared, value: local("__wt_fallback", at).into_token_stream() }
    }

    /// Asks it when the body and all that the body borrowed are gone; located at the fallback, since that is what has to
    /// change when it does not fit.
    pub(super) fn after(&self, plan: &Plan, paths: &Paths<'_>) -> TokenStream {
        let (here, at) = (Span::mixed_site(), self.at);
        let Self { prepared, value, .. } = self;
        let (kinds, returned, settle) = (paths.kinds(here), paths.returned_of(here), paths.settle(here));
        let [call, kind, failure, terms] =
            ["__wt_call", "__wt_kind", "__wt_failure", "__wt_terms"].map(|name| local(name, at));
        let weighed = weighed(plan, paths);
        let (asked, told) = if weighed.is_some() {
            let fall_back = paths.fall_back_on(at);
            let told = quote_spanned!(here=> (__wt_kind, __wt_failure, __wt_terms));
            (quote_spanned!(ours(at)=> #fall_back(#kind, &mut #call, #failure, #value, #terms).await), told)
        } else {
            let fall_back = paths.fall_back(at);
            let told = quote_spanned!(here=> (__wt_kind, __wt_failure));
            (quote_spanned!(ours(at)=> #fall_back(#kind, &mut #call, #failure, #value).await), told)
        };
        // A success is sorted out before anything is awaited, so that it need not be `Send` for the fallback's sake.
        quote_spanned! {here=>
            let #told = {
                use #kinds::Choice as _;
                let __wt_end = __wt_end;
                let __wt_kind = (&&&&&#returned(&__wt_end)).__wt_kind();
                #weighed
                match #settle(&__wt_kind, &mut __wt_call, __wt_end) {
                    ::core::result::Result::Ok(__wt_whole) => return __wt_whole,
                    ::core::result::Result::Err(__wt_failure) => #told,
                }
            };
            #prepared
            #asked
        }
    }
}

/// `let __wt_terms = …;`, if it has any.
fn weighed(plan: &Plan, paths: &Paths<'_>) -> Option<TokenStream> {
    let (here, fallback) = (Span::mixed_site(), plan.fallback.as_ref()?);
    // The most recent success is there at once, or it is not there.
    let in_time = (plan.deadline.is_some() && fallback.last_good.is_none()).then(|| {
        let (kinds, carrier) = (paths.kinds(here), paths.carrier(here));
        quote_spanned! {here=>
            let __wt_terms = {
                use #kinds::{Carries as _, CarriesNothing as _};
                __wt_terms.within((&&#carrier::of(&__wt_kind)).__wt_carry())
            };
        }
    });
    if fallback.passes == Passes::Nothing {
        let bounded = paths.bounded(here);
        return in_time.map(|in_time| quote_spanned!(here=> let __wt_terms = #bounded(&__wt_kind); #in_time));
    }
    let weigh = match &fallback.predicate {
        None => {
            let weigh = paths.weigh(here);
            quote_spanned!(here=> #weigh(&__wt_kind, &mut __wt_call, &__wt_end))
        }
        Some(predicate) => {
            let weigh = paths.weigh_on(here);
            let asked = asked(predicate, &plan.item.shape.kind, paths);
            quote_spanned!(here=> #weigh(&__wt_kind, &mut __wt_call, &__wt_end, |__wt_out| #asked))
        }
    };
    let pass = pass(plan, fallback, paths);
    Some(quote_spanned! {here=>
        let __wt_terms = match #weigh {
            ::core::result::Result::Ok(__wt_terms) => __wt_terms,
            ::core::result::Result::Err(__wt_spared) => return #pass,
        };
        #in_time
    })
}

/// What a predicate of the user's says of the function's own error.
fn asked(predicate: &Expr, kind: &Kind, paths: &Paths<'_>) -> TokenStream {
    let (at, _) = body::ends(predicate);
    let (on, out) = (paths.fallback_on(at), local("__wt_out", at));
    let predicate = match kind {
        Kind::AsyncTrait(_) => mentions::in_async_trait(predicate.to_token_stream()),
        _ => predicate.to_token_stream(),
    };
    quote_spanned!(ours(at)=> #on(#out, #predicate))
}

/// What the caller gets when it is not asked, as the declared type.
fn pass(plan: &Plan, fallback: &plan::Fallback, paths: &Paths<'_>) -> TokenStream {
    let (first, last) = super::return_type(plan);
    let function = if fallback.passes == Passes::Refusals { paths.pass(first) } else { paths.pass_unrefused(first) };
    let [call, spared] = ["__wt_call", "__wt_spared"].map(|name| local(name, first));
    let end = super::end(first, last);
    quote_spanned!(ours(first)=> #function(&mut #call, #spared, ::core::convert::identity #end))
}
