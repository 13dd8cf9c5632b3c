//! Plan to tokens: the generated function in one piece.
//!
//! ```text
//! <attributes> <signature> {
//!     static __WT_SITE: Site = …;              site    who this is
//!     let mut __wt_call = pin!(begin);                 one call of it
//!     let __wt_end = …;                        body    the user's block, once or in a loop
//!     answer(__wt_call, __wt_end)                      how it ended, as the declared type
//! }
//! ```
//!
//! Generated code is read in stack traces, stepped through in debuggers and compiled for every annotated function, so
//! there is as little of it as will do: four statements, all decisions behind them in code that exists once.
//!
//! The last statement is where types are asked. A result that can hold a refusal, a fallback that fits: either holds or
//! is reported by the compiler, at the return type or at the fallback, in the words that the runtime's traits carry.
//!
//! Invariants
//! - Only a validated plan gets here, and nothing here can fail.
//! - Outside of the user's tokens no name resolves by way of the user's scope, except the path given as `crate`.

mod args;
mod body;
mod fallback;
mod isolated;
mod mentions;
mod observed;
mod paths;
mod site;

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, ReturnType, Type};

use self::args::Kept;
use self::body::Then;
use self::fallback::Fallback;
use self::mentions::Mentions;
use self::paths::{Paths, local, ours};
use crate::parse::shape::{Kind, Output};
use crate::plan::Plan;

/// The guarded function.
pub(crate) fn expand(mut plan: Plan) -> TokenStream {
    let mentions = Mentions::of(plan.fallback.as_ref().into_iter().flat_map(fallback::of_the_users));
    let runs_again = plan.runs_again();
    let (sig, kind) = (&mut plan.item.sig, &mut plan.item.shape.kind);
    let leaves = plan.isolate.is_some() || (plan.tail.is_some() && plan.hedge.is_none());
    let bindings = if leaves {
        Some(args::for_thread(sig, kind, &mentions, runs_again))
    } else if runs_again {
        Some(args::of(sig, kind, &Kept { mentions: &mentions, in_place: false }))
    } else {
        args::but_for(sig, kind, &mentions)
    };
    let after = if runs_again {
        args::leaves(&plan.item.sig, bindings.as_deref().unwrap_or_default(), &mentions)
    } else {
        bindings.is_some()
    } || leaves
        || plan.hedge.is_some()
        || !plan.fallback.as_ref().is_some_and(|it| fallback::is_made_at_once(it, plan.deadline.is_some()));
    let paths = Paths(&plan.runtime);
    let here = Span::mixed_site();
    let (site, call) = (site::declare(&plan, &paths), paths.call(here));
    let fallback = plan.fallback.as_ref().map(|it| Fallback::new(it, &plan, after, &paths));
    let (then, answer) = match &fallback {
        None => (Then::End, answer(&plan, &paths)),
        Some(fallback) if after => (Then::End, fallback.after(&plan, &paths)),
        Some(fallback) => (Then::FallBack(&fallback.prepared, &fallback.value), TokenStream::new()),
    };
    let run = if let Some(isolate) = &plan.isolate {
        isolated::run(&plan, isolate, bindings.as_deref().unwrap_or_default(), &paths)
    } else if let Some(hedge) = &plan.hedge {
        body::beside(&plan, bindings.as_deref().unwrap_or_default(), hedge.key, &paths)
    } else if let Some((key, _)) = plan.tail {
        observed::run(&plan, key, bindings.as_deref().unwrap_or_default(), &paths)
    } else if runs_again {
        let moves = args::may_move(&plan.item.sig);
        body::again(&plan, bindings.as_deref().unwrap_or_default(), moves, &then, &paths)
    } else {
        body::once(&plan, bindings.as_deref(), &then, &paths)
    };
    let key = plan.key.as_ref().map(|key| tell_key(key, &plan.item.shape.kind, &paths));
    let guarded = quote_spanned! {here=>
        #site
        let mut __wt_call = ::core::pin::pin!(#call::begin(&__WT_SITE));
        #key
        #run
        #answer
    };
    in_place(&plan, isolated::waited_for(&plan, guarded, &paths))
}

/// Tells the call its key, while the arguments are still there. The key is borrowed for this statement; what it is made
/// from stays whole. Located at the key, since that is what has to change when it cannot be one.
fn tell_key(key: &Expr, kind: &Kind, paths: &Paths<'_>) -> TokenStream {
    let (here, (at, _)) = (Span::mixed_site(), body::ends(key));
    let (keys, key_of) = (paths.keys(here), paths.key_of(at));
    let (call, name) = (local("__wt_call", here), local("__wt_key", at));
    let tokens = match kind {
        Kind::AsyncTrait(_) => mentions::in_async_trait(key.to_token_stream()),
        _ => key.to_token_stream(),
    };
    let asked = quote_spanned!(ours(at)=> (&&&#key_of(#name)).key());
    quote_spanned! {here=>
        match &(#tokens) {
            #name => {
                use #keys::*;
                #call.as_mut().keyed(&#asked);
            }
        }
    }
}

/// Puts the statements where the user's block was.
fn in_place(plan: &Plan, guarded: TokenStream) -> TokenStream {
    let (item, shape) = (&plan.item, &plan.item.shape);
    let braced = |stream: TokenStream, like: &Group| {
        let mut group = Group::new(like.delimiter(), stream);
        group.set_span(like.span());
        group.into_token_stream()
    };
    debug_assert_eq!(shape.block.delimiter(), Delimiter::Brace);
    let inner = &item.inner;
    let mut stream = if shape.layers.is_empty() { quote!(#inner #guarded) } else { guarded };
    let mut like = &shape.block;
    for (depth, layer) in shape.layers.iter().enumerate().rev() {
        let inside = braced(stream, like);
        let (before, after) = (&layer.before, &layer.after);
        let head = match &shape.kind {
            Kind::AsyncTrait(prelude) if depth + 1 == shape.layers.len() => quote!(#(#prelude)*),
            _ if depth == 0 => inner.clone(),
            _ => TokenStream::new(),
        };
        stream = quote!(#head #before #inside #after);
        like = &layer.group;
    }
    let body = braced(stream, like);
    let (lead, sig) = (&item.lead, &item.sig);
    quote!(#lead #sig #body)
}

/// The end of a call without a fallback, as the declared type.
fn answer(plan: &Plan, paths: &Paths<'_>) -> TokenStream {
    let (first, last) = return_type(plan);
    let function = if plan.refuses.is_some() { paths.answer(first) } else { paths.answer_unrefused(first) };
    let (call, end) = (local("__wt_call", first), end(first, last));
    quote_spanned!(ours(first)=> #function(#call.as_mut(), ::core::convert::identity #end))
}

/// `(__wt_end)`. An argument that begins at the type's first token and ends at its last is underlined as a whole.
fn end(first: Span, last: Span) -> Group {
    let mut whole = Group::new(Delimiter::Parenthesis, local("__wt_end", first).into_token_stream());
    whole.set_span(ours(last));
    whole
}

/// The places of the first and of the last token of the declared type: what has to change when an end does not fit it.
fn return_type(plan: &Plan) -> (Span, Span) {
    match (&plan.item.shape.output, &plan.item.sig.output) {
        (Output::Type(ty), _) => body::ends(error_type(ty)),
        (_, ReturnType::Type(_, ty)) => body::ends(ty),
        (_, ReturnType::Default) => {
            let at = plan.refuses.unwrap_or_else(|| plan.item.sig.ident.span());
            (at, at)
        }
    }
}

/// `E` of a `Result<T, E>` spelled out, else the whole type.
fn error_type(ty: &Type) -> &Type {
    let Type::Path(path) = ty else { return ty };
    let Some(syn::PathArguments::AngleBracketed(arguments)) = path.path.segments.last().map(|last| &last.arguments)
    else {
        return ty;
    };
    match arguments.args.iter().collect::<Vec<_>>()[..] {
        [_, syn::GenericArgument::Type(error)] => error,
        _ => ty,
    }
}
