//! `name`: the name of the function on dashboards, in errors and in settings.

use watertight::metrics::BreakerState;
use watertight::resilient;
use watertight_tests::{AppError, breaker, site};

mod catalogue {
    use super::{AppError, resilient};

    #[resilient(name = "catalogue.get", timeout = "10ms", breaker(window = 1, failures = "100%"))]
    pub(super) async fn get() -> Result<(), AppError> {
        std::future::pending().await
    }
}

mod basket {
    use super::{AppError, resilient};

    #[resilient(name = "basket.get", timeout = "1s")]
    pub(super) async fn get() -> Result<(), AppError> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn it_replaces_the_functions_own_everywhere() {
    basket::get().await.unwrap();
    let error = catalogue::get().await.unwrap_err();
    assert!(error.to_string().starts_with("catalogue.get: "), "{error}");
    let identity = error.refused().site().expect("known");
    assert_eq!((identity.name, identity.module), ("catalogue.get", "behaviour::name::catalogue"));
    assert!(identity.file.ends_with("name.rs") && identity.line > 10, "{identity}");
    assert_eq!((site("catalogue.get").timed_out, site("basket.get").ok), (1, 1));
    assert_eq!(breaker("catalogue.get").state, BreakerState::Open, "a function's own breaker has its name");
    assert!(watertight::snapshot().site("get").is_none());
}

mod one {
    use super::{AppError, resilient};

    #[resilient(breaker(window = 1, failures = "100%"))]
    pub(super) async fn name_twice(well: bool) -> Result<(), AppError> {
        if well { Ok(()) } else { Err(AppError::Broken("down")) }
    }
}

mod other {
    use super::{AppError, resilient};

    #[resilient(breaker(window = 1, failures = "100%"))]
    pub(super) async fn name_twice() -> Result<(), AppError> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn two_functions_of_one_name_have_figures_and_breakers_of_their_own() {
    one::name_twice(false).await.unwrap_err();
    other::name_twice().await.expect("not behind the other's breaker");
    let snapshot = watertight::snapshot();
    let modules: Vec<_> =
        snapshot.sites.iter().filter(|site| site.name == "name_twice").map(|site| (site.module, site.calls)).collect();
    assert_eq!(modules, [("behaviour::name::one", 1), ("behaviour::name::other", 1)]);
}
