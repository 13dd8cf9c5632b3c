//! What the attribute costs to compile, beside `tracing::instrument`: run by hand.
//!
//! ```text
//! cargo test -p watertight-tests --test compile_cost [-- FUNCTIONS [ROUNDS]]
//! ```
//!
//! Writes a crate with as many functions (500 when not said otherwise) into a temporary folder, once per variant, and
//! times `cargo check` and `cargo build` of that crate alone, its dependencies being built already. All variants take
//! turns, and the least of several rounds counts, since everything else on the machine can only add to it. Code size
//! is the difference of the stripped release programs to the one without attributes.

mod measure;
mod program;

use std::path::Path;

use measure::Figures;
use program::Variant;

const VARIANTS: [Variant; 5] = [
    Variant { name: "bare", attribute: "" },
    Variant { name: "instrument", attribute: "#[tracing::instrument]" },
    Variant { name: "timeout", attribute: r#"#[resilient(timeout = "300ms")]"# },
    Variant {
        name: "no retry",
        attribute: r#"#[resilient(timeout = "300ms", bulkhead = "recs:8/queue:16", breaker)]"#,
    },
    Variant {
        name: "full",
        attribute: r#"#[resilient(timeout = "300ms", bulkhead = "recs:8/queue:16", retry = 2, fallback = nothing)]"#,
    },
];

/// How many functions are weighed; optimising takes its time.
const WEIGHED: usize = 100;

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<usize>().ok());
    let functions = numbers.next().unwrap_or(500);
    let rounds = numbers.next().unwrap_or(3);
    let folder = std::env::temp_dir().join(format!("watertight-compile-cost-{}", std::process::id()));
    let outcome = run(&folder, functions, rounds);
    // Nothing of it is worth keeping; a folder that is gone already is fine.
    let _ = std::fs::remove_dir_all(&folder);
    match outcome {
        Ok(all) => print(&all, functions),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}

fn run(folder: &Path, functions: usize, rounds: usize) -> Result<Vec<Figures>, String> {
    program::set_up(folder)?;
    let mut all = vec![Figures::default(); VARIANTS.len()];
    for round in 1..=rounds {
        for (variant, figures) in VARIANTS.iter().zip(&mut all) {
            eprintln!("round {round} of {rounds}: {}", variant.name);
            program::write(folder, variant, functions)?;
            figures.time(folder)?;
        }
    }
    for (variant, figures) in VARIANTS.iter().zip(&mut all) {
        eprintln!("code size: {}", variant.name);
        program::write(folder, variant, WEIGHED)?;
        figures.weigh(folder)?;
    }
    Ok(all)
}

fn print(all: &[Figures], functions: usize) {
    let [bare, instrument, ..] = all else { return };
    println!("{functions} functions, seconds of processor time; ratios to `tracing::instrument`\n");
    println!("| attribute | check | ratio | build | ratio | bytes per function |\n|---|---|---|---|---|---|");
    for (variant, figures) in VARIANTS.iter().zip(all) {
        let (check, build) = (figures.check, figures.build);
        let size = figures.size.saturating_sub(bare.size) as f64 / WEIGHED as f64;
        println!(
            "| {} | {check:.2} | {:.2} | {build:.2} | {:.2} | {size:.0} |",
            variant.name,
            check / instrument.check,
            build / instrument.build,
        );
    }
}
