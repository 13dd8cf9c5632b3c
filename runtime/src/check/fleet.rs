//! Limits of all processes together, in a process that has joined no others.
//!
//! `"recs:64/fleet"` without a fleet works: the process takes an equal part of the limit where somebody has said how many
//! processes there are, and all of it where nobody has. The latter is the number times the processes, which is what the word
//! was written to prevent.
//!
//! Invariant: a process that has joined has no finding here, whatever has become of the others since.

use super::{Finding, Problem};
use crate::call::Identity;
use crate::declaration::Declaration;
use crate::replicas;

pub(super) fn judge_fleet(declarations: &[&'static Declaration]) -> Vec<Finding> {
    if replicas::has_joined() {
        return Vec::new();
    }
    let bulkheads = declarations.iter().filter_map(|it| {
        let name = it.bulkhead.filter(|to| to.fleet)?.name;
        Some(("bulkhead", name, it.identity))
    });
    let rates = declarations.iter().filter_map(|it| {
        let name = it.rate.filter(|to| to.fleet)?.name.unwrap_or(it.identity.name);
        Some(("rate", name, it.identity))
    });
    let mut all: Vec<Finding> = Vec::new();
    for (strategy, name, site) in bulkheads.chain(rates) {
        match all.iter_mut().find(|it| (it.strategy, it.name) == (strategy, name)) {
            Some(finding) => finding.sites.push(site),
            None => all.push(finding(strategy, name, site)),
        }
    }
    all
}

fn finding(strategy: &'static str, name: &'static str, site: Identity) -> Finding {
    let holds = match replicas::declared() {
        Some(replicas) => format!("it takes one of {replicas} equal parts of the limit"),
        None => "it takes all of the limit, and so does every other process".to_owned(),
    };
    let remedy = format!(
        "{holds}; call `watertight::fleet::join(client)` at start-up, before this check{}, or leave `/fleet` out",
        if replicas::declared().is_some() { "" } else { ", or `watertight::fleet::declare_replicas(N)`" }
    );
    Finding { problem: Problem::Alone, strategy, name, sites: vec![site], remedy }
}
