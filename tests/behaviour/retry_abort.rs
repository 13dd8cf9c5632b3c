//! `retry(abort = ..)` and `retry(on = any)`: which errors are final, whatever else is said.

use std::sync::atomic::{AtomicU32, Ordering};

use watertight::{Class, Classify, Error, StopReason, resilient};
use watertight_tests::site;

#[derive(Clone, Debug, PartialEq)]
enum Shop {
    Busy,
    Forbidden,
    NotFound,
    Refused,
}

impl From<Error> for Shop {
    fn from(_: Error) -> Self {
        Self::Refused
    }
}

impl Classify for Shop {
    fn class(&self) -> Class {
        match self {
            Self::Busy => Class::Retryable,
            Self::Forbidden | Self::Refused => Class::Permanent,
            Self::NotFound => Class::Success,
        }
    }
}

impl Shop {
    fn is_busy(&self) -> bool {
        *self == Self::Busy
    }
}

macro_rules! shop {
    ($name:ident, $($keys:tt)*) => {
        #[resilient(idempotent, retry(2, backoff = "1ms..1ms", $($keys)*))]
        async fn $name(runs: &AtomicU32, error: Shop) -> Result<(), Shop> {
            runs.fetch_add(1, Ordering::Relaxed);
            Err(error)
        }
    };
}

shop!(abort_beside_the_default, abort = Shop::is_busy);
shop!(abort_beside_a_predicate, on = |_| true, abort = Shop::is_busy);
shop!(abort_beside_a_list, on = [error, |_| true], abort = |error| *error == Shop::Busy);
shop!(abort_beside_any, on = any, abort = Shop::is_busy);
shop!(any_error, on = any);
shop!(by_class,);

#[tokio::test(start_paused = true)]
async fn what_abort_names_is_final_whatever_on_says() {
    macro_rules! runs {
        ($function:ident) => {{
            let mut all = Vec::new();
            for error in [Shop::Busy, Shop::Forbidden, Shop::NotFound] {
                let runs = AtomicU32::new(0);
                assert_eq!($function(&runs, error.clone()).await, Err(error), "the last real error");
                all.push(runs.into_inner());
            }
            all
        }};
    }
    assert_eq!(runs!(by_class), [3, 1, 1]);
    assert_eq!(runs!(abort_beside_the_default), [1, 1, 1]);
    assert_eq!(runs!(abort_beside_a_predicate), [1, 3, 3]);
    assert_eq!(runs!(abort_beside_a_list), [1, 3, 3]);
    assert_eq!(runs!(abort_beside_any), [1, 3, 3]);
    assert_eq!(runs!(any_error), [3, 3, 3], "whatever its class");
    assert_eq!(site("abort_beside_any").stopped_for(StopReason::NotRetryable), 1);
}
