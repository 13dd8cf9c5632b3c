//! Functions that return a future without being `async`.

use std::future::Future;
use std::pin::Pin;

use futures::FutureExt;
use futures::future::BoxFuture;

use crate::support::{Outcome, same, step, thrice};

macro_rules! shapes {
    ($name:ident, $guard:meta) => {
        mod $name {
            use super::*;

            #[$guard]
            #[allow(clippy::manual_async_fn)]
            pub(super) fn bare_block(n: u8) -> impl Future<Output = Outcome<u8>> + Send {
                async move {
                    step().await?;
                    Ok(n)
                }
            }

            #[$guard]
            pub(super) fn pinned(text: String) -> Pin<Box<dyn Future<Output = Outcome<usize>> + Send>> {
                Box::pin(async move {
                    step().await?;
                    Ok(text.len())
                })
            }

            #[$guard]
            pub(super) fn boxed(text: &str) -> BoxFuture<'_, Outcome<usize>> {
                async move {
                    step().await?;
                    Ok(text.len())
                }
                .boxed()
            }
        }
    };
}

thrice!(shapes);

#[tokio::test(start_paused = true)]
async fn the_future_inside_is_what_is_guarded() {
    same!(bare, once, again: bare_block(5));
    same!(bare, once, again: pinned("text".into()));
    same!(bare, once, again: boxed("text"));
}

#[watertight::resilient(timeout = "20ms")]
fn steps(text: &str) -> impl Future<Output = Outcome<usize>> + Send + use<> {
    let owned = text.to_owned();
    async move {
        step().await?;
        Ok(owned.len())
    }
}

#[tokio::test(start_paused = true)]
async fn steps_in_front_of_the_block_stay_in_front() {
    assert_eq!(steps("text").await, Ok(4));
    assert!(crate::support::cut_off(steps("text")).await.is_err());
}
