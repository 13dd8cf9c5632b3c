//! How a call of a guard ends for its caller, whichever way it ran.

use std::pin::Pin;

use crate::call::Failure;
use crate::pipeline::{Call, End, answer};

/// The end of a call, with refusals kept apart.
pub(super) fn finished<T, E>(call: Pin<&mut Call>, end: End<Result<T, E>>) -> Result<T, Failure<E>> {
    match end {
        End::Answered(whole) => answer(call, End::Answered(whole.map_err(Failure::Failed))),
        End::Refused => answer(call, End::Refused),
    }
}
