//! B65. Retry by default repeated requests with side effects after a timeout: double orders, billed jobs.

use std::collections::HashSet;
use std::sync::Mutex;

use tokio::time::sleep;
use watertight::{CallId, Class, Classify, Error, ErrorKind, resilient};
use watertight_tests::{assert_free, assert_idle, ms, site};

#[derive(Debug)]
enum OrderError {
    Refused(Error),
    Validation,
    Conflict,
    Unavailable,
}

impl From<Error> for OrderError {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl Classify for OrderError {
    fn class(&self) -> Class {
        match self {
            Self::Refused(error) => error.class(),
            Self::Validation => Class::Permanent,
            Self::Conflict => Class::Success,
            Self::Unavailable => Class::Retryable,
        }
    }
}

/// The other side: books at once, and is slow to say so.
#[derive(Default)]
struct Server {
    /// One entry per request that came without a key.
    unkeyed: Mutex<u32>,
    keyed: Mutex<HashSet<CallId>>,
    attempts: Mutex<Vec<u32>>,
}

impl Server {
    async fn book(&self, key: Option<CallId>) -> Result<(), OrderError> {
        self.attempts.lock().unwrap().push(watertight::attempt());
        match key {
            Some(key) => drop(self.keyed.lock().unwrap().insert(key)),
            None => *self.unkeyed.lock().unwrap() += 1,
        }
        sleep(ms(400)).await;
        Ok(())
    }

    fn bookings(&self) -> usize {
        *self.unkeyed.lock().unwrap() as usize + self.keyed.lock().unwrap().len()
    }
}

#[resilient(timeout = "300ms", bulkhead = "b65:2", retry = 2)]
async fn b65(server: &Server) -> Result<(), OrderError> {
    server.book(None).await
}

#[tokio::test(start_paused = true)]
async fn a_timed_out_order_is_not_sent_again_by_default() {
    let server = Server::default();
    let error = b65(&server).await.unwrap_err();
    assert!(matches!(error, OrderError::Refused(error) if error.kind() == ErrorKind::TimedOut));
    assert_eq!((server.bookings(), site("b65").retries), (1, 0));
    assert_idle("b65");
    assert_free!("b65", 2);
}

#[resilient(timeout = "300ms", bulkhead = "b65_keyed:2", retry = 2, idempotent)]
async fn b65_keyed(server: &Server) -> Result<(), OrderError> {
    server.book(watertight::call_id()).await
}

#[tokio::test(start_paused = true)]
async fn with_the_call_id_as_its_key_three_attempts_book_once() {
    let server = Server::default();
    b65_keyed(&server).await.unwrap_err();
    assert_eq!(*server.attempts.lock().unwrap(), [0, 1, 2], "the body can tell which attempt it is");
    assert_eq!(server.bookings(), 1);
    b65_keyed(&server).await.unwrap_err();
    assert_eq!(server.bookings(), 2, "another call is another order");
    assert_idle("b65_keyed");
    assert_free!("b65_keyed", 2);
}

#[resilient(bulkhead = "b65_classified:2", retry(2, budget = off))]
async fn b65_classified(error: fn() -> OrderError) -> Result<(), OrderError> {
    Err(error())
}

#[tokio::test(start_paused = true)]
async fn only_what_the_classifier_calls_transient_is_retried() {
    b65_classified(|| OrderError::Validation).await.unwrap_err();
    b65_classified(|| OrderError::Conflict).await.unwrap_err();
    assert_eq!((site("b65_classified").attempts(), site("b65_classified").retries), (2, 0));
    b65_classified(|| OrderError::Unavailable).await.unwrap_err();
    assert_eq!((site("b65_classified").attempts(), site("b65_classified").retries), (5, 2));
    assert_idle("b65_classified");
    assert_free!("b65_classified", 2);
}
