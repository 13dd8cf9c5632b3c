//! Whose state a bulkhead is.
//!
//! In the peer the state belongs to a type and a method of it. Here it belongs to the name, so each of these rows has two
//! halves: under names of their own nobody shares, and under one name everybody does, types, instances and
//! monomorphisations alike.
//!
//! Invariants: each row fills its compartments to the last slot before it says who is refused.

use std::marker::PhantomData;
use std::sync::Arc;

use watertight::resilient;
use watertight_tests::AppError;

use crate::harness::{Entry, row};
use crate::held::{Held, Post, Start, assert_full};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("BL-01", "the state belongs to the name, one for each type", types_with_names_of_their_own_share_nothing),
        row!(
            "BL-02",
            "differs: one name is one state, for all types that a generic one becomes",
            a_name_is_one_for_all_types
        ),
        row!(
            "BL-03",
            "a name for each method; the block's own name would be shared",
            a_method_with_its_own_name_shares_nothing
        ),
    ]
}

/// Holds four calls of each instance, all of which run, while every instance's next call is refused.
async fn four_each(instances: &[Start]) {
    let mut inside = Vec::new();
    for start in instances.iter().cycle().take(4 * instances.len()) {
        let call = Held::begin(*start).await;
        assert!(call.is_inside());
        inside.push(call);
    }
    for start in instances {
        assert_full(*start).await;
    }
    for call in inside {
        call.release().await.unwrap();
    }
}

struct Orders(u8);
struct Invoices(u8);

impl Orders {
    #[resilient(bulkhead = "bl-01-orders:8", name = "bl-01-orders")]
    async fn stay(&self, post: Arc<Post>) -> Result<(), AppError> {
        assert!(self.0 < 2, "one of two instances");
        post.stay().await
    }
}

impl Invoices {
    #[resilient(bulkhead = "bl-01-invoices:8", name = "bl-01-invoices")]
    async fn stay(&self, post: Arc<Post>) -> Result<(), AppError> {
        assert!(self.0 < 2, "one of two instances");
        post.stay().await
    }
}

async fn types_with_names_of_their_own_share_nothing() {
    four_each(&[
        |post| Box::pin(async { Orders(0).stay(post).await }),
        |post| Box::pin(async { Orders(1).stay(post).await }),
        |post| Box::pin(async { Invoices(0).stay(post).await }),
        |post| Box::pin(async { Invoices(1).stay(post).await }),
    ])
    .await;
}

struct Base<T>(PhantomData<T>);

impl<T> Base<T> {
    const NEW: Self = Self(PhantomData);

    #[resilient(bulkhead = "bl-02:8", name = "bl-02")]
    async fn stay(&self, post: Arc<Post>) -> Result<(), AppError> {
        post.stay().await
    }
}

async fn a_name_is_one_for_all_types() {
    four_each(&[
        |post| Box::pin(async { Base::<u8>::NEW.stay(post).await }),
        |post| Box::pin(async { Base::<char>::NEW.stay(post).await }),
    ])
    .await;
}

struct Named;

#[resilient(bulkhead = "bl-03-block:8", name = "bl-03")]
impl Named {
    #[resilient(bulkhead = "bl-03-one:8")]
    async fn one(&self, post: Arc<Post>) -> Result<(), AppError> {
        post.stay().await
    }

    #[resilient(bulkhead = "bl-03-other:8")]
    async fn other(&self, post: Arc<Post>) -> Result<(), AppError> {
        post.stay().await
    }

    async fn third(&self, post: Arc<Post>) -> Result<(), AppError> {
        post.stay().await
    }

    async fn fourth(&self, post: Arc<Post>) -> Result<(), AppError> {
        post.stay().await
    }
}

async fn a_method_with_its_own_name_shares_nothing() {
    four_each(&[
        |post| Box::pin(async { Named.one(post).await }),
        |post| Box::pin(async { Named.one(post).await }),
        |post| Box::pin(async { Named.other(post).await }),
        |post| Box::pin(async { Named.other(post).await }),
    ])
    .await;
    four_each(&[
        |post| Box::pin(async { Named.third(post).await }),
        |post| Box::pin(async { Named.fourth(post).await }),
    ])
    .await;
}
