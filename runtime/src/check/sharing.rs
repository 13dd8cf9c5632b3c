//! One compartment for everything is none.
//!
//! A ship with one bulkhead around the whole hull sinks like a ship without. Whoever copies an attribute from function to
//! function, name included, has a limit on the sum of all work and nothing that keeps one slow dependency from taking all
//! of it.
//!
//! Two functions that share are a decision; three or more, and not one with another name, are an oversight.
//!
//! Invariant: a single name that differs ends the finding; what has a compartment for each key is no single compartment.

use super::{Finding, Problem};
use crate::declaration::Declaration;

/// From how many functions on.
const MANY: usize = 3;

pub(super) fn judge_sharing(declarations: &[&'static Declaration]) -> Vec<Finding> {
    let slots = declarations.iter().filter(|it| !it.observe.bulkhead);
    let named: Vec<_> = slots.filter_map(|it| it.bulkhead.map(|bulkhead| (it.identity, bulkhead))).collect();
    let Some((_, first)) = named.first().filter(|_| named.len() >= MANY) else { return Vec::new() };
    if declarations.iter().any(|it| it.isolate.is_some())
        || named.iter().any(|(_, other)| other.name != first.name || other.keyed)
    {
        return Vec::new();
    }
    let remedy = "whatever hangs behind one of them takes the slots of all; give each dependency a name of its own";
    vec![Finding {
        problem: Problem::SharedByAll,
        strategy: "bulkhead",
        name: first.name,
        sites: named.iter().map(|(site, _)| *site).collect(),
        remedy: remedy.to_owned(),
    }]
}
