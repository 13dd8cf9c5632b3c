//! The guarded function among others around it and inside of it.
//!
//! What the peer calls interceptors are functions here, one that awaits the guarded one and one that its body awaits:
//! what stands around the attribute runs once a call, what stands inside runs once an attempt.
//!
//! Invariants: the order is what the functions themselves write down.

use std::future::Future;
use std::sync::Mutex;

use watertight::resilient;
use watertight_tests::AppError;

use crate::harness::{Entry, left_out, row};
use crate::support::TEST;

const FUNCTIONS: &str = "functions for interceptors";
const SOURCE: &str = "the order of attributes and functions is that of the source; no setting changes it";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("IC-01", FUNCTIONS, around_comes_before_inside),
        row!("IC-02", FUNCTIONS, around_runs_once_and_inside_once_for_each_attempt),
        left_out("IC-03", SOURCE),
        left_out("IC-04", SOURCE),
    ]
}

type Order = Mutex<Vec<&'static str>>;

/// Writes its name down, and then does what it stands around.
async fn around<T>(order: &Order, name: &'static str, what: impl Future<Output = T>) -> T {
    order.lock().unwrap().push(name);
    what.await
}

#[resilient(timeout = "1s", bulkhead = "ic-01:1")]
async fn ic_01(order: &Order) -> Result<(), AppError> {
    around(order, "inner", async {
        order.lock().unwrap().push("body");
        Ok(())
    })
    .await
}

async fn around_comes_before_inside() {
    let order = Order::default();
    around(&order, "outer", ic_01(&order)).await.unwrap();
    assert_eq!(*order.lock().unwrap(), ["outer", "inner", "body"]);
}

#[resilient(timeout = "1s", bulkhead = "ic-02:1", retry(1, backoff = "1ms..1ms"))]
async fn ic_02(order: &Order) -> Result<(), AppError> {
    around(order, "inner", async {
        order.lock().unwrap().push("body");
        Err(TEST)
    })
    .await
}

async fn around_runs_once_and_inside_once_for_each_attempt() {
    let order = Order::default();
    around(&order, "outer", ic_02(&order)).await.unwrap_err();
    assert_eq!(*order.lock().unwrap(), ["outer", "inner", "body", "inner", "body"]);
}
