//! Declarations on a block and on its methods, and on the provided methods of a trait.
//!
//! Types do not inherit here. The nearest thing is a trait: who implements it and leaves a provided method alone gets it
//! with its attribute, and who writes the method anew writes the attribute anew or has none.
//!
//! Invariants: every body always fails, so its executions say how many retries were declared.

use watertight::resilient;
use watertight_tests::AppError;

use crate::harness::{Entry, left_out, row};
use crate::support::{Runs, TEST};

const BLOCK: &str = "an `impl` block for the type";
const PROVIDED: &str = "a provided method of a trait for the base's";
const NO_INHERITANCE: &str = "a block's attribute is its own; no type inherits it";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("VS-01", BLOCK, a_block_declares_for_its_methods),
        left_out("VS-02", NO_INHERITANCE),
        left_out("VS-03", NO_INHERITANCE),
        left_out("VS-04", NO_INHERITANCE),
        row!("VS-05", BLOCK, a_methods_declaration_wins),
        left_out("VS-06", NO_INHERITANCE),
        row!("VS-07", "as it stands", a_method_declares_for_itself),
        row!("VS-08", PROVIDED, a_method_written_anew_has_no_retry),
        left_out("VS-09", NO_INHERITANCE),
        left_out("VS-10", NO_INHERITANCE),
        row!("VS-11", PROVIDED, a_method_written_anew_has_the_retry_it_declares),
        row!("VS-12", PROVIDED, a_provided_method_keeps_its_retry),
        row!("VS-13", BLOCK, a_method_differs_from_the_blocks_default),
        left_out("VS-14", NO_INHERITANCE),
        left_out("VS-15", NO_INHERITANCE),
        left_out("VS-16", NO_INHERITANCE),
        left_out("VS-17", NO_INHERITANCE),
    ]
}

struct Three;
struct Five;

#[resilient(retry(3, backoff = "1ms..1ms"), name = "vs-three")]
impl Three {
    async fn vs_01(&self, runs: &Runs) -> Result<(), AppError> {
        runs.next();
        Err(TEST)
    }

    #[resilient(retry(4, backoff = "1ms..1ms"))]
    async fn vs_13(&self, runs: &Runs) -> Result<(), AppError> {
        runs.next();
        Err(TEST)
    }
}

#[resilient(retry(5, backoff = "1ms..1ms"), name = "vs-five")]
impl Five {
    #[resilient(retry(4, backoff = "1ms..1ms"))]
    async fn vs_05(&self, runs: &Runs) -> Result<(), AppError> {
        runs.next();
        Err(TEST)
    }
}

impl Five {
    #[resilient(retry(3, backoff = "1ms..1ms"))]
    async fn vs_07(&self, runs: &Runs) -> Result<(), AppError> {
        runs.next();
        Err(TEST)
    }
}

trait Base {
    #[resilient(retry(3, backoff = "1ms..1ms"), name = "vs-base")]
    async fn get(&self, runs: &Runs) -> Result<(), AppError> {
        runs.next();
        Err(TEST)
    }
}

struct Plain;
struct Inherits;
struct Declares;

impl Base for Plain {
    async fn get(&self, runs: &Runs) -> Result<(), AppError> {
        runs.next();
        Err(TEST)
    }
}

impl Base for Inherits {}

impl Base for Declares {
    #[resilient(retry(4, backoff = "1ms..1ms"), name = "vs-declares")]
    async fn get(&self, runs: &Runs) -> Result<(), AppError> {
        runs.next();
        Err(TEST)
    }
}

/// How many retries a call made before it gave up.
async fn retries(call: impl AsyncFn(&Runs) -> Result<(), AppError>) -> u32 {
    let runs = Runs::default();
    assert_eq!(call(&runs).await.unwrap_err().broken(), Some("test"));
    runs.count() - 1
}

async fn a_block_declares_for_its_methods() {
    assert_eq!(retries(async |runs| Three.vs_01(runs).await).await, 3);
}

async fn a_methods_declaration_wins() {
    assert_eq!(retries(async |runs| Five.vs_05(runs).await).await, 4);
}

async fn a_method_declares_for_itself() {
    assert_eq!(retries(async |runs| Five.vs_07(runs).await).await, 3);
}

async fn a_method_written_anew_has_no_retry() {
    assert_eq!(retries(async |runs| Plain.get(runs).await).await, 0);
}

async fn a_method_written_anew_has_the_retry_it_declares() {
    assert_eq!(retries(async |runs| Declares.get(runs).await).await, 4);
}

async fn a_provided_method_keeps_its_retry() {
    assert_eq!(retries(async |runs| Inherits.get(runs).await).await, 3);
}

async fn a_method_differs_from_the_blocks_default() {
    assert_eq!(retries(async |runs| Three.vs_13(runs).await).await, 4);
}
