//! Where in a function the asynchronous code lies.
//!
//! For an `async fn` that is the body. But an attribute sees what is left after other macros ran: under
//! `#[async_trait]` on the `impl` there is no `async fn` any more, only `Box::pin(async move { … })`. Wrapping such a
//! body as it stands would guard the making of a box: it compiles, never times out and counts a success each time.
//! So the real body is looked for, and where it cannot be found with certainty the answer is an error.
//!
//! ```text
//! async fn                body { HERE }
//! async_trait             body { Box::pin(async move { prelude; let __ret: T = { HERE }; __ret }) }
//! plain fn, isolated      body { HERE }
//! returns a future        body { …; Box::pin(async move { HERE }) }      or a bare async block, or .boxed()
//! ```
//!
//! Under `async_trait` the prelude (`let x = x;`, patterns taken apart) has to stay outside: it moves the arguments,
//! which can happen once only, while what is inside may run again.
//!
//! Invariants
//! - Putting the found block back unchanged gives the function that was read, token for token.
//! - Nothing but the brackets around the found block is looked at; the block itself stays unread.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use syn::{Block, GenericArgument, GenericParam, PathArguments, ReturnType, Signature, Stmt, Type, TypeParamBound};

use crate::diag::Errors;

/// The block to protect, and what stands around it.
pub(crate) struct Shape {
    pub(crate) kind: Kind,
    /// From the outside in; empty for an `async fn`.
    pub(crate) layers: Vec<Layer>,
    pub(crate) block: Group,
    /// What the block evaluates to.
    pub(crate) output: Output,
}

/// Who made the function asynchronous.
#[derive(Clone)]
pub(crate) enum Kind {
    /// `async fn`: arguments are those of the signature.
    Fn,
    /// A function whose whole body is one async block; arguments as before.
    Future,
    /// A function that computes something before it comes to its async block: locals unknown.
    Steps,
    /// No async function at all: the body runs on a thread of its own, and the caller's thread waits.
    Plain,
    /// `async_trait`: the arguments are rebound by these statements, in front of the block.
    AsyncTrait(Vec<Stmt>),
}

/// One pair of brackets around the block, with the tokens before and after the next pair inside.
pub(crate) struct Layer {
    pub(crate) before: TokenStream,
    pub(crate) group: Group,
    pub(crate) after: TokenStream,
}

/// The type that a block evaluates to.
pub(crate) enum Output {
    Unit,
    Type(Box<Type>),
    /// Hidden behind an alias.
    Unknown,
}

/// Finds the block in `body`.
pub(super) fn find(sig: &Signature, body: Group, has_threads: bool, errors: &mut Errors) -> Option<Shape> {
    let whole = |kind, block| {
        let output = match &sig.output {
            ReturnType::Default => Output::Unit,
            ReturnType::Type(_, ty) => Output::Type(ty.clone()),
        };
        Some(Shape { kind, layers: Vec::new(), block, output })
    };
    if sig.asyncness.is_some() {
        return whole(Kind::Fn, body);
    }
    let by_async_trait = sig
        .generics
        .params
        .iter()
        .any(|param| matches!(param, GenericParam::Lifetime(param) if param.lifetime.ident == "async_trait"));
    let Some(found) = tail(&body) else {
        if matches!(&sig.output, ReturnType::Type(_, ty) if returns_future(ty)) {
            errors.over(
                &sig.output,
                format!(
                    "the future that `{}` returns is made elsewhere, and only its making could be guarded",
                    sig.ident
                ),
                "end it in `async move { the_call(..).await }`, or make it an `async fn`",
            );
            return None;
        }
        if has_threads {
            return whole(Kind::Plain, body);
        }
        errors.over(
            &sig.fn_token,
            format!("`{}` is not async, and a thread that blocks cannot be taken back from outside", sig.ident),
            "make it an `async fn`, or give it threads of its own: `isolate = \"NAME:THREADS\"`; \
             a function that returns a future has to end in an `async move` block",
        );
        return None;
    };
    if by_async_trait { in_async_trait(found, errors) } else { Some(in_future(sig, found)) }
}

/// An async block at the end of a body.
struct Tail {
    layers: Vec<Layer>,
    block: Group,
    /// Whether there is nothing in front of it.
    sole: bool,
}

/// `… async move { }`, `… Box::pin(async move { })` or `… async move { }.boxed()`.
fn tail(body: &Group) -> Option<Tail> {
    let tokens: Vec<TokenTree> = body.stream().into_iter().collect();
    let (at, inside) = match &tokens[..] {
        [.., TokenTree::Punct(dot), TokenTree::Ident(word), TokenTree::Group(call)]
            if dot.as_char() == '.'
                && (word == "boxed" || word == "boxed_local")
                && call.delimiter() == Delimiter::Parenthesis
                && call.stream().is_empty() =>
        {
            (tokens.len().checked_sub(4)?, false)
        }
        [.., TokenTree::Ident(word), TokenTree::Group(call)]
            if word == "pin" && call.delimiter() == Delimiter::Parenthesis =>
        {
            (tokens.len() - 1, true)
        }
        _ => (tokens.len().checked_sub(1)?, false),
    };
    let TokenTree::Group(group) = &tokens[at] else { return None };
    let collect = |part: &[TokenTree]| part.iter().cloned().collect::<TokenStream>();
    let outer = Layer { before: collect(&tokens[..at]), group: body.clone(), after: collect(&tokens[at + 1..]) };
    if inside {
        let before = boxed_from(&tokens[..at])?;
        let argument: Vec<TokenTree> = group.stream().into_iter().collect();
        let (last, words) = argument.split_last()?;
        let TokenTree::Group(block) = last else { return None };
        if block.delimiter() != Delimiter::Brace || async_from(words)? != 0 {
            return None;
        }
        let call = Layer { before: collect(words), group: group.clone(), after: TokenStream::new() };
        return Some(Tail { layers: vec![outer, call], block: block.clone(), sole: before == 0 });
    }
    if group.delimiter() != Delimiter::Brace {
        return None;
    }
    let from = async_from(&tokens[..at])?;
    Some(Tail { layers: vec![outer], block: group.clone(), sole: from == 0 })
}

/// Where `async` or `async move` at the end of `tokens` begins.
fn async_from(tokens: &[TokenTree]) -> Option<usize> {
    let is = |at: usize, word: &str| matches!(tokens.get(at), Some(TokenTree::Ident(found)) if found == word);
    let last = tokens.len().checked_sub(1)?;
    if is(last, "async") {
        return Some(last);
    }
    let before = last.checked_sub(1)?;
    (is(last, "move") && is(before, "async")).then_some(before)
}

/// Where the path of `Box::pin` at the end of `tokens` begins.
fn boxed_from(tokens: &[TokenTree]) -> Option<usize> {
    let colon = |at: usize| matches!(&tokens[at], TokenTree::Punct(punct) if punct.as_char() == ':');
    let mut at = tokens.len().checked_sub(1)?;
    let mut words = Vec::new();
    loop {
        let TokenTree::Ident(word) = &tokens[at] else { return None };
        words.push(word.to_string());
        if at < 2 || !colon(at - 1) || !colon(at - 2) {
            break;
        }
        at -= 2;
        match at.checked_sub(1) {
            Some(before) if matches!(&tokens[before], TokenTree::Ident(_)) => at = before,
            _ => break,
        }
    }
    (words.len() > 1 && words[0] == "pin" && words[1] == "Box").then_some(at)
}

/// Goes on into what `async_trait` wrote.
fn in_async_trait(mut tail: Tail, errors: &mut Errors) -> Option<Shape> {
    let tokens: Vec<TokenTree> = tail.block.stream().into_iter().collect();
    let is = |at: usize, word: &str| matches!(&tokens[at], TokenTree::Ident(found) if found == word);
    let found =
        (0..tokens.len().saturating_sub(3)).rev().find(|&at| is(at, "let") && (is(at + 1, "__ret") || is(at + 1, "_")));
    let parts = found.and_then(|at| {
        let equals =
            (at..tokens.len()).find(|&at| matches!(&tokens[at], TokenTree::Punct(punct) if punct.as_char() == '='))?;
        match tokens.get(equals + 1) {
            Some(TokenTree::Group(block)) if block.delimiter() == Delimiter::Brace => Some((at, equals, block.clone())),
            _ => None,
        }
    });
    let collect = |part: &[TokenTree]| part.iter().cloned().collect::<TokenStream>();
    let parts = parts.and_then(|(at, equals, block)| {
        let mut prelude = Group::new(Delimiter::Brace, collect(&tokens[..at]));
        prelude.set_span(tail.block.span());
        let prelude = syn::parse2::<Block>(TokenTree::from(prelude).into()).ok()?;
        Some((at, equals, block, prelude.stmts))
    });
    let Some((at, equals, block, prelude)) = parts else {
        errors.at(
            Span::call_site(),
            "another attribute has rewritten this body after `async_trait` did, and the original cannot be found in it",
            "put `#[resilient]` above the other attributes of the method",
        );
        return None;
    };
    let output =
        syn::parse2::<Type>(collect(&tokens[at + 3..equals])).map_or(Output::Unknown, |ty| Output::Type(ty.into()));
    tail.layers.push(Layer {
        before: collect(&tokens[at..=equals]),
        group: tail.block,
        after: collect(&tokens[equals + 2..]),
    });
    Some(Shape { kind: Kind::AsyncTrait(prelude), layers: tail.layers, block, output })
}

/// An async block that the user wrote.
fn in_future(sig: &Signature, tail: Tail) -> Shape {
    let output = match &sig.output {
        ReturnType::Default => Output::Unknown,
        ReturnType::Type(_, ty) => future_output(ty).map_or(Output::Unknown, |ty| Output::Type(ty.into())),
    };
    let kind = if tail.sole { Kind::Future } else { Kind::Steps };
    Shape { kind, layers: tail.layers, block: tail.block, output }
}

/// Whether a type looks like a future.
fn returns_future(ty: &Type) -> bool {
    let words = quote::ToTokens::to_token_stream(ty).to_string();
    words.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word.ends_with("Future"))
}

/// `T` of `impl Future<Output = T>`, `Pin<Box<dyn Future<Output = T>>>` and `BoxFuture<'_, T>`.
fn future_output(ty: &Type) -> Option<Type> {
    match ty {
        Type::Group(group) => future_output(&group.elem),
        Type::Paren(paren) => future_output(&paren.elem),
        Type::ImplTrait(opaque) => opaque.bounds.iter().find_map(bound_output),
        Type::TraitObject(object) => object.bounds.iter().find_map(bound_output),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
            let mut types = arguments.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            let first = types.next()?;
            match last.ident.to_string().as_str() {
                "Pin" | "Box" => future_output(first),
                "BoxFuture" | "LocalBoxFuture" => types.next().is_none().then(|| first.clone()),
                _ => None,
            }
        }
        _ => None,
    }
}

fn bound_output(bound: &TypeParamBound) -> Option<Type> {
    let TypeParamBound::Trait(bound) = bound else { return None };
    let last = bound.path.segments.last().filter(|last| last.ident == "Future")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(output) if output.ident == "Output" => Some(output.ty.clone()),
        _ => None,
    })
}
