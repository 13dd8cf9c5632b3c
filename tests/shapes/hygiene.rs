//! Names of the user's that are also names of the language's, of ours, or of the expansion's (B41).

/// A module in which no usual name means the usual thing.
#[allow(dead_code, unused_imports, unused_macros, non_camel_case_types, clippy::module_inception)]
mod hostile {
    use ::watertight::resilient;

    pub(super) type Result<T> = ::core::result::Result<T, super::super::support::Trouble>;

    enum Nothing {
        Ok,
        Err,
        Some,
        None,
    }
    use Nothing::{Err, None, Ok, Some};

    fn drop() {}
    fn identity() {}
    struct Duration;
    struct Box;
    struct String;
    struct Vec;
    struct Option;
    struct Future;
    struct Pin;
    struct Site;
    struct Call;
    struct __WT_SITE;
    trait Clone {}
    trait From {}
    trait Send {}
    trait Fn {}
    trait Iterator {}
    mod watertight {}
    mod std {}
    mod core {}
    mod tokio {}
    mod __private {}
    mod linkme {}
    mod judge {}

    macro_rules! module_path {
        () => {
            compile_error!("the user's")
        };
    }
    macro_rules! line {
        () => {
            compile_error!("the user's")
        };
    }
    macro_rules! pin {
        () => {
            compile_error!("the user's")
        };
    }
    macro_rules! static_assertions {
        () => {};
    }

    #[resilient(
        timeout = "20ms",
        deadline = "1s",
        bulkhead = "hygiene:4",
        breaker,
        retry(2, budget = off, on = |error| matches!(error, super::super::support::Trouble::Own))
    )]
    pub(super) async fn without_fallback(__wt_call: u8, __wt_end: u8, __wt_body: u8, __wt_given_x: u8) -> Result<u8> {
        let __wt_out = 1;
        let __wt_return = 2;
        const __WT_SITE: u8 = 3;
        super::super::support::step().await?;
        Result::Ok(__wt_call + __wt_end + __wt_body + __wt_given_x + __wt_out + __wt_return + __WT_SITE)
    }

    #[resilient(timeout = "20ms", fallback = |__wt_failure| __wt_call)]
    pub(super) async fn with_fallback(__wt_call: u8, __wt_shape: u8) -> Result<u8> {
        let __wt_fallback = __wt_shape;
        super::super::support::step().await?;
        Result::Ok(__wt_fallback)
    }

    #[resilient(timeout = "20ms", hedge = "15ms", idempotent)]
    pub(super) async fn hedged(__wt_call: u8, __wt_again: u8, __wt_is_last: u8, __wt_beside: u8) -> Result<u8> {
        super::super::support::step().await?;
        Result::Ok(__wt_call + __wt_again + __wt_is_last + __wt_beside)
    }

    #[resilient(timeout = "20ms", fallback = plain)]
    pub(super) async fn with_plain(value: u8) -> u8 {
        '__wt_body: {
            if super::super::support::step().await.is_err() {
                break '__wt_body;
            }
        }
        value
    }

    fn plain() -> u8 {
        7
    }
}

#[tokio::test(start_paused = true)]
async fn names_of_the_users_are_the_users() {
    use crate::support::{cut_off, failing};
    assert_eq!(failing(2, hostile::without_fallback(1, 2, 3, 4)).await, Ok(16));
    assert!(cut_off(hostile::without_fallback(1, 2, 3, 4)).await.is_err());
    assert_eq!((hostile::with_fallback(1, 2).await, cut_off(hostile::with_fallback(1, 2)).await), (Ok(2), Ok(1)));
    assert_eq!(hostile::hedged(1, 2, 3, 4).await, Ok(10));
    assert_eq!((hostile::with_plain(5).await, cut_off(hostile::with_plain(5)).await), (5, 7));
}

/// The runtime under another name and by way of another module.
mod facade {
    pub(crate) mod inner {
        pub(crate) use ::watertight as wt;
    }
}

#[facade::inner::wt::resilient(
    crate = crate::hygiene::facade::inner::wt,
    timeout = "20ms",
    retry(1, budget = off),
    fallback = |_| 5
)]
async fn by_facade(id: u8) -> crate::support::Outcome<u8> {
    crate::support::step().await?;
    Ok(id)
}

struct Client;

#[facade::inner::wt::resilient(crate = facade::inner::wt, timeout = "20ms")]
impl Client {
    async fn get(&self, id: u8) -> crate::support::Outcome<u8> {
        crate::support::step().await?;
        Ok(id)
    }
}

#[tokio::test(start_paused = true)]
async fn the_runtime_is_found_where_it_is_said_to_be() {
    use crate::support::cut_off;
    assert_eq!((by_facade(1).await, cut_off(by_facade(1)).await), (Ok(1), Ok(5)));
    assert_eq!(Client.get(1).await, Ok(1));
    assert!(cut_off(Client.get(1)).await.is_err());
}
