//! The user's block, made into something that runs under the runtime's eyes.
//!
//! ```text
//! without retry                                   with retry
//! let body = pin!(Some(async move { BODY }));     loop {
//! once(call, body, kind).await                        let argument = given.give(call);
//!                                                     let body = pin!(Some(async move { BODY }));
//!                                                     if let Some(end) = attempt(call, body, kind).await { break end; }
//!                                                 }
//! with hedge
//! let again = |is_last| { let argument = given.give_if(is_last); async move { BODY } };
//! loop {
//!     let body = pin!(Some(again(false)));
//!     if let Some(end) = race(call, body, (pin!(None), pin!(None)), &mut again, kind).await { break end; }
//! }
//! ```
//!
//! A fallback that names no argument is handed along (`once_or`, `attempt_or`) and runs inside of the same future: an
//! await of its own would be paid for in every function that is compiled, and is the dearest thing an expansion can
//! have. One that names an argument can only be made when the body is gone, so it has that await.
//!
//! The block stays in place and is handed down by `Pin<&mut _>`. Passed by value, it would be copied into the future of
//! every function it goes through, and deep call chains would overflow their stacks. It is an `async` block and no
//! closure: a closure that is called twice cannot lend `&mut self` to what it returns, and one that can loses `Send`. With
//! hedge it is one all the same, since two futures of one type have to come from one place in the source; there is nothing to
//! lend then, since two bodies could not both have it.
//!
//! Without retry the block takes its surroundings along (`async move`), as the plain function did, but for what a
//! fallback names. With retry the
//! arguments are made anew for each attempt and taken along as well; only a receiver that cannot be copied forces the
//! block to borrow.
//!
//! A block on its own would have its type guessed from its last expression, and every mismatch would be reported at the
//! attribute. So the declared type is stated first, in a branch that never runs: errors then point at the expression
//! that is wrong.
//!
//! Invariants
//! - The user's block occurs once, in its own braces.
//! - No generated `use` is visible from it.
//! - What was made for an attempt is gone before the next one starts.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Lifetime, Token, Type, TypeInfer};

use super::args::{Binding, Last};
use super::observed;
use super::paths::{Name, Paths, local, ours};
use crate::parse::shape::{Output, Shape};
use crate::plan::Plan;

/// What follows the body inside of the future that runs it.
pub(super) enum Then<'a> {
    /// Nothing: `__wt_end` is for others to see to.
    End,
    /// A fallback that names no argument, and the statements that prepare it.
    FallBack(&'a TokenStream, &'a TokenStream),
}

/// `let __wt_end = …;`, or the answer itself, of a body that runs once. What it takes along when it leaves something for
/// the fallback is in `taken`; otherwise that is everything.
pub(super) fn once(plan: &Plan, taken: Option<&[Binding]>, then: &Then<'_>, paths: &Paths<'_>) -> TokenStream {
    let here = Span::mixed_site();
    let body = block(plan, &taken.into_iter().flatten().map(Binding::take_in).collect());
    // The user's own place, names and all: from elsewhere, the compiler would take the block for the macro's and speak of
    // "value" where it means an argument. What is taken along although a fallback names it is reported here too.
    let at = plan.item.shape.block.span_open();
    let capture = taken.is_none().then(|| quote_spanned!(at=> move));
    let asynchronous = quote_spanned!(at=> async #capture);
    let kind = kind(plan, paths);
    let body = quote_spanned! {here=>
        let __wt_body = ::core::pin::pin!(::core::option::Option::Some(#asynchronous #body));
        #kind
    };
    match then {
        Then::End => {
            let once = paths.once(here);
            quote_spanned! {here=>
                let __wt_end = {
                    #body
                    #once(&mut __wt_call, __wt_body, __wt_kind).await
                };
            }
        }
        Then::FallBack(prepared, fallback) => {
            let run = or(paths.once_or(first(fallback)), fallback);
            quote_spanned!(here=> #body #prepared #run.await)
        }
    }
}

/// The same for a body that may run again.
pub(super) fn again(plan: &Plan, bindings: &[Binding], moves: bool, then: &Then<'_>, paths: &Paths<'_>) -> TokenStream {
    let here = Span::mixed_site();
    let put_by = bindings.iter().map(|binding| binding.put_by(paths));
    let leave = bindings.iter().map(Binding::leave);
    let hand_out = bindings.iter().map(|binding| binding.hand_out(Last::Call, moves));
    let take_in = if moves { TokenStream::new() } else { bindings.iter().map(Binding::take_in).collect() };
    let body = block(plan, &take_in);
    // What cannot be had twice is reported where the block is made: at the word that asks for the second time.
    let key = plan.retry.as_ref().map_or(here, |retry| retry.key);
    let capture = moves.then(|| quote_spanned!(key=> move));
    let asynchronous = quote_spanned!(key=> async #capture);
    let kind = kind(plan, paths);
    let body = quote_spanned! {here=>
        #(#hand_out)*
        let __wt_body = ::core::pin::pin!(::core::option::Option::Some(#asynchronous #body));
        #kind
    };
    match then {
        Then::End => {
            let attempt = paths.attempt(here);
            quote_spanned! {here=>
                #(#put_by)*
                let __wt_end = loop {
                    #body
                    if let ::core::option::Option::Some(__wt_end) =
                        #attempt(&mut __wt_call, __wt_body, __wt_kind).await
                    {
                        break __wt_end;
                    }
                };
                #(#leave)*
            }
        }
        Then::FallBack(prepared, fallback) => {
            let attempt = paths.attempt_or(first(fallback));
            let run = or(attempt, fallback);
            quote_spanned! {here=>
                #(#put_by)*
                loop {
                    #body
                    #prepared
                    if let ::core::option::Option::Some(__wt_whole) = #run.await {
                        break __wt_whole;
                    }
                }
            }
        }
    }
}

/// The same for a body that may run a second time beside the first.
pub(super) fn beside(plan: &Plan, bindings: &[Binding], key: Span, paths: &Paths<'_>) -> TokenStream {
    let here = Span::mixed_site();
    let (race, kind) = (paths.race(here), kind(plan, paths));
    let put_by = bindings.iter().map(|binding| binding.put_by(paths));
    let leave = bindings.iter().map(Binding::leave);
    let hand_out = bindings.iter().map(|binding| binding.hand_out(Last::Told, true));
    let body = block(plan, &TokenStream::new());
    let asynchronous = quote_spanned!(key=> async move);
    let observe = plan.tail.map(|(key, _)| key);
    let body = observed::wrapped(observe, quote!(#asynchronous #body), paths);
    let mutable = observe.map(|_| quote!(mut));
    let (draws, judge, judging) = observed::beside(observe, paths);
    // Without arguments of its own to hand out, the closure has no use for the word.
    quote_spanned! {here=>
        #(#put_by)*
        #draws
        let mut __wt_again = |__wt_is_last: bool| {
            let _ = __wt_is_last;
            #(#hand_out)*
            #body
        };
        let __wt_end = loop {
            let #mutable __wt_body = ::core::pin::pin!(::core::option::Option::Some(__wt_again(false)));
            #kind
            #judge
            let __wt_beside = (
                ::core::pin::pin!(::core::option::Option::None),
                ::core::pin::pin!(::core::option::Option::None),
            );
            if let ::core::option::Option::Some(__wt_end) =
                #race(&mut __wt_call, __wt_body, __wt_beside, #judging, __wt_kind).await
            {
                break __wt_end;
            }
        };
        #(#leave)*
    }
}

/// Runs the body and, if need be, the fallback; located there, since that is what has to change when it does not fit.
fn or(function: Name<'_>, fallback: &TokenStream) -> TokenStream {
    let at = first(fallback);
    let [call, body, kind] = ["__wt_call", "__wt_body", "__wt_kind"].map(|name| local(name, at));
    quote_spanned!(ours(at)=> #function(&mut #call, #body, #kind, #fallback))
}

/// The user's braces around the stated type and the user's block.
pub(super) fn block(plan: &Plan, take_in: &TokenStream) -> TokenStream {
    let user = &plan.item.shape.block;
    let anchor = anchor(&plan.item.shape, plan.item.sig.ident.span());
    // The label is never used. Without it, a body of one expression is "unnecessary braces" to the compiler, in the
    // user's own text.
    let label = Lifetime::new("'__wt_body", ours(user.span_open()));
    let mut outer = Group::new(Delimiter::Brace, quote!(#take_in #anchor #label: #user));
    outer.set_span(user.span());
    outer.into_token_stream()
}

/// States the type of the block where its author wrote it.
fn anchor(shape: &Shape, name: Span) -> TokenStream {
    let (ty, at) = match &shape.output {
        Output::Unit => (quote_spanned!(ours(name)=> ()), ours(name)),
        Output::Type(ty) => {
            let at = ours(ends(ty).0);
            let mut ty = ty.clone();
            Infer.visit_type_mut(&mut ty);
            (ty.into_token_stream(), at)
        }
        Output::Unknown => return TokenStream::new(),
    };
    // Not `let x: T = loop {}; return x;`: code that cannot be reached would need an `allow`, which a crate that
    // forbids the lint rejects.
    quote_spanned! {at=>
        if let ::core::option::Option::Some(__wt_return) = ::core::option::Option::None::<#ty> {
            return __wt_return;
        }
    }
}

/// `impl Trait` can be declared and not be named: the compiler fills in what the body returns.
struct Infer;

impl VisitMut for Infer {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::ImplTrait(opaque) = ty {
            let underscore_token = Token![_](opaque.impl_token.span);
            *ty = Type::Infer(TypeInfer { attrs: Vec::new(), underscore_token });
        }
        visit_mut::visit_type_mut(self, ty);
    }
}

/// `let __wt_kind = …;`: what the return type says, and what the user's predicates make of it.
pub(super) fn kind(plan: &Plan, paths: &Paths<'_>) -> TokenStream {
    let here = Span::mixed_site();
    let (kinds, returned) = (paths.kinds(here), paths.returned_by(here));
    let mut by_type = quote_spanned! {here=>
        let __wt_kind = {
            use #kinds::Choice as _;
            (&&&&&#returned(&__wt_body)).__wt_kind()
        };
    };
    // Located at the fallback: an answer that cannot be kept is reported there.
    if let Some(fallback) = plan.fallback.as_ref().filter(|fallback| fallback.last_good.is_some()) {
        by_type.extend(last_good(first(&fallback.value), paths));
    }
    let Some(verdict) = verdict(plan, paths) else { return by_type };
    let asking = paths.asking(here);
    quote_spanned! {here=>
        #by_type
        let __wt_kind = #asking(__wt_kind, |__wt_verdict, __wt_out| #verdict);
    }
}

/// `let (__wt_kind, __wt_fallback) = …;`: a kind whose successes are kept, and what answers with them.
pub(super) fn last_good(at: Span, paths: &Paths<'_>) -> TokenStream {
    let [call, kind, fallback] = ["__wt_call", "__wt_kind", "__wt_fallback"].map(|name| local(name, at));
    let last_good = paths.last_good(at);
    quote_spanned!(ours(at)=> let (#kind, #fallback) = #last_good(&#call, #kind);)
}

/// What the user's predicates make of `__wt_verdict`, if there are any.
fn verdict(plan: &Plan, paths: &Paths<'_>) -> Option<TokenStream> {
    let here = Span::mixed_site();
    let mut steps: Vec<(Name<'_>, Option<&Expr>)> = Vec::new();
    // What widens first, then what narrows: `abort` and `skip` have the last word.
    if let Some(retry) = &plan.retry {
        steps.extend(retry.any.then(|| (paths.retry_any(here), None)));
        steps.extend(retry.predicate.iter().map(|predicate| (paths.retry_on(first(predicate)), Some(predicate))));
        steps.extend(retry.abort.iter().map(|predicate| (paths.retry_abort(first(predicate)), Some(predicate))));
    }
    if let Some(breaker) = &plan.breaker {
        steps.extend(breaker.any.then(|| (paths.breaker_any(here), None)));
        steps.extend(breaker.predicate.iter().map(|predicate| (paths.breaker_on(first(predicate)), Some(predicate))));
        steps.extend(breaker.skip.iter().map(|predicate| (paths.breaker_skip(first(predicate)), Some(predicate))));
    }
    let by_type = (!steps.is_empty()).then(|| local("__wt_verdict", here).into_token_stream())?;
    Some(steps.into_iter().fold(by_type, |verdict, (function, predicate)| match predicate {
        None => quote_spanned!(here=> #function(#verdict)),
        Some(predicate) => asked(function, &verdict, predicate),
    }))
}

/// The verdict so far, as a predicate of the user's changes it.
fn asked(function: Name<'_>, verdict: &TokenStream, predicate: &impl ToTokens) -> TokenStream {
    let at = first(predicate);
    let out = local("__wt_out", at);
    quote_spanned!(ours(at)=> #function(#verdict, #out, #predicate))
}

/// The places of the first and of the last token.
pub(super) fn ends(tokens: &impl ToTokens) -> (Span, Span) {
    let mut all = tokens.to_token_stream().into_iter().map(|tree| tree.span());
    let first = all.next().unwrap_or_else(Span::call_site);
    (first, all.last().unwrap_or(first))
}

fn first(tokens: &impl ToTokens) -> Span {
    ends(tokens).0
}
