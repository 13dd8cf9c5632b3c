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

            nest!(@ $guard, [u8; LARGE]: level1 level0, level2 level1, level3 level2, level4 level3, level5 level4, level6 level5,
                level7 level6, level8 level7, level9 level8);

            /// Makes the argument, for nine more around it.
            #[$guard]
            pub(super) async fn outer1(fill: u8) -> Outcome<usize> {
                level0([fill; LARGE]).await
            }

            nest!(@ $guard, u8: outer2 outer1, outer3 outer2, outer4 outer3, outer5 outer4, outer6 outer5,
                outer7 outer6, outer8 outer7, outer9 outer8);

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
    (@ $guard:meta, $ty:ty: $($level:ident $below:ident),+) => {
        $(#[$guard]
        pub(super) async fn $level(large: $ty) -> Outcome<usize> {
            let ended = $below(large).await;
            black_box(&large);
            ended
        })+
    };
}

nest!(bare, allow(clippy::large_futures));
nest!(timed, resilient(timeout = "9s"));
nest!(full, resilient(timeout = "9s", deadline = "9s", bulkhead = "nesting:64", breaker, retry = 2));

fn on_two_mebibytes<A: Send + 'static, F: Future<Output = Outcome<usize>> + 'static>(call: fn(A) -> F, argument: A) {
    let runs = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(call(argument))
    };
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(runs).expect("a thread");
    assert_eq!(thread.join().expect("no overflow"), Ok(LARGE));
}

#[test]
fn ten_deep_around_a_large_argument() {
    on_two_mebibytes(bare::outer9, 1);
    on_two_mebibytes(timed::outer9, 1);
    on_two_mebibytes(full::outer9, 1);
}

/// Each level has the argument, holds it, and hands a copy down: five levels bare are 82 kilobytes of future.
#[test]
fn five_deep_with_a_large_argument_each() {
    on_two_mebibytes(bare::level4, [1; LARGE]);
    on_two_mebibytes(timed::level4, [1; LARGE]);
    on_two_mebibytes(full::level4, [1; LARGE]);
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
    let large = row!("8 KiB argument", level0([1; LARGE]));
    let ten = row!("ten functions around it", outer9(1));
    let each = row!("ten functions, 8 KiB each", level9([1; LARGE]));
    // Without retry a function adds what is known of its call. With retry it also keeps the arguments for the next attempt.
    for ([bare, timed, full], levels, arguments) in
        [(small, 1, 8), (kilobyte, 1, 1024), (large, 1, LARGE), (ten, 10, LARGE), (each, 10, 10 * LARGE)]
    {
        assert!(timed <= bare + 640 * levels, "{timed} for {bare}");
        assert!(full <= bare + arguments + 640 * levels, "{full} for {bare}");
    }
}
