//! What a Postgres server is told, whichever driver tells it.
//!
//! A query is on the server from its first byte on, and dropping a future in this process takes nothing back. Three things
//! make the server stop, and each covers what the one before it cannot:
//!
//! 1. **`statement_timeout`, set for the transaction** to what is left when it begins. The server needs no word from us to
//!    keep it, so it holds when our process is gone or the network is. But it counts from the start of each *statement*:
//!    the first one ends in time, a later one would run on for as long again.
//! 2. **Being told**, when a future is dropped while its statement runs: by a cancel request or by closing the connection,
//!    as the driver allows. For the rest of a transaction this is what keeps the limit.
//! 3. **`client_connection_check_interval`**: without it a server that computes does not look at its socket, and a closed
//!    connection stops nothing. With 25 ms it looks forty times a second, for the price of a `poll` each. Servers before
//!    version 14 do not have it, and on Windows it must be zero; there, closing stops nothing and (1) has to do.
//!
//! All settings end with the transaction, and only tighten: a role's stricter `statement_timeout` stays.
//!
//! **Who fires first.** The caller's own timer should: then the call is counted as timed out, by breakers too. If both fired
//! in the same moment, the body would find the server's error there when it is polled a last time, and end with that;
//! measured, one call in nine did. So the server is given [`SLACK`] more. It then spares us the trouble: a connection whose
//! statement has ended by itself is clean again. That is what [`PATIENCE`] is for: a connection is given that long to come
//! to rest before the server is told. An error path, where nothing runs and only a rollback is due, is through in one
//! round trip, and keeps its connection too.
//!
//! **Waiting for a connection** ends with the limit as well. Under a guarded function the waiting future is dropped at its
//! limit anyway; under a deadline that was carried into a task ([`spawn`](crate::spawn())) nobody drops it, so it is timed
//! here, [`GRACE`] later, in order never to be first where somebody else keeps the time.
//!
//! Invariants: nothing is begun with nothing left; the server is given what is left and [`SLACK`], never more than it had; a connection is either
//! at rest, with no transaction open and no answer outstanding, when somebody else gets it, or nobody gets it.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::timeout_at;

use crate::base::clock::Moment;
use crate::call::context::Ambient;
use crate::call::{Detail, Error};

/// How much longer than the caller the server waits, in milliseconds: as late as timers and threads mostly are.
const SLACK: u64 = 10;
/// How long a connection may take to come to rest by itself: the slack, and what passed between the start of the transaction
/// and that of its first statement. With the check below it leaves the server nearly half of the 100 ms within which its
/// work is to end.
pub(super) const PATIENCE: Duration = Duration::from_millis(30);
/// How often a computing server looks whether its client is still there.
const CHECK: u64 = 25;
/// How much later than the limit a wait ends that nobody else ends, in nanoseconds.
const GRACE: u64 = 5_000_000;
/// Postgres counts milliseconds in 31 bits.
const LONGEST: u64 = i32::MAX as u64;

/// Awaits a connection, at most as long as it is of use.
pub(super) async fn in_time<F: Future>(connection: F) -> Result<F::Output, Error> {
    let end = Ambient::here().end();
    if end <= Moment::now() {
        return Err(Error::new(None, Detail::Spent { in_queue: false }));
    }
    if end == Moment::NEVER {
        return Ok(connection.await);
    }
    let waited = timeout_at(end.plus(GRACE).to_instant(), connection).await;
    if waited.is_err() {
        // On a machine that stalls for as long both are due in one poll, and whoever keeps the time polls its work first.
        yield_now().await;
    }
    waited.map_err(|_| Error::new(None, Detail::Spent { in_queue: true }))
}

/// What the server is told at the start of a transaction, as one query.
pub(super) fn settings() -> Result<String, Error> {
    let end = Ambient::here().end();
    let left = end.since(Moment::now());
    if left == 0 {
        return Err(Error::new(None, Detail::Spent { in_queue: false }));
    }
    let limit = if end == Moment::NEVER { String::new() } else { tighten("statement_timeout", millis(left)) + ", " };
    let check = tighten("client_connection_check_interval", CHECK);
    Ok(format!(
        "SELECT {limit}CASE WHEN current_setting('server_version_num')::int >= 140000 \
         AND version() !~* 'visual c|windows|mingw' THEN {check} END"
    ))
}

/// What the server is given in place of what is left: whole milliseconds, as many as Postgres can count.
fn millis(nanos: u64) -> u64 {
    (nanos.div_ceil(1_000_000) + SLACK).min(LONGEST)
}

/// Sets a length for the transaction, unless a shorter one is set. Zero is none; what is set is shown with a unit, which an
/// interval understands.
fn tighten(setting: &str, millis: u64) -> String {
    let set = format!("extract(epoch FROM current_setting('{setting}')::interval) * 1000");
    format!("set_config('{setting}', LEAST({millis}, NULLIF({set}, 0))::int::text, true)")
}

/// Whether an error of the server says that the time was up: a cancelled query, and nothing left. The message would say
/// whether a timeout or a person cancelled it, but in the server's language; and a role's own stricter timeout says
/// the same with time left, which is none of ours.
pub(super) fn is_stop(code: Option<&str>) -> bool {
    const QUERY_CANCELED: &str = "57014";
    code == Some(QUERY_CANCELED) && Ambient::here().end() <= Moment::now()
}

/// What became of the connections that were given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cleanups {
    /// Coming to rest just now.
    pub running: u64,
    /// At rest, and usable again.
    pub clean: u64,
    /// Not at rest in time, and closed.
    pub closed: u64,
}

/// The count of them, one for each driver.
pub(super) struct Books {
    begun: AtomicU64,
    clean: AtomicU64,
    closed: AtomicU64,
}

impl Books {
    pub(super) const fn new() -> Self {
        Self { begun: AtomicU64::new(0), clean: AtomicU64::new(0), closed: AtomicU64::new(0) }
    }

    /// One more is given back; it ends as closed unless it says that it is clean.
    pub(super) fn begin(&'static self) -> Entry {
        self.begun.fetch_add(1, Ordering::Relaxed);
        Entry { books: self, is_clean: false }
    }

    pub(super) fn read(&self) -> Cleanups {
        // The ends before the beginnings, so that none is counted as running that has not begun.
        let (clean, closed) = (self.clean.load(Ordering::Acquire), self.closed.load(Ordering::Acquire));
        let running = self.begun.load(Ordering::Relaxed).saturating_sub(clean + closed);
        Cleanups { running, clean, closed }
    }
}

/// One connection that is coming to rest.
pub(super) struct Entry {
    books: &'static Books,
    is_clean: bool,
}

impl Entry {
    pub(super) fn is_clean(&mut self) {
        self.is_clean = true;
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let end = if self.is_clean { &self.books.clean } else { &self.books.closed };
        end.fetch_add(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::ErrorKind;
    use crate::call::context::{Deadline, Scope};

    fn left(nanos: u64) -> Scope {
        let limit = Moment::now().plus(nanos);
        Ambient { deadline: Deadline::NONE, limit, call: 1, attempt: 0 }.enter()
    }

    #[tokio::test(start_paused = true)]
    async fn the_server_is_given_a_little_longer_and_at_most_what_it_can_count() {
        for (nanos, millis) in
            [(1, "11"), (1_000_000, "11"), (1_000_001, "12"), (300_000_000, "310"), (u64::MAX, "2147483647")]
        {
            let _scope = left(nanos);
            let settings = settings().expect("something is left");
            assert!(settings.contains(&format!("set_config('statement_timeout', LEAST({millis}, ")), "{settings}");
        }
        assert!(!settings().expect("no limit").contains("statement_timeout"), "without a limit none is set");
    }

    #[tokio::test(start_paused = true)]
    async fn with_nothing_left_nothing_is_begun() {
        let _scope = left(0);
        assert_eq!(settings().expect_err("refused").kind(), ErrorKind::Deadline);
        let refused = in_time(async { unreachable!("not polled") }).await.expect_err("refused");
        assert!(refused.is_refusal(), "{refused}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_nobody_else_ends_ends_just_after_the_limit() {
        let before = Moment::now();
        let _scope = left(50_000_000);
        let waited = in_time(std::future::pending::<()>()).await;
        assert!(waited.expect_err("refused").to_string().contains("in the queue"));
        assert_eq!(Moment::now().since(before), 55_000_000);
    }

    #[tokio::test(start_paused = true)]
    async fn a_machine_that_stalls_does_not_turn_a_cut_off_attempt_into_an_error() {
        let guard = crate::Guard::named("postgres-stall").timeout(Duration::from_millis(50)).build().expect("a guard");
        let mut call = std::pin::pin!(guard.run(|| in_time(std::future::pending::<()>())));
        assert!(futures::poll!(&mut call).is_pending());
        tokio::time::advance(Duration::from_secs(1)).await;
        match call.await.expect_err("cut off") {
            crate::Failure::Refused(error) => assert_eq!(error.kind(), ErrorKind::TimedOut),
            crate::Failure::Failed(error) => unreachable!("the body's own: {error}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_cancelled_query_with_nothing_left_was_stopped_by_the_limit() {
        assert!(!is_stop(Some("57014")), "no limit");
        let scope = left(1_000_000);
        assert!(!is_stop(Some("57014")), "time is left: a person, or a timeout of the role");
        drop(scope);
        let _scope = left(0);
        assert!(is_stop(Some("57014")));
        assert!(!is_stop(Some("40001")) && !is_stop(None));
    }

    #[test]
    fn every_connection_given_back_ends_in_one_column() {
        static BOOKS: Books = Books::new();
        let (mut one, other) = (BOOKS.begin(), BOOKS.begin());
        assert_eq!(BOOKS.read(), Cleanups { running: 2, clean: 0, closed: 0 });
        one.is_clean();
        drop((one, other));
        assert_eq!(BOOKS.read(), Cleanups { running: 0, clean: 1, closed: 1 });
    }
}
