//! Instructions by callgrind: every row that runs on one thread, as numbers that another run repeats.
//!
//! A count depends on the code, the compiler and the libraries, and on nothing that else runs on the machine: so a change of
//! a few instructions shows, where a time would drown it. It is not a time: a cache miss, a locked instruction and a clock
//! read count as few. Read both.
//!
//! Each row has a process of its own under valgrind, is set up and warmed there, and is counted for a thousand calls.
//! It wants two programs, and says so when they are missing:
//!
//! ```text
//! apt-get install valgrind
//! cargo install gungraun-runner@0.20.0 --locked       # the version of the library, which is pinned in Cargo.toml
//! ```
//!
//! What a row's instructions are spent on: `callgrind_annotate` on the files below `target/gungraun`.

#[path = "../rows/mod.rs"]
mod rows;
#[path = "../tables.rs"]
mod tables;

mod profiles;

/// Calls that are counted.
const CALLS: u32 = 1_000;

/// What the macros make has a `main` of its own.
mod harness {
    use gungraun::prelude::*;

    use crate::rows::{self, Run};

    fn prepare(index: usize) -> Run {
        rows::all().swap_remove(index).prepare()
    }

    #[library_benchmark]
    #[benches::row(iter = 0..rows::all().len(), setup = prepare)]
    fn calls(mut run: Run) -> Run {
        run(crate::CALLS);
        // Dropped where nothing is counted.
        run
    }

    library_benchmark_group!(name = one_thread, benchmarks = calls);
    main!(library_benchmark_groups = one_thread);

    pub(super) fn run() {
        main();
    }
}

fn main() {
    // Called again by the runner, for one row under valgrind.
    if std::env::args().any(|arg| arg == "--gungraun-run") {
        return harness::run();
    }
    if let Err(missing) = profiles::programs() {
        println!("instructions are not counted: {missing}");
        return;
    }
    let begun = profiles::begun();
    harness::run();
    profiles::since(begun).report("counts", "instructions");
}
