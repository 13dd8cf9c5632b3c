//! Calls that nobody watches leave nothing behind: twenty functions take what twenty functions take, however often they are
//! called, and the first who looks finds everything.
//!
//! Each function goes through everything that takes memory once: an attempt that is cut off, one that waits for its slot, one
//! that fails and is tried again. After that a call takes none that it does not give back. The program
//! `cargo run --release --example ten_million` does the same ten million times on several threads, and says how long the first
//! read takes.

use std::future::pending;
use std::time::Duration;

use allocation_counter::measure;
use watertight::{Error, resilient};

/// What a call meets.
#[derive(Clone, Copy)]
enum Day {
    Good,
    Bad,
    Hung,
}

#[derive(Debug)]
struct Trouble;

impl From<Error> for Trouble {
    fn from(_: Error) -> Self {
        Self
    }
}

async fn work(day: Day) -> Result<u32, Trouble> {
    match day {
        Day::Good => Ok(1),
        Day::Bad => Err(Trouble),
        Day::Hung => pending().await,
    }
}

macro_rules! functions {
    ($($name:ident $bulkhead:literal)+) => {
        $(#[resilient(timeout = "20ms", deadline = "1s", bulkhead = $bulkhead, breaker, retry(1, backoff = "1ms..1ms"), fallback = || Ok(0))]
        async fn $name(day: Day) -> Result<u32, Trouble> {
            work(day).await
        })+

        const NAMES: [&str; 20] = [$(stringify!($name)),+];

        /// Each of them once.
        async fn each(day: Day) {
            $(let _ = $name(day).await;)+
        }

        /// One more of each than it has slots, all at once: one waits.
        async fn crowd() {
            $(let _ = futures::join!($name(Day::Hung), $name(Day::Good));)+
        }
    };
}

functions! {
    unwatched_0 "unwatched-0:1/queue:1" unwatched_1 "unwatched-1:1/queue:1" unwatched_2 "unwatched-2:1/queue:1"
    unwatched_3 "unwatched-3:1/queue:1" unwatched_4 "unwatched-4:1/queue:1" unwatched_5 "unwatched-5:1/queue:1"
    unwatched_6 "unwatched-6:1/queue:1" unwatched_7 "unwatched-7:1/queue:1" unwatched_8 "unwatched-8:1/queue:1"
    unwatched_9 "unwatched-9:1/queue:1" unwatched_10 "unwatched-10:1/queue:1" unwatched_11 "unwatched-11:1/queue:1"
    unwatched_12 "unwatched-12:1/queue:1" unwatched_13 "unwatched-13:1/queue:1" unwatched_14 "unwatched-14:1/queue:1"
    unwatched_15 "unwatched-15:1/queue:1" unwatched_16 "unwatched-16:1/queue:1" unwatched_17 "unwatched-17:1/queue:1"
    unwatched_18 "unwatched-18:1/queue:1" unwatched_19 "unwatched-19:1/queue:1"
}

const ROUNDS: u32 = 5_000;
/// What a function may take, once called.
const MOST: i64 = 64 * 1024;

#[test]
fn a_hundred_thousand_calls_of_twenty_functions_add_no_byte_to_what_the_first_ones_took() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
    let first = measure(|| {
        runtime.block_on(async {
            each(Day::Good).await;
            each(Day::Bad).await;
            crowd().await;
            // The queue's estimates and the breaker's window have to have been in use.
            for _ in 0..200 {
                each(Day::Good).await;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
    });
    let a_function = first.bytes_current / 20;
    println!("{a_function} bytes a function, on one thread");
    assert!(a_function > 1_000, "something was counted");
    assert!(a_function < MOST, "{a_function} bytes a function");

    let later = measure(|| {
        runtime.block_on(async {
            for round in 0..ROUNDS {
                each(if round % 100 == 7 { Day::Bad } else { Day::Good }).await;
                if round % 500 == 3 {
                    crowd().await;
                }
            }
        });
    });
    println!("{} bytes more after {} calls", later.bytes_current, ROUNDS * 20);
    assert!(later.bytes_current.abs() < 20 * 64, "{} bytes were not given back", later.bytes_current);

    let read = measure(|| {
        let seen = watertight::snapshot();
        for name in NAMES {
            let site = seen.site(name).expect("listed");
            assert!(site.calls >= u64::from(ROUNDS) + 200, "everything is there: {}", site.calls);
            assert!(site.timed_out > 0 && site.retries > 0 && site.cut_off.count() > 0, "and of every kind");
        }
    });
    assert_eq!(read.bytes_current, 0, "a reader takes its copy along");
}
