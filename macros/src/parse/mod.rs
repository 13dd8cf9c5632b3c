//! Tokens to syntax, and no rules.
//!
//! An attribute is typed by hand, one key at a time, with the editor compiling along. So the reader here never gives
//! up: a key it cannot use costs the tokens up to the next comma and one message, and the keys behind it are still
//! read. That is also why values are first *taken* (everything up to the comma) and only then looked at: `300`,
//! `"300ms" oops` and nothing at all come out as three different sentences instead of one "expected string literal".
//!
//! One file per thing: [`args`] lists the keys, a key with a grammar of its own has a file of its own name, [`value`]
//! holds the literals, [`slot`] the "only once", [`item`] the function, [`shape`] the place of the async code in it and
//! [`block`] an `impl` with all of its methods.
//!
//! Invariants
//! - No reader here returns early from the whole attribute; what is wrong is recorded and skipped.
//! - Nothing here knows two keys at a time.

pub(crate) mod args;
pub(crate) mod backoff;
pub(crate) mod block;
pub(crate) mod breaker;
pub(crate) mod bulkhead;
pub(crate) mod fallback;
mod figures;
pub(crate) mod hedge;
pub(crate) mod isolate;
pub(crate) mod item;
pub(crate) mod mode;
pub(crate) mod on;
pub(crate) mod rate;
pub(crate) mod retry;
pub(crate) mod shape;
pub(crate) mod slot;
pub(crate) mod tail;
pub(crate) mod value;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, LitFloat, LitInt, LitStr, Token};

use crate::diag::Errors;

/// The keys whose value has a unit of time.
const DURATIONS: [&str; 11] =
    ["timeout", "deadline", "cooldown", "backoff", "slow", "first", "cap", "max_duration", "hedge", "after", "floor"];

/// Reads `key …, key …` to the end, handing the stream behind each key to `read`.
fn keys(input: ParseStream<'_>, errors: &mut Errors, mut read: impl FnMut(&Ident, ParseStream<'_>, &mut Errors)) {
    while !input.is_empty() {
        if let Ok(Some(comma)) = input.parse::<Option<Token![,]>>() {
            errors.over(&comma, "there is no key in front of this comma", "remove the comma");
            continue;
        }
        match input.call(Ident::parse_any) {
            Ok(key) => read(&key, input, errors),
            Err(_) => errors.over(&rest(input), "a key is expected here", "write `key = value`, keys apart by commas"),
        }
        let junk = rest(input);
        if !junk.is_empty() {
            let shown = one_line(&junk);
            errors.over(&junk, format!("`{shown}` follows a value that is complete"), "put a comma between two keys");
        }
        // Absent only at the end: `rest` stops nowhere else.
        let _ = input.parse::<Option<Token![,]>>();
    }
}

/// Everything up to the next comma that is not inside brackets.
fn rest(input: ParseStream<'_>) -> TokenStream {
    let mut taken = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        // Cannot fail before the end; stopping is the harmless answer if it did.
        let Ok(tree) = input.parse::<TokenTree>() else { break };
        tree.to_tokens(&mut taken);
    }
    taken
}

/// Takes `= value`; reports `example` when there is no equals sign or nothing behind it.
fn assigned(key: &Ident, input: ParseStream<'_>, example: &str, errors: &mut Errors) -> Option<TokenStream> {
    if input.parse::<Option<Token![=]>>().ok().flatten().is_none() {
        let found = rest(input);
        let place = key.to_token_stream().into_iter().chain(found).collect::<TokenStream>();
        errors.over(&place, format!("`{key}` takes its value after an equals sign"), format!("write `{example}`"));
        return None;
    }
    let value = rest(input);
    if value.is_empty() {
        errors.over(key, format!("`{key} =` has no value"), format!("write `{example}`"));
        return None;
    }
    Some(value)
}

/// `= "text"`.
fn text(key: &Ident, input: ParseStream<'_>, example: &str, errors: &mut Errors) -> Option<LitStr> {
    let value = assigned(key, input, example, errors)?;
    text_in(key, value, example, errors)
}

/// The string that `value` has to be.
fn text_in(key: &Ident, value: TokenStream, example: &str, errors: &mut Errors) -> Option<LitStr> {
    let value = match alone::<LitStr>(value, errors) {
        Ok(lit) if lit.suffix().is_empty() => return Some(lit),
        Ok(lit) => lit.into_token_stream(),
        Err(value) => value?,
    };
    let shown = one_line(&value);
    let is_number = syn::parse2::<LitInt>(value.clone()).is_ok() || syn::parse2::<LitFloat>(value.clone()).is_ok();
    let what = if is_number && DURATIONS.iter().any(|known| key == known) {
        format!("`{key} = {shown}` is a bare number, and its unit would have to be guessed")
    } else if is_number {
        format!("`{key} = {shown}` is a number, and this takes a string")
    } else {
        format!("`{key} = {shown}` is not a string; it is read at compile time, so only a literal will do")
    };
    errors.over(&value, what, format!("write `{example}`"));
    None
}

/// `= 20`.
fn number(key: &Ident, input: ParseStream<'_>, example: &str, errors: &mut Errors) -> Option<LitInt> {
    let value = assigned(key, input, example, errors)?;
    number_in(key, value, example, errors)
}

/// The whole number that `value` has to be.
fn number_in(key: &Ident, value: TokenStream, example: &str, errors: &mut Errors) -> Option<LitInt> {
    let value = match alone::<LitInt>(value, errors) {
        Ok(lit) => return Some(lit),
        Err(value) => value?,
    };
    let shown = one_line(&value);
    let why = if syn::parse2::<LitStr>(value.clone()).is_ok() { "a string" } else { "not a whole number literal" };
    errors.over(&value, format!("`{key} = {shown}` is {why}"), format!("write `{example}`"));
    None
}

/// Reads the head of `value` as a `T`. What follows a good value is reported here and now; what is no `T` comes back.
fn alone<T: syn::parse::Parse>(value: TokenStream, errors: &mut Errors) -> Result<T, Option<TokenStream>> {
    let read = |input: ParseStream<'_>| Ok((input.parse::<T>()?, input.parse::<TokenStream>()?));
    match read.parse2(value.clone()) {
        Ok((lit, junk)) if junk.is_empty() => Ok(lit),
        Ok((_, junk)) => {
            let shown = one_line(&junk);
            errors.over(&junk, format!("`{shown}` follows a value that is complete"), "put a comma between two keys");
            Err(None)
        }
        Err(_) => Err(Some(value)),
    }
}

/// A path or a closure behind an equals sign, read by the language's own grammar since both may contain commas.
fn callable(key: &Ident, input: ParseStream<'_>, example: &str, errors: &mut Errors) -> Option<Expr> {
    if input.parse::<Option<Token![=]>>().ok().flatten().is_none() || input.is_empty() || input.peek(Token![,]) {
        let _ = rest(input);
        errors.over(key, format!("`{key}` takes its value after an equals sign"), format!("write `{example}`"));
        return None;
    }
    callable_here(key, input, example, errors)
}

/// A path or a closure at this place.
fn callable_here(key: &Ident, input: ParseStream<'_>, example: &str, errors: &mut Errors) -> Option<Expr> {
    match input.parse::<Expr>().map(ungrouped) {
        Ok(value) => {
            if matches!(value, Expr::Path(_) | Expr::Closure(_)) {
                return Some(value);
            }
            let shown = one_line(&value.to_token_stream());
            errors.over(
                &value,
                format!("`{key} = {shown}` is neither a path nor a closure, so there is nothing to call"),
                format!("write `{example}`"),
            );
        }
        Err(error) => {
            let _ = rest(input);
            errors.at(error.span(), format!("`{key}`: {error}"), format!("write `{example}`"));
        }
    }
    None
}

/// Takes off the invisible brackets in which a `macro_rules` fragment arrives.
fn ungrouped(mut value: Expr) -> Expr {
    while let Expr::Group(group) = value {
        value = *group.expr;
    }
    value
}

/// Tokens as one line of text for a message, cut where it gets long.
fn one_line(tokens: &TokenStream) -> String {
    let text = tokens.to_string().replace('\n', " ");
    if text.chars().count() > 40 { text.chars().take(38).chain("..".chars()).collect() } else { text }
}
