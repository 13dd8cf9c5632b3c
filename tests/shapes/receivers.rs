//! Methods with every receiver (B43).

use std::pin::Pin;
use std::sync::Arc;

use crate::support::{Outcome, same, step, thrice};

macro_rules! shapes {
    ($name:ident, $guard:meta) => {
        mod $name {
            use super::*;

            #[derive(Clone, Debug, PartialEq)]
            pub(super) struct Client {
                pub(super) count: u32,
                tag: String,
            }

            impl Client {
                pub(super) const LIMIT: u32 = 5;

                pub(super) fn new() -> Self {
                    Self { count: 0, tag: "tag".into() }
                }

                #[$guard]
                pub(super) async fn associated(limit: u32) -> Outcome<u32> {
                    step().await?;
                    Ok(limit + Self::LIMIT)
                }

                #[$guard]
                pub(super) async fn by_ref(&self, add: u32) -> Outcome<u32> {
                    step().await?;
                    Ok(self.count + add)
                }

                #[$guard]
                pub(super) async fn by_mut(&mut self, tags: Vec<String>) -> Outcome<usize> {
                    self.count = 7;
                    step().await?;
                    self.count += 1;
                    self.tag.push_str(&tags.concat());
                    Ok(tags.len())
                }

                #[$guard]
                pub(super) async fn by_value(self) -> Outcome<u32> {
                    step().await?;
                    Ok(self.count)
                }

                #[$guard]
                pub(super) async fn by_mut_value(mut self) -> Outcome<u32> {
                    step().await?;
                    self.count += 9;
                    Ok(self.count)
                }

                #[$guard]
                pub(super) async fn boxed(self: Box<Self>, add: u32) -> Outcome<u32> {
                    step().await?;
                    Ok(self.count + add)
                }

                #[$guard]
                pub(super) async fn shared(self: Arc<Self>) -> Outcome<u32> {
                    step().await?;
                    Ok(self.count)
                }

                #[$guard]
                pub(super) async fn shared_ref(self: &Arc<Self>) -> Outcome<u32> {
                    step().await?;
                    Ok(self.count)
                }

                #[$guard]
                pub(super) async fn pinned(self: Pin<&mut Self>) -> Outcome<u32> {
                    step().await?;
                    Ok(self.count)
                }

                #[$guard]
                pub(super) async fn borrows<'a>(&'a self, _other: &str) -> Outcome<&'a str> {
                    step().await?;
                    Ok(&self.tag)
                }

                #[$guard]
                pub(super) async fn another(&self) -> Outcome<Self> {
                    step().await?;
                    Ok(Self { count: self.count, tag: String::new() })
                }
            }
        }
    };
}

thrice!(shapes);

macro_rules! method {
    ($($call:tt)+) => { same!(bare, once, again: $($call)+) };
}

#[tokio::test(start_paused = true)]
async fn by_reference() {
    method!(Client::associated(3));
    method!(Client::by_ref(&shape::Client::new(), 3));
    method!(Client::by_mut(&mut shape::Client::new(), vec!["a".into(), "b".into()]));
    method!(Client::shared_ref(&Arc::new(shape::Client::new())));
    method!(Client::pinned(Pin::new(&mut shape::Client::new())));
}

#[tokio::test(start_paused = true)]
async fn by_value() {
    method!(Client::by_value(shape::Client::new()));
    method!(Client::by_mut_value(shape::Client::new()));
    method!(Client::boxed(Box::new(shape::Client::new()), 3));
    method!(Client::shared(Arc::new(shape::Client::new())));
}

#[tokio::test(start_paused = true)]
async fn borrowing_from_self_and_naming_it() {
    let (bare, once, again) = (bare::Client::new(), once::Client::new(), again::Client::new());
    assert_eq!(bare.borrows("x").await, once.borrows("x").await);
    assert_eq!(bare.borrows("x").await, again.borrows("x").await);
    assert_eq!(once.another().await.map(|client| client.count), Ok(0));
    assert_eq!(again.another().await.map(|client| client.count), Ok(0));
    assert_eq!(bare.another().await.map(|client| client.count), Ok(0));
}

#[tokio::test(start_paused = true)]
async fn what_a_failed_attempt_did_to_self_stays_done() {
    let mut client = again::Client::new();
    let done = crate::support::failing(1, client.by_mut(Vec::new())).await;
    assert_eq!((done, client.count), (Ok(0), 8));
}
