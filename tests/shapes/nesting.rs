//! Ten guarded functions, one in another, around an argument of eight kibibytes (B40).
//!
//! The table in `docs/compile-cost.md` is printed by `future_sizes`, run with `--nocapture`.

use std::hint::black_box;

use watertight::resilient;

use crate::support::{Outcome, step};

const LARGE: usize = 8 * 1024;

macro_rules! nest {
    ($name:ident, $guard:meta) => {
        mod $name {
            use super::*;

            #[$guard]
            pub(super) async fn level0(large: [u8; LARGE]) -> Outcome<usize> {
                step().await?;
                Ok(black_box(&large).len())
            }

            nest!(@ $guard: level1 level0, level2 level1, level3 level2, level4 level3, level5 level4, level6 level5,
                level7 level6, level8 level7, level9 level8);

            /// Holds its argument over an await, and nothing else.
            #[$guard]
            pub(super) async fn by_value(large: [u8; 1024]) -> Outcome<usize> {
                step().await?;
                Ok(black_box(&large).len())
            }

            #[$guard]
            pub(super) async fn small(id: u64) -> Outcome<u64> {
                step().await?;
                Ok(id)
            }
        }
    };
    (@ $guard:meta: $($level:ident $below:ident),+) => {
        $(#[$guard]
        pub(super) async fn $level(large: [u8; LARGE]) -> Outcome<usize> {
            let ended = $below(large).await;
            black_box(&large);
            ended
        })+
    };
}

nest!(bare, allow(clippy::large_futures));
nest!(timed, resilient(timeout = "9s"));
nest!(full, resilient(timeout = "9s", deadline = "9s", bulkhead = "nesting:64", breaker, retry = 2));

fn on_two_mebibytes<F: Future<Output = Outcome<usize>> + 'static>(call: fn([u8; LARGE]) -> F) {
    let runs = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(call([1; LARGE]))
    };
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(runs).expect("a thread");
    assert_eq!(thread.join().expect("no overflow"), Ok(LARGE));
}

#[test]
fn ten_deep_on_a_small_stack() {
    on_two_mebibytes(bare::level4);
    on_two_mebibytes(timed::level4);
    on_two_mebibytes(full::level4);
}

#[test]
fn future_sizes() {
    macro_rules! row {
        ($what:literal, $($call:tt)+) => {{
            let sizes = [size_of_val(&bare::$($call)+), size_of_val(&timed::$($call)+), size_of_val(&full::$($call)+)];
            println!("| {} | {} | {} | {} |", $what, sizes[0], sizes[1], sizes[2]);
            sizes
        }};
    }
    println!("| body | bare | timeout | all keys |\n|---|---|---|---|");
    let small = row!("`u64`", small(1));
    let kilobyte = row!("1 KiB argument", by_value([1; 1024]));
    let one = row!("8 KiB argument", level0([1; LARGE]));
    let two = row!("two deep", level1([1; LARGE]));
    let ten = row!("ten deep", level9([1; LARGE]));
    for [bare, timed, full] in [small, kilobyte] {
        assert!(timed <= bare * 2 + 1024, "{timed} for {bare}");
        assert!(full <= bare * 3 + 1024, "{full} for {bare}");
    }
    let _ = (one, two, ten);
}
