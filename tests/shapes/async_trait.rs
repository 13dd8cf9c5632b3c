//! `#[async_trait]` above and below, and async functions in traits without it (B44).

use async_trait::async_trait;

use crate::support::{Outcome, same, step, thrice};

#[derive(Clone)]
pub(crate) struct Json<T>(pub(crate) T);

macro_rules! shapes {
    ($name:ident, $guard:meta) => {
        mod $name {
            use super::*;

            #[derive(Default)]
            pub(super) struct Store {
                pub(super) writes: usize,
            }

            /// `async_trait` runs first: it is above the attributes of the methods.
            #[async_trait]
            pub(super) trait Boxed {
                async fn read(&self, key: &str, limit: usize) -> Outcome<String>;
                async fn write(&mut self, mut key: String, Json(x): Json<String>) -> Outcome<String>;

                #[$guard]
                async fn by_default(&self, key: String) -> Outcome<String> {
                    step().await?;
                    Ok(key)
                }
            }

            #[async_trait]
            impl Boxed for Store {
                #[$guard]
                async fn read(&self, key: &str, limit: usize) -> Outcome<String> {
                    step().await?;
                    Ok(key.chars().take(limit + self.writes).collect())
                }

                #[$guard]
                async fn write(&mut self, mut key: String, Json(x): Json<String>) -> Outcome<String> {
                    key.push_str(&x);
                    step().await?;
                    self.writes += 1;
                    Ok(key)
                }
            }

            #[allow(async_fn_in_trait)]
            pub(super) trait Native {
                fn read(&self, key: &str) -> impl Future<Output = Outcome<String>> + Send;

                #[$guard]
                async fn by_default(&self, n: u8) -> Outcome<u8> {
                    step().await?;
                    Ok(n)
                }
            }

            impl Native for Store {
                #[$guard]
                async fn read(&self, key: &str) -> Outcome<String> {
                    step().await?;
                    Ok(key.repeat(2))
                }
            }
        }
    };
}

thrice!(shapes);

#[tokio::test(start_paused = true)]
async fn under_async_trait() {
    same!(bare, once, again: Boxed::read(&shape::Store::default(), "key", 2));
    same!(bare, once, again: Boxed::write(&mut shape::Store::default(), "key".into(), Json("x".into())));
    same!(bare, once, again: Boxed::by_default(&shape::Store::default(), "key".into()));
}

#[tokio::test(start_paused = true)]
async fn in_traits_of_the_language() {
    same!(bare, once, again: Native::read(&shape::Store::default(), "key"));
    let store = once::Store::default();
    assert_eq!(once::Native::by_default(&store, 5).await, Ok(5));
    assert!(crate::support::cut_off(once::Native::by_default(&store, 5)).await.is_err());
    let store = again::Store::default();
    assert_eq!(crate::support::failing(2, again::Native::by_default(&store, 5)).await, Ok(5));
    assert_eq!(bare::Native::by_default(&bare::Store::default(), 5).await, Ok(5));
}

/// The attribute on the `impl` block, in either order: it runs before `async_trait`, or after it.
mod whole_blocks {
    use super::{Json, Outcome, async_trait, step};

    #[async_trait]
    pub(super) trait Get {
        async fn get(&self, Json(key): Json<String>) -> Outcome<String>;
    }

    pub(super) struct Before(pub(super) u8);
    pub(super) struct After(pub(super) u8);

    #[watertight::resilient(timeout = "20ms", retry(2, budget = off))]
    #[async_trait]
    impl Get for Before {
        async fn get(&self, Json(key): Json<String>) -> Outcome<String> {
            step().await?;
            Ok(format!("{key}{}", self.0))
        }
    }

    #[async_trait]
    #[watertight::resilient(timeout = "20ms", retry(2, budget = off))]
    impl Get for After {
        async fn get(&self, Json(key): Json<String>) -> Outcome<String> {
            step().await?;
            Ok(format!("{key}{}", self.0))
        }
    }
}

#[tokio::test(start_paused = true)]
async fn blocks_in_either_order() {
    use whole_blocks::{After, Before, Get};
    let both: [&dyn Get; 2] = [&Before(1), &After(1)];
    for get in both {
        let key = || Json(String::from("key"));
        assert_eq!(get.get(key()).await, Ok("key1".into()));
        assert!(crate::support::cut_off(get.get(key())).await.is_err());
        assert_eq!(crate::support::failing(2, get.get(key())).await, Ok("key1".into()));
    }
}

#[async_trait]
trait Tenants {
    async fn list(&self, tenant: String, limit: usize) -> Outcome<String>;
}

struct Shop(u64);

#[async_trait]
impl Tenants for Shop {
    #[watertight::resilient(bulkhead = "async_trait_keyed:1", key = (self.0, &tenant))]
    async fn list(&self, tenant: String, limit: usize) -> Outcome<String> {
        step().await?;
        Ok(tenant.chars().take(limit).collect())
    }
}

#[tokio::test]
async fn a_key_names_arguments_and_receiver_of_what_async_trait_made() {
    let (acme, other) = (Shop(1), Shop(2));
    let mut held = acme.list("acme".into(), 2);
    assert!(futures::poll!(&mut held).is_pending());
    acme.list("acme".into(), 2).await.unwrap_err();
    assert_eq!(other.list("acme".into(), 3).await.unwrap(), "acm");
    assert_eq!(held.await.unwrap(), "ac");
}
