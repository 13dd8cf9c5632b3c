//! A body that panicked in the very poll in which its nested call repaid the slot left the slot marked as lent, so that
//! nobody gave it back and the compartment was one slot smaller for good.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use watertight::{Error, resilient};
use watertight_tests::assert_free;

#[resilient(bulkhead = "lent_panic:1")]
async fn inner(panics: bool) -> Result<(), Error> {
    tokio::task::yield_now().await;
    assert!(!panics, "the inner one");
    Ok(())
}

#[resilient(bulkhead = "lent_panic:1")]
async fn outer(panics_inside: bool) -> Result<(), Error> {
    inner(panics_inside).await?;
    panic!("the outer one");
}

#[tokio::test]
async fn the_slot_comes_back_whichever_of_the_two_panics() {
    for panics_inside in [false, true] {
        assert!(AssertUnwindSafe(outer(panics_inside)).catch_unwind().await.is_err());
        inner(false).await.expect("the slot is free again");
        assert_free!("lent_panic", 1);
    }
}
