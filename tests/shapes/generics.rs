//! Lifetimes, type parameters, constants, bounds, and types that only the compiler can name (B32, B33).

use std::fmt::{Debug, Display};

use crate::support::{Outcome, same, step, thrice};

macro_rules! shapes {
    ($name:ident, $guard:meta) => {
        mod $name {
            use super::*;

            #[allow(clippy::needless_lifetimes)]
            #[$guard]
            pub(super) async fn where_clause<'a, T>(x: &'a T) -> Outcome<&'a str>
            where
                T: AsRef<str> + Sync + ?Sized,
            {
                step().await?;
                Ok(x.as_ref())
            }

            #[$guard]
            pub(super) async fn constant<const N: usize, T: Copy + Send>(array: [T; N]) -> Outcome<(usize, T)> {
                step().await?;
                Ok((N, array[0]))
            }

            #[$guard]
            pub(super) async fn every_lifetime(
                call: impl for<'x> Fn(&'x str) -> &'x str + Send + Clone,
            ) -> Outcome<String> {
                step().await?;
                Ok(call("text").to_owned())
            }

            #[$guard]
            pub(super) async fn hidden(n: u8) -> Outcome<impl Display + Debug + PartialEq> {
                step().await?;
                Ok(n)
            }

            #[$guard]
            pub(super) async fn nested(n: u8) -> Outcome<Vec<impl Debug + PartialEq>> {
                step().await?;
                Ok(vec![Some(n), None])
            }

            #[derive(Clone)]
            pub(super) struct Repo<T>(pub(super) T);

            impl<T: Clone + Send + Sync> Repo<T> {
                #[$guard]
                pub(super) async fn both<U: Send + Clone>(&self, other: U) -> Outcome<(T, U)> {
                    step().await?;
                    Ok((self.0.clone(), other))
                }
            }

            #[$guard]
            pub(super) async fn recursive(n: u32) -> Outcome<u32> {
                step().await?;
                if n == 0 { Ok(0) } else { Ok(n + Box::pin(recursive(n - 1)).await?) }
            }
        }
    };
}

thrice!(shapes);

#[tokio::test(start_paused = true)]
async fn parameters_and_bounds() {
    same!(bare, once, again: where_clause("text"));
    let text = String::from("text");
    same!(bare, once, again: where_clause(&text));
    same!(bare, once, again: constant([3, 4]));
    same!(bare, once, again: every_lifetime(|text| &text[1..]));
    same!(bare, once, again: Repo::both(&shape::Repo(5), "other"));
}

#[tokio::test(start_paused = true)]
async fn hidden_return_types() {
    for (given, expected) in [(once::hidden(5).await, 5), (once::hidden(6).await, 6)] {
        assert_eq!(given.map(|given| given.to_string()), Ok(expected.to_string()));
    }
    assert_eq!(again::hidden(5).await.map(|given| given.to_string()), Ok("5".into()));
    assert_eq!(format!("{:?}", again::nested(5).await), format!("{:?}", bare::nested(5).await));
    assert_eq!(format!("{:?}", once::nested(5).await), format!("{:?}", bare::nested(5).await));
    assert_eq!(bare::hidden(5).await.map(|given| given.to_string()), Ok("5".into()));
}

#[tokio::test(start_paused = true)]
async fn functions_that_call_themselves() {
    assert_eq!(bare::recursive(3).await, once::recursive(3).await);
    assert_eq!(bare::recursive(3).await, again::recursive(3).await);
}

/// One name is one bulkhead, whatever the function is made for.
#[tokio::test(start_paused = true)]
async fn state_belongs_to_the_name_and_not_to_the_instance() {
    #[watertight::resilient(bulkhead = "b32:1")]
    async fn only_one<T: AsRef<str> + Send>(text: T) -> Outcome<usize> {
        step().await?;
        Ok(text.as_ref().len())
    }
    let (first, second) = tokio::join!(only_one("text"), only_one(String::from("text")));
    assert_eq!(first, Ok(4));
    assert_eq!(second, Err(crate::support::Trouble::Refused(watertight::ErrorKind::BulkheadFull)));
}
