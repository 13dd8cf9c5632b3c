//! Slots against connections: the one sum that nobody sees, since its parts stand in several files.
//!
//! A bulkhead counts once, however many functions name it, with its strictest figures, which are those that hold; one whose
//! slots are measured counts with its ceiling, one that has slots for each key with its total, and without a total nothing
//! bounds the sum. It guards a pool as soon as one function that names it says so.
//!
//! An attempt that runs on at its limit (`observe`) has given its slot back and may still hold a connection, so those that may run on count as
//! well.
//!
//! Invariant: a pool that nobody guards is no finding.

use std::collections::BTreeMap;

use super::{Finding, Problem};
use crate::call::Identity;
use crate::declaration::Declaration;
use crate::pools::{Said, declared};
use crate::strategies::bulkhead::Limits;

/// Who says that a pool is behind which bulkhead.
type Guards = Vec<(Identity, &'static str)>;

pub(super) fn judge_pools(declarations: &[&Declaration]) -> Vec<Finding> {
    let mut guarded = BTreeMap::<&'static str, Guards>::new();
    for declaration in declarations {
        if let Some(bulkhead) = declaration.bulkhead
            && let Some(pool) = bulkhead.guards
        {
            guarded.entry(pool).or_default().push((declaration.identity, bulkhead.name));
        }
    }
    let pools = declared();
    let contradicted = pools.iter().filter_map(|(name, said)| contradiction(name, said));
    let judged = guarded.iter().filter_map(|(name, guards)| match pools.get(name) {
        None => Some(undeclared(name, guards)),
        Some(said) => too_many(name, said, guards, declarations),
    });
    contradicted.chain(judged).collect()
}

fn sites(guards: &Guards) -> Vec<Identity> {
    guards.iter().map(|(site, _)| *site).collect()
}

/// The size that is held against: the smallest that was said.
fn size(said: &Said) -> u32 {
    said.iter().map(|(size, _)| *size).min().unwrap_or(0)
}

fn contradiction(name: &'static str, said: &Said) -> Option<Finding> {
    let smallest = size(said);
    if said.iter().all(|(size, _)| *size == smallest) {
        return None;
    }
    let all: Vec<_> = said.iter().map(|(size, _)| size.to_string()).collect();
    let remedy = format!("of its sizes {} the smallest is taken; declare it once, where it is made", all.join(" and "));
    let sites = said.iter().map(|(_, at)| *at).collect();
    Some(Finding { problem: Problem::Conflict, strategy: "pool", name, sites, remedy })
}

fn undeclared(name: &'static str, guards: &Guards) -> Finding {
    let remedy = format!("call `watertight::declare_pool(\"{name}\", SIZE)` where the pool is made, before this check");
    Finding { problem: Problem::Undeclared, strategy: "pool", name, sites: sites(guards), remedy }
}

fn too_many(name: &'static str, said: &Said, guards: &Guards, declarations: &[&Declaration]) -> Option<Finding> {
    let mut bulkheads: Vec<_> = guards.iter().map(|(_, bulkhead)| (slots(bulkhead, declarations), *bulkhead)).collect();
    bulkheads.sort_unstable();
    bulkheads.dedup();
    let size = size(said);
    let behind =
        |it: &&&Declaration| it.bulkhead.is_some_and(|own| bulkheads.iter().any(|(_, name)| *name == own.name));
    let on = declarations.iter().filter(behind);
    let on: Vec<_> = on.filter_map(|it| Some((it.tail?.most(), it.identity.name))).collect();
    let on_all: u64 = on.iter().map(|(runs, _)| u64::from(*runs)).sum();
    let sum = bulkheads.iter().try_fold(on_all, |sum, (slots, _)| Some(sum + u64::from((*slots)?)));
    if sum.is_some_and(|sum| sum <= u64::from(size)) {
        return None;
    }
    let part = |(slots, bulkhead): &(Option<u32>, _)| match slots {
        Some(slots) => format!("{slots} of `{bulkhead}`"),
        None => format!("any number of `{bulkhead}`, which has slots for each key and no `/total`"),
    };
    let parts = bulkheads.iter().map(part);
    let parts: Vec<_> =
        parts.chain(on.iter().map(|(runs, name)| format!("{runs} that run on without one in `{name}`"))).collect();
    let sum = sum.map_or_else(|| "any number of".to_owned(), |sum| sum.to_string());
    let remedy = format!(
        "{sum} slots ({}) lead to {size} connections, and those who find none wait in the pool's own queue, all kinds \
         of work in one; give them {size} slots together, or the pool more connections",
        parts.join(", ")
    );
    Some(Finding { problem: Problem::Oversized, strategy: "pool", name, sites: sites(guards), remedy })
}

/// How many a bulkhead lets through at once; `None` where each key has slots of its own and nothing bounds the keys.
fn slots(bulkhead: &str, declarations: &[&Declaration]) -> Option<u32> {
    let named = || declarations.iter().filter_map(|it| it.bulkhead).filter(|it| it.name == bulkhead);
    if named().any(|it| it.keyed) {
        return named().filter_map(|it| it.total).min();
    }
    Some(named().filter_map(|it| it.limits).reduce(Limits::stricter).unwrap_or(Limits::UNDECLARED).slots)
}
