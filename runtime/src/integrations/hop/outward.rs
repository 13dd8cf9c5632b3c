//! What the next hop is told.

use crate::base::clock::Moment;
use crate::call::context::Ambient;
use crate::call::{Detail, Error};

/// How much later than the limit a wait ends that nobody else ends, in nanoseconds. After that it waits to be polled once more:
/// on a machine that stalls for as long, both timers are due in one poll, and whoever keeps the time polls its work first.
pub(in super::super) const GRACE: u64 = 5_000_000;

/// How long the answer of whoever is asked now is of use, in nanoseconds; `None` without a limit.
///
/// # Errors
///
/// With less than a millisecond left, which no other process can do anything with.
pub(in super::super) fn left() -> Result<Option<u64>, Error> {
    let end = Ambient::here().end();
    if end == Moment::NEVER {
        return Ok(None);
    }
    match end.since(Moment::now()) {
        left if left < super::wire::MILLI => Err(Error::new(None, Detail::Spent { in_queue: false })),
        left => Ok(Some(left)),
    }
}

/// Whether nobody waits any more for what is running.
pub(in super::super) fn is_over() -> bool {
    Ambient::here().end() <= Moment::now()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::context::{Deadline, Scope};

    fn scope(nanos: u64) -> Scope {
        let limit = Moment::now().plus(nanos);
        Ambient { deadline: Deadline::NONE, limit, call: 1, attempt: 0 }.enter()
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_left_of_the_attempt_goes_out_and_less_than_a_millisecond_is_nothing() {
        assert_eq!(left().ok(), Some(None));
        assert!(!is_over());
        let outer = scope(1_000_000);
        assert_eq!(left().ok(), Some(Some(1_000_000)));
        let inner = scope(999_999);
        assert!(left().expect_err("refused").is_refusal());
        assert!(!is_over());
        drop((inner, outer));
        let _scope = scope(0);
        assert!(is_over());
    }
}
