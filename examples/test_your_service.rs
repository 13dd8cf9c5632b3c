//! Testing a service of your own: that hung recommendations do not hurt checkout.
//!
//! A small shop with one pool of database connections. A page's recommendations take a connection, read what the user
//! bought, and ask a vendor with the connection still in hand; checkout takes a connection too and never asks the vendor.
//! The tests below are those one would write for the real thing: no sleeps, no sockets, on a clock that stands still
//! unless everybody waits. The whole file takes a few milliseconds. `docs/testing.md` walks through it.
//!
//! Run it with `cargo test -p watertight-examples --test test_your_service`.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep, timeout};
use watertight::resilient;

/// Who recommends: the real one over HTTP, in a test a fake.
trait Vendor: Send + Sync + 'static {
    fn recommend(&self, user: u64) -> impl Future<Output = io::Result<Vec<String>>> + Send;
}

struct Shop<V> {
    connections: Semaphore,
    vendor: V,
}

impl<V: Vendor> Shop<V> {
    fn new(vendor: V) -> Arc<Self> {
        Arc::new(Self { connections: Semaphore::new(10), vendor })
    }

    /// A connection of the pool; like most pools, this one gives up after a while.
    async fn connection(&self) -> io::Result<SemaphorePermit<'_>> {
        match timeout(Duration::from_secs(1), self.connections.acquire()).await {
            Ok(Ok(connection)) => Ok(connection),
            _ => Err(io::Error::other("no connection to be had")),
        }
    }

    async fn recommend_with_a_connection(&self, user: u64) -> io::Result<Vec<String>> {
        let _connection = self.connection().await?;
        sleep(Duration::from_millis(2)).await; // what did they buy?
        self.vendor.recommend(user).await
    }

    async fn checkout(&self) -> io::Result<&'static str> {
        let _connection = self.connection().await?;
        sleep(Duration::from_millis(5)).await;
        Ok("thank you")
    }
}

#[resilient(timeout = "300ms", bulkhead = "recs:8/queue:16", fallback = Vec::new)]
async fn recommendations<V: Vendor>(shop: &Shop<V>, user: u64) -> io::Result<Vec<String>> {
    shop.recommend_with_a_connection(user).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::task::JoinSet;
    use watertight::testing::{Fault, Hung, World, figures_of, inject};
    use watertight::{Fate, Refusal};

    /// A vendor that hangs until it is told to recover.
    impl Vendor for Hung {
        async fn recommend(&self, user: u64) -> io::Result<Vec<String>> {
            self.call().await;
            Ok(vec![format!("a book for {user}")])
        }
    }

    #[tokio::test(start_paused = true)]
    async fn hung_recommendations_do_not_hurt_checkout() {
        let _world = World::open();
        let recs = figures_of("recommendations").unwrap();
        let shop = Shop::new(Hung::default());

        let mut pages = JoinSet::new();
        for user in 0..100 {
            let shop = Arc::clone(&shop);
            pages.spawn(async move { recommendations(&shop, user).await });
        }
        recs.until_queued(16).await.unwrap();
        assert_eq!(recs.running(), 8, "eight pages hold a connection, and no ninth ever will");

        let clock = Instant::now();
        assert_eq!(shop.checkout().await.unwrap(), "thank you");
        assert_eq!(clock.elapsed(), Duration::from_millis(5), "as fast as on any other day");

        for page in pages.join_all().await {
            assert!(page.unwrap().is_empty(), "a page without its strip is a page");
        }
        assert_eq!(
            recs.fates(),
            [(Fate::TimedOut, 16), (Fate::Refused(Refusal::Full), 76), (Fate::Refused(Refusal::Waited), 8)]
        );
        assert_eq!((recs.running(), shop.vendor.inside(), shop.connections.available_permits()), (0, 0, 10));
    }

    #[tokio::test(start_paused = true)]
    async fn when_the_vendor_is_back_so_are_the_recommendations() {
        let _world = World::open();
        let recs = figures_of("recommendations").unwrap();
        let shop = Shop::new(Hung::default());
        assert!(recommendations(&shop, 1).await.unwrap().is_empty());
        shop.vendor.recover();
        assert_eq!(recommendations(&shop, 2).await.unwrap(), ["a book for 2"]);
        assert_eq!(recs.fates(), [(Fate::Ok, 1), (Fate::TimedOut, 1)]);
    }

    /// The real vendor, as far as a test has one: it answers at once.
    struct Healthy;

    impl Vendor for Healthy {
        async fn recommend(&self, user: u64) -> io::Result<Vec<String>> {
            Ok(vec![format!("a book for {user}")])
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_vendor_that_fails_now_and_then_costs_a_strip_now_and_then() {
        let _world = World::open();
        let recs = figures_of("recommendations").unwrap();
        let shop = Shop::new(Healthy);
        // No fake for this: the function's own body fails, three times in ten.
        let fault = Fault::error(|| io::Error::other("reset by peer")).rate(0.3);
        let fault = inject("recommendations", fault).unwrap();
        let mut empty = 0;
        for user in 0..1_000 {
            empty += u64::from(recommendations(&shop, user).await.unwrap().is_empty());
        }
        assert_eq!(empty, fault.struck());
        assert!((250..=350).contains(&empty), "{empty}");
        assert_eq!(recs.fates(), [(Fate::Ok, 1_000 - empty), (Fate::Error, empty)]);
    }

    /// The control: a test that would pass without the attribute as well proves nothing about it.
    #[tokio::test(start_paused = true)]
    async fn without_the_attribute_checkout_goes_down_with_the_recommendations() {
        let shop = Shop::new(Hung::default());
        let mut pages = JoinSet::new();
        for user in 0..100 {
            let shop = Arc::clone(&shop);
            pages.spawn(async move { shop.recommend_with_a_connection(user).await });
        }
        sleep(Duration::from_millis(10)).await;
        assert_eq!(shop.vendor.inside(), 10, "every connection is held by a page that waits for the vendor");
        assert_eq!(shop.checkout().await.unwrap_err().to_string(), "no connection to be had");
    }
}
