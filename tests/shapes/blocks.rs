//! The attribute on an `impl` block.

use std::time::Duration;

use tokio::time::Instant;
use watertight::{ErrorKind, resilient};

use crate::support::{Outcome, Trouble, cut_off, failing, goes_on, hanging, step};

struct Repo<T>(T);

#[resilient(timeout = "20ms", retry(2, budget = off), name = "repo")]
impl<T: Clone + Send + Sync> Repo<T> {
    const SIZE: usize = 2;

    fn new(value: T) -> Self {
        Self(value)
    }

    async fn get(&self, times: usize) -> Outcome<Vec<T>> {
        step().await?;
        Ok(vec![self.0.clone(); times * Self::SIZE])
    }

    async fn set(&mut self, value: T) -> Outcome<()> {
        step().await?;
        self.0 = value;
        Ok(())
    }

    #[resilient(timeout = "50ms")]
    async fn slow(&self) -> Outcome<u8> {
        step().await?;
        Ok(5)
    }

    #[resilient(retry = off)]
    async fn once(&self) -> Outcome<u8> {
        step().await?;
        Ok(5)
    }

    #[resilient(skip)]
    async fn bare(&self) -> Outcome<u8> {
        step().await?;
        Ok(5)
    }

    /// `Option` cannot carry a refusal; with a fallback it need not.
    #[resilient(fallback = || None, name = "repo.find")]
    async fn find(&self) -> Option<u8> {
        step().await.ok().map(|()| 5)
    }

    #[cfg(any())]
    async fn not_there(&self) -> Missing {}
}

#[tokio::test(start_paused = true)]
async fn defaults_hold_for_every_async_method() {
    let mut repo = Repo::new(1);
    assert_eq!(failing(2, repo.get(1)).await, Ok(vec![1, 1]));
    assert_eq!(failing(2, repo.set(2)).await, Ok(()));
    assert_eq!(cut_off(repo.get(1)).await, Err(Trouble::Refused(ErrorKind::TimedOut)));
    assert_eq!(cut_off(repo.find()).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_method_has_the_last_word() {
    let repo = Repo::new(1);
    let begun = Instant::now();
    assert_eq!(hanging(repo.slow()).await, Err(Trouble::Refused(ErrorKind::TimedOut)));
    assert!(begun.elapsed() >= Duration::from_millis(50), "{:?}", begun.elapsed());
    assert_eq!(failing(2, repo.slow()).await, Ok(5));
    assert_eq!(failing(1, repo.once()).await, Err(Trouble::Own));
    assert!(cut_off(repo.once()).await.is_err());
    assert_eq!(failing(1, repo.bare()).await, Err(Trouble::Own));
    goes_on(repo.bare()).await;
}

#[tokio::test(start_paused = true)]
async fn each_method_is_a_site_of_its_own() {
    let repo = Repo::new(1);
    let _ = (repo.slow().await, repo.once().await, repo.find().await);
    let names: Vec<String> = watertight::snapshot().sites.iter().map(|site| site.name.to_string()).collect();
    for name in ["repo.get", "repo.set", "repo.slow", "repo.once", "repo.find"] {
        assert!(names.iter().any(|known| known == name), "{name} in {names:?}");
    }
    assert!(!names.iter().any(|known| known.ends_with("bare")), "{names:?}");
}
