//! `guards` and `declare_pool`: slots held against the connections behind them.

// The check knows functions that nobody has called, and nobody calls these.
#![allow(dead_code)]

use watertight::check::{Finding, Problem};
use watertight::guard::Bulkhead;
use watertight::{Error, Guard, check, declare_pool, resilient};

/// What is found about a pool.
fn found(pool: &str) -> Vec<Finding> {
    check().findings.into_iter().filter(|finding| (finding.strategy, finding.name) == ("pool", pool)).collect()
}

fn only(pool: &str) -> Finding {
    let mut found = found(pool);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

#[resilient(bulkhead = "pools-orders:8/queue:16", guards = "pools-small")]
async fn pools_order() -> Result<(), Error> {
    Ok(())
}

#[resilient(bulkhead = "pools-orders", guards = "pools-small")]
async fn pools_order_again() -> Result<(), Error> {
    Ok(())
}

#[resilient(bulkhead = "pools-reports:auto/floor:1/ceiling:3", guards = "pools-small")]
async fn pools_report() -> Result<(), Error> {
    Ok(())
}

#[resilient(bulkhead = "pools-tail:8", guards = "pools-observed", timeout = "1s", idempotent, observe = "2%/runs:3")]
async fn pools_observed() -> Result<(), Error> {
    Ok(())
}

#[test]
fn attempts_that_run_on_hold_connections_as_well() {
    declare_pool("pools-observed", 10);
    let finding = only("pools-observed");
    let sum = "11 slots (8 of `pools-tail`, 3 that run on without one in `pools_observed`) lead to 10 connections";
    assert!(finding.remedy.starts_with(sum), "{finding}");
}

#[tokio::test]
async fn slots_above_the_connections_are_found_with_every_source_line() {
    Guard::named("pools-by-hand")
        .bulkhead(Bulkhead::new("pools-hand", 2).guards("pools-small"))
        .build()
        .expect("a guard");
    declare_pool("pools-small", 10);
    let finding = only("pools-small");
    assert_eq!(finding.problem, Problem::Oversized);
    let sites: Vec<_> = finding.sites.iter().map(|site| site.name).collect();
    assert_eq!(sites, ["pools-by-hand", "pools_order", "pools_order_again", "pools_report"]);
    assert!(finding.sites.iter().all(|site| site.file.ends_with("pools.rs") && site.line > 0), "{finding}");
    let sum = "13 slots (2 of `pools-hand`, 3 of `pools-reports`, 8 of `pools-orders`) lead to 10 connections";
    assert!(finding.remedy.starts_with(sum), "each bulkhead once: {finding}");
    assert!(check().deny().is_err(), "and a start-up that asks for it fails");
}

#[resilient(bulkhead = "pools-loose:8", guards = "pools-exact")]
async fn pools_loose() -> Result<(), Error> {
    Ok(())
}

#[resilient(bulkhead = "pools-loose:6/queue:4")]
async fn pools_strict() -> Result<(), Error> {
    Ok(())
}

#[resilient(bulkhead = "pools-rest:4", guards = "pools-exact")]
async fn pools_rest() -> Result<(), Error> {
    Ok(())
}

#[test]
fn as_many_slots_as_connections_are_no_finding_and_the_strictest_declaration_counts() {
    declare_pool("pools-exact", 10);
    assert_eq!(found("pools-exact"), [], "six and four");
}

#[resilient(bulkhead = "pools-lost:1", guards = "pools-lost")]
async fn pools_lost() -> Result<(), Error> {
    Ok(())
}

#[test]
fn a_pool_that_nobody_declared_is_found_until_it_is() {
    let finding = only("pools-lost");
    assert_eq!((finding.problem, finding.sites[0].name), (Problem::Undeclared, "pools_lost"));
    let said = finding.to_string();
    assert!(
        said.starts_with("pool `pools-lost` was not declared, and is guarded by behaviour::pools::pools_lost ("),
        "{said}"
    );
    assert!(said.contains("watertight::declare_pool(\"pools-lost\", SIZE)"), "{said}");
    declare_pool("pools-lost", 1);
    assert_eq!(found("pools-lost"), []);
}

#[resilient(bulkhead = "pools-twice:4", guards = "pools-twice")]
async fn pools_twice() -> Result<(), Error> {
    Ok(())
}

#[test]
fn two_sizes_of_one_pool_are_found_with_both_places_and_the_smaller_counts() {
    for _ in 0..2 {
        declare_pool("pools-twice", 4);
    }
    declare_pool("pools-twice", 4);
    assert_eq!(found("pools-twice"), [], "saying the same again changes nothing");
    declare_pool("pools-twice", 3);
    let [contradiction, sum] = &found("pools-twice")[..] else { panic!("two findings") };
    assert_eq!((contradiction.problem, sum.problem), (Problem::Conflict, Problem::Oversized));
    assert!(contradiction.sites.len() == 3 && contradiction.to_string().contains("pools.rs:"), "{contradiction}");
    assert!(sum.remedy.starts_with("4 slots (4 of `pools-twice`) lead to 3 connections"), "{sum}");
}

#[test]
fn a_pool_that_nobody_guards_is_no_finding() {
    declare_pool("pools-free", 0);
    assert_eq!(found("pools-free"), []);
}

#[resilient(bulkhead = "pools-tenants:4/total:6", key = tenant, guards = "pools-keyed")]
async fn pools_tenant(tenant: u32) -> Result<u32, Error> {
    Ok(tenant)
}

#[resilient(bulkhead = "pools-any:4", key = tenant, guards = "pools-any")]
async fn pools_any(tenant: u32) -> Result<u32, Error> {
    Ok(tenant)
}

#[test]
fn slots_for_each_key_count_with_their_total_and_without_one_have_no_bound() {
    declare_pool("pools-keyed", 6);
    assert_eq!(found("pools-keyed"), [], "a total of six");
    declare_pool("pools-any", 1_000);
    let remedy = only("pools-any").remedy;
    assert!(
        remedy.starts_with("any number of slots (any number of `pools-any`, which has slots for each key"),
        "{remedy}"
    );
}
