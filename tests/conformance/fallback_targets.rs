//! What may stand as a fallback, and from where it may be named.
//!
//! The peer looks a method up by its name, from the type that declares the guarded one upwards. Here the attribute holds an
//! expression, so the compiler finds it, by the rules of visibility and types that hold everywhere; the rows say that
//! the attribute neither narrows nor widens them. What the peer inherits is a trait here.
//!
//! Invariants: the guarded function takes a whole number and a `Long`, always fails, and its fallback is given both.

use std::collections::HashSet;
use std::fmt::Debug;

use watertight::resilient;
use watertight_tests::AppError;

use crate::harness::{Entry, left_out, row};
use crate::invalid::refused;
use crate::support::TEST;

const NO_INHERITANCE: &str = "types do not inherit methods";
const NO_WILDCARDS: &str = "there are no wildcards among types; a generic parameter is FM-16 and FM-17";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("FM-01", "as it stands", a_public_method_of_the_type),
        row!("FM-02", "as it stands", a_private_method_of_the_type),
        left_out("FM-03", "there are no variadic parameters"),
        left_out("FM-04", NO_INHERITANCE),
        refused(
            "FM-05",
            "does not compile; a private method of a type in another module",
            "fallback_method_that_is_private",
            "method `stale` is private",
        ),
        row!("FM-06", "a function that is visible to the module above", a_function_of_a_module_that_shows_it),
        refused("FM-07", "does not compile", "fallback_that_is_private", "function `stale` is private"),
        left_out("FM-08", NO_INHERITANCE),
        left_out("FM-09", NO_INHERITANCE),
        row!("FM-10", "a required method of the trait", a_required_method),
        row!("FM-11", "a method of a supertrait", a_method_of_a_supertrait),
        row!("FM-12", "a provided method of the trait", a_provided_method),
        row!("FM-13", "a generic type", a_method_of_a_generic_type),
        row!("FM-14", "a generic trait under another", a_method_of_a_generic_supertrait),
        row!("FM-15", "a required method of a generic trait", a_required_method_of_a_generic_trait),
        row!("FM-16", "a vector of vectors of the parameter", a_parameter_within_a_vector),
        row!("FM-17", "a vector of sets of the parameter", a_parameter_within_a_set),
        left_out("FM-18", NO_WILDCARDS),
        left_out("FM-19", NO_WILDCARDS),
        refused("FM-20", "does not compile", "fallback_call_with_wrong_argument", "expected `u64`, found `&u64`"),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Long(i64);

type Answer = Result<String, AppError>;

fn found(number: i32, long: impl Debug) -> String {
    format!("found {number} {long:?}")
}

#[track_caller]
fn was_found(answer: Answer) {
    assert_eq!(answer.unwrap(), "found 5 Long(7)");
}

/// Finds what its methods give back.
struct Plain(fn(i32, Long) -> String);

const PLAIN: Plain = Plain(found);

impl Plain {
    #[resilient(fallback = self.visible(number, long), name = "fm-01")]
    async fn fm_01(&self, number: i32, long: Long) -> Answer {
        let _ = (number, long);
        Err(TEST)
    }

    #[resilient(fallback = self.hidden(number, long), name = "fm-02")]
    pub(crate) async fn fm_02(&self, number: i32, long: Long) -> Answer {
        let _ = (number, long);
        Err(TEST)
    }

    pub(crate) fn visible(&self, number: i32, long: Long) -> String {
        (self.0)(number, long)
    }

    fn hidden(&self, number: i32, long: Long) -> String {
        (self.0)(number, long)
    }
}

async fn a_public_method_of_the_type() {
    was_found(PLAIN.fm_01(5, Long(7)).await);
}

async fn a_private_method_of_the_type() {
    was_found(PLAIN.fm_02(5, Long(7)).await);
}

mod neighbour {
    use super::{Long, found};

    pub(super) fn stale(number: i32, long: Long) -> String {
        found(number, long)
    }
}

#[resilient(fallback = neighbour::stale(number, long), name = "fm-06")]
async fn fm_06(number: i32, long: Long) -> Answer {
    let _ = (number, long);
    Err(TEST)
}

async fn a_function_of_a_module_that_shows_it() {
    was_found(fm_06(5, Long(7)).await);
}

trait Required {
    fn stale(&self, number: i32, long: Long) -> String;

    #[resilient(fallback = self.stale(number, long), name = "fm-10")]
    async fn get(&self, number: i32, long: Long) -> Answer {
        let _ = (number, long);
        Err(TEST)
    }
}

impl Required for Plain {
    fn stale(&self, number: i32, long: Long) -> String {
        found(number, long)
    }
}

async fn a_required_method() {
    was_found(Required::get(&PLAIN, 5, Long(7)).await);
}

trait Above {
    fn stale_above(&self, number: i32, long: Long) -> String;
}

trait Below: Above {
    #[resilient(fallback = self.stale_above(number, long), name = "fm-11")]
    async fn get(&self, number: i32, long: Long) -> Answer {
        let _ = (number, long);
        Err(TEST)
    }
}

impl Above for Plain {
    fn stale_above(&self, number: i32, long: Long) -> String {
        found(number, long)
    }
}

impl Below for Plain {}

async fn a_method_of_a_supertrait() {
    was_found(Below::get(&PLAIN, 5, Long(7)).await);
}

trait Provided {
    fn provided(&self, number: i32, long: Long) -> String {
        found(number, long)
    }
}

impl Provided for Plain {}

#[resilient(fallback = PLAIN.provided(number, long), name = "fm-12")]
async fn fm_12(number: i32, long: Long) -> Answer {
    let _ = (number, long);
    Err(TEST)
}

async fn a_provided_method() {
    was_found(fm_12(5, Long(7)).await);
}

/// A generic type, whose parameter is a `Long` in the guarded function.
struct Generic<T>(fn(i32, &T) -> String);

impl<T: Debug> Generic<T> {
    const NEW: Self = Self(|number, it| found(number, it));

    // By value, as the guarded function takes it.
    #[allow(clippy::needless_pass_by_value)]
    fn stale(&self, number: i32, it: T) -> String {
        (self.0)(number, &it)
    }

    fn stale_rows(&self, number: i32, rows: &[Vec<T>]) -> String {
        (self.0)(number, &rows[0][0])
    }

    fn stale_sets(&self, number: i32, sets: &[HashSet<T>]) -> String {
        (self.0)(number, sets[0].iter().next().unwrap())
    }
}

impl Generic<Long> {
    #[resilient(fallback = self.stale(number, long), name = "fm-13")]
    async fn fm_13(&self, number: i32, long: Long) -> Answer {
        let _ = (number, long);
        Err(TEST)
    }

    #[resilient(fallback = self.stale_rows(number, &rows), name = "fm-16")]
    async fn fm_16(&self, number: i32, rows: Vec<Vec<Long>>) -> Answer {
        let _ = (number, &rows);
        Err(TEST)
    }

    #[resilient(fallback = self.stale_sets(number, &sets), name = "fm-17")]
    async fn fm_17(&self, number: i32, sets: Vec<HashSet<Long>>) -> Answer {
        let _ = (number, &sets);
        Err(TEST)
    }
}

async fn a_method_of_a_generic_type() {
    was_found(Generic::NEW.fm_13(5, Long(7)).await);
}

async fn a_parameter_within_a_vector() {
    was_found(Generic::NEW.fm_16(5, vec![vec![Long(7)]]).await);
}

async fn a_parameter_within_a_set() {
    was_found(Generic::NEW.fm_17(5, vec![HashSet::from([Long(7)])]).await);
}

trait Deep<T> {
    fn stale_deep(&self, number: i32, it: T) -> String;
}

trait Middle<T>: Deep<T> {}

trait Shallow: Middle<Long> {
    #[resilient(fallback = self.stale_deep(number, long), name = "fm-14")]
    async fn get(&self, number: i32, long: Long) -> Answer {
        let _ = (number, long);
        Err(TEST)
    }
}

impl<T: Debug> Deep<T> for Plain {
    fn stale_deep(&self, number: i32, it: T) -> String {
        found(number, it)
    }
}

impl<T: Debug> Middle<T> for Plain {}

impl Shallow for Plain {}

async fn a_method_of_a_generic_supertrait() {
    was_found(Shallow::get(&PLAIN, 5, Long(7)).await);
}

trait RequiredOf<T> {
    fn stale(&self, number: i32, it: &T) -> String;

    #[resilient(fallback = self.stale(number, &it), name = "fm-15")]
    async fn get(&self, number: i32, it: T) -> Answer {
        let _ = (number, &it);
        Err(TEST)
    }
}

impl RequiredOf<Long> for Plain {
    fn stale(&self, number: i32, it: &Long) -> String {
        found(number, it)
    }
}

async fn a_required_method_of_a_generic_trait() {
    was_found(RequiredOf::get(&PLAIN, 5, Long(7)).await);
}
