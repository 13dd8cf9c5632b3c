//! What an attempt and a call come to, before the caller's own types come in.

use crate::call::Error;

/// How a call ended: with an answer of the body's own (a value or its final error), or with one of ours.
#[derive(Debug)]
pub enum End<R> {
    /// What the body returned last.
    Answered(R),
    /// Refused or cut short; the call knows why.
    Refused,
}

/// A return type in which a refusal can reach the caller.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot carry a refusal to the caller",
    label = "a call can be refused or timed out, and this type has no place for that",
    note = "return `Result<_, E>` with `E: From<watertight::Error>`, or add `fallback = ...` to the attribute"
)]
pub trait Refusable {
    /// The return type that says so.
    fn refused(error: Error) -> Self;
}

impl<T, E: CarriesRefusals> Refusable for Result<T, E> {
    fn refused(error: Error) -> Self {
        Err(E::from(error))
    }
}

/// An error type that can hold a refusal: `From<Error>`, in words.
#[diagnostic::on_unimplemented(
    message = "a refused call ends with a `watertight::Error`, and `{Self}: From<watertight::Error>` is missing",
    label = "cannot be made from a `watertight::Error`",
    note = "write `impl From<watertight::Error> for {Self}`, or add `fallback = ..` to the attribute"
)]
pub trait CarriesRefusals: From<Error> {}

#[diagnostic::do_not_recommend]
impl<E: From<Error>> CarriesRefusals for E {}

/// A return type in which a refusal can reach the caller past a fallback.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot carry a refusal to the caller, and this fallback does not answer for each",
    label = "a call can be refused or timed out, and this type has no place for that",
    note = "return `Result<_, E>` with `E: From<watertight::Error>`, or leave out what the fallback is narrowed by, `on` or `limit`"
)]
pub trait Passes {
    /// The return type that says so.
    fn passed(error: Error) -> Self;
}

impl<T, E: PassesRefusals> Passes for Result<T, E> {
    fn passed(error: Error) -> Self {
        Err(E::from(error))
    }
}

/// An error type that can hold a refusal which no fallback has answered for.
#[diagnostic::on_unimplemented(
    message = "a refusal that this fallback does not answer for ends the call with a `watertight::Error`, and `{Self}: From<watertight::Error>` is missing",
    label = "cannot be made from a `watertight::Error`",
    note = "write `impl From<watertight::Error> for {Self}`, or leave out what the fallback is narrowed by, `on` or `limit`"
)]
pub trait PassesRefusals: From<Error> {}

#[diagnostic::do_not_recommend]
impl<E: From<Error>> PassesRefusals for E {}
