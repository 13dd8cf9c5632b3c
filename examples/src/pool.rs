//! # The pool, and how full it is
//!
//! The pool is what the outage travels through. Ten connections serve every route; whoever holds one while waiting for
//! somebody else makes ten such waits enough to stop the house. It is sqlx's own pool over SQLite's own engine, with
//! the defaults a careful team would choose: ten connections, two seconds to get one.
//!
//! The database lives in memory, in SQLite's `memdb` file system, where connections share a database by its name. There
//! is no file to clean up, so not even a killed process leaves one. Such a database lasts as long as its last
//! connection, hence all ten are opened at the start and none retires.
//!
//! Invariants:
//! * every pool has a database of its own, never another run's;
//! * all connections exist before [`open`] returns, so a pool is never short because it is still growing.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use tokio::time::interval;

/// Connections in the pool.
pub const SIZE: u32 = 10;
/// How long to wait for one.
pub const ACQUIRE_LIMIT: Duration = Duration::from_secs(2);
/// How often the idle ones are counted.
const SAMPLE: Duration = Duration::from_millis(10);

static DATABASES: AtomicU32 = AtomicU32::new(0);

/// Opens a full pool over a fresh, empty database.
///
/// # Errors
/// When SQLite cannot open it.
pub async fn open() -> sqlx::Result<SqlitePool> {
    // The leading slash is what makes a memdb database shared by name.
    let name = format!("/shop-{}", DATABASES.fetch_add(1, Relaxed));
    let options = SqliteConnectOptions::new().filename(name).vfs("memdb").create_if_missing(true);
    SqlitePoolOptions::new()
        .max_connections(SIZE)
        .min_connections(SIZE)
        .acquire_timeout(ACQUIRE_LIMIT)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(options)
        .await
}

/// How many connections were idle, over time.
#[derive(Clone, Debug)]
pub struct IdleLevels {
    /// Samples that saw this many idle.
    seen: Vec<u64>,
}

impl Default for IdleLevels {
    fn default() -> Self {
        Self { seen: vec![0; SIZE as usize + 1] }
    }
}

impl IdleLevels {
    /// Samples for ever; drop it to end.
    pub async fn follow(&mut self, pool: &SqlitePool) {
        let mut beat = interval(SAMPLE);
        loop {
            beat.tick().await;
            self.sample(pool.num_idle());
        }
    }

    fn sample(&mut self, idle: usize) {
        let last = self.seen.len() - 1;
        self.seen[idle.min(last)] += 1;
    }

    /// Fewest idle at any sample.
    pub fn low(&self) -> Option<usize> {
        self.seen.iter().position(|&samples| samples > 0)
    }

    /// Half the samples saw at most so many idle.
    pub fn typical(&self) -> Option<usize> {
        let all: u64 = self.seen.iter().sum();
        let mut below = 0;
        self.seen.iter().position(|&samples| {
            below += samples;
            samples > 0 && below * 2 >= all
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{IdleLevels, SIZE, open};

    #[test]
    fn low_is_the_worst_and_typical_the_middle() {
        let mut levels = IdleLevels::default();
        assert_eq!((levels.low(), levels.typical()), (None, None));
        for idle in [2, 10, 3, 2, 11] {
            levels.sample(idle);
        }
        assert_eq!((levels.low(), levels.typical()), (Some(2), Some(3)));
    }

    #[tokio::test]
    async fn pools_are_full_and_strangers_to_each_other() {
        let (one, other) = (open().await.unwrap(), open().await.unwrap());
        assert_eq!(one.size(), SIZE);
        sqlx::query("create table here (x int)").execute(&one).await.unwrap();
        for _ in 0..SIZE {
            sqlx::query("select x from here").execute(&one).await.unwrap();
        }
        assert!(sqlx::query("select x from here").execute(&other).await.is_err());
    }
}
