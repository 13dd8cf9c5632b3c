//! Switching strategies off and on from outside the code.
//!
//! The peer's six policies are four here: there is no other way to run an async function than to await it, and a fallback that
//! answers for everything stays, since its function may have nothing else to answer with. So the fallback's column is shown by one
//! that is narrowed in its attribute. A type is a module.
//!
//! Invariants: each row tries every policy in its column, in a world of its own.

use tokio::time::sleep;
use watertight::settings::Override;
use watertight::testing::World;
use watertight::{ErrorKind, resilient};
use watertight_tests::{AppError, ms};

use crate::harness::{Entry, row};
use crate::support::{Runs, TEST, set, settle};

const MODULE: &str = "a module for the type; a fallback that is narrowed; nothing to switch for async";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("DS-01", MODULE, off_for_all),
        row!("DS-02", MODULE, off_for_the_module),
        row!("DS-03", MODULE, off_for_each_function),
        row!("DS-04", MODULE, off_for_all_and_on_for_the_module),
        row!("DS-05", MODULE, off_for_all_and_on_for_each_function),
        row!("DS-06", MODULE, off_for_the_module_and_on_for_each_function),
        row!("DS-07", MODULE, off_on_off_from_wide_to_narrow),
        row!("DS-08", MODULE, the_kill_switch_and_on_for_all),
        row!("DS-09", MODULE, the_kill_switch_and_on_for_the_module),
        row!("DS-10", MODULE, the_kill_switch_and_on_for_each_function),
        row!("DN-01", "as it stands", killed_nothing_is_tried_again),
        row!("DN-02", "as it stands", killed_the_fallback_still_answers),
        row!("DN-03", "as it stands", killed_no_breaker_opens),
        row!("DN-04", "as it stands", killed_nothing_is_cut_off),
    ]
}

#[resilient(retry(1, backoff = "1ms..1ms", on = any, budget = off), idempotent)]
async fn ds_retry(runs: &Runs) -> Result<u32, AppError> {
    runs.next();
    Err(TEST)
}

#[resilient(
    retry(1, backoff = "1ms..1ms", on = any, budget = off),
    idempotent,
    fallback(|| Ok(7), on = [error])
)]
async fn ds_fallback(runs: &Runs) -> Result<u32, AppError> {
    runs.next();
    Err(TEST)
}

#[resilient(breaker(window = 1, failures = "100%", cooldown = "50s", on = any))]
async fn ds_breaker() -> Result<u32, AppError> {
    Err(TEST)
}

#[resilient(timeout = "500ms")]
async fn ds_timeout() -> Result<u32, AppError> {
    sleep(ms(2_000)).await;
    Err(TEST)
}

#[resilient(bulkhead = "ds:2")]
async fn ds_bulkhead() -> Result<u32, AppError> {
    sleep(ms(50)).await;
    Ok(0)
}

/// What a world's settings come to: whether retry, breaker, timeout and bulkhead act, and what the function with the fallback gives
/// after how many executions.
async fn observed() -> ([bool; 4], (Option<u32>, u32)) {
    let runs = Runs::default();
    ds_retry(&runs).await.unwrap_err();
    let retries = runs.count() == 2;
    let runs = Runs::default();
    let answered = ds_fallback(&runs).await.ok();
    ds_breaker().await.unwrap_err();
    let opens = ds_breaker().await.unwrap_err().kind() == Some(ErrorKind::BreakerOpen);
    let cuts = ds_timeout().await.unwrap_err().kind() == Some(ErrorKind::TimedOut);
    let holders = [tokio::spawn(ds_bulkhead()), tokio::spawn(ds_bulkhead())];
    settle().await;
    let third = ds_bulkhead().await;
    for holder in holders {
        holder.await.expect("no panic").expect("it ran");
    }
    let bounds = third.is_err_and(|error| error.kind() == Some(ErrorKind::BulkheadFull));
    ([retries, opens, cuts, bounds], (answered, runs.count()))
}

const ON: [bool; 4] = [true; 4];
const OFF: [bool; 4] = [false; 4];
const ALL: &str = "[defaults]";
const TYPE: &str = "[module.\"conformance::enable\"]";
/// The fallback's function apart, of which only the fallback is meant.
const EACH: [(&str, &[&str]); 5] = [
    ("ds_retry", &["retry"]),
    ("ds_fallback", &["fallback"]),
    ("ds_breaker", &["breaker"]),
    ("ds_timeout", &["timeout"]),
    ("ds_bulkhead", &["bulkhead"]),
];

/// Every policy on or off in a wide scope.
fn wide(head: &str, on: bool) -> String {
    let line = |strategy: &str| format!("{strategy}.enabled = {on}\n");
    format!("{head}\n{}", ["retry", "fallback", "breaker", "timeout", "bulkhead"].map(line).concat())
}

fn each(on: bool) -> String {
    let lines = |(site, strategies): (&str, &[&str])| {
        let line = |strategy: &&str| format!("[site.{site}.{strategy}]\nenabled = {on}\n");
        strategies.iter().map(line).collect::<Vec<_>>().concat()
    };
    EACH.map(lines).concat()
}

async fn expect(id: &str, text: &str, acts: [bool; 4], fallback: (Option<u32>, u32)) {
    let _world = World::open();
    set(id, text, &[]);
    assert_eq!(observed().await, (acts, fallback), "{text}");
}

async fn off_for_all() {
    expect("DS-01", &wide(ALL, false), OFF, (None, 1)).await;
}

async fn off_for_the_module() {
    expect("DS-02", &wide(TYPE, false), OFF, (None, 1)).await;
}

async fn off_for_each_function() {
    expect("DS-03", &each(false), OFF, (None, 2)).await;
}

async fn off_for_all_and_on_for_the_module() {
    expect("DS-04", &(wide(ALL, false) + &wide(TYPE, true)), ON, (Some(7), 2)).await;
}

async fn off_for_all_and_on_for_each_function() {
    expect("DS-05", &(wide(ALL, false) + &each(true)), ON, (Some(7), 1)).await;
}

async fn off_for_the_module_and_on_for_each_function() {
    expect("DS-06", &(wide(TYPE, false) + &each(true)), ON, (Some(7), 1)).await;
}

async fn off_on_off_from_wide_to_narrow() {
    expect("DS-07", &(wide(ALL, false) + &wide(TYPE, true) + &each(false)), OFF, (None, 2)).await;
}

const KILLED: &str = "kill_switch = true\n";

async fn the_kill_switch_and_on_for_all() {
    expect("DS-08", &(KILLED.to_owned() + &wide(ALL, true)), ON, (Some(7), 2)).await;
}

async fn the_kill_switch_and_on_for_the_module() {
    expect("DS-09", &(KILLED.to_owned() + &wide(TYPE, true)), ON, (Some(7), 2)).await;
}

async fn the_kill_switch_and_on_for_each_function() {
    expect("DS-10", &(KILLED.to_owned() + &each(true)), ON, (Some(7), 1)).await;
}

#[resilient(retry(1, backoff = "1ms..1ms", on = any, budget = off), idempotent)]
async fn dn_01(runs: &Runs) -> Result<u32, AppError> {
    runs.next();
    sleep(ms(100)).await;
    Err(TEST)
}

async fn killed_nothing_is_tried_again() {
    let _world = World::open();
    set("DN-01", KILLED, &[]);
    let runs = Runs::default();
    assert_eq!(dn_01(&runs).await.unwrap_err().broken(), Some("test"));
    assert_eq!(runs.count(), 1);
}

#[resilient(retry(1, backoff = "1ms..1ms", on = any, budget = off), idempotent, fallback = |_| Ok(7))]
async fn dn_02(runs: &Runs) -> Result<u32, AppError> {
    runs.next();
    Err(TEST)
}

async fn killed_the_fallback_still_answers() {
    let _world = World::open();
    set("DN-02", "", &[("WATERTIGHT_KILL_SWITCH", "1")]);
    let runs = Runs::default();
    assert_eq!((dn_02(&runs).await.ok(), runs.count()), (Some(7), 1));
}

#[resilient(breaker(window = 4, failures = "75%", min_calls = 4, cooldown = "50s", on = any))]
async fn dn_03(runs: &Runs) -> Result<u32, AppError> {
    runs.next();
    Err(TEST)
}

async fn killed_no_breaker_opens() {
    let _world = World::open();
    Override::of("kill_switch", "true").apply().expect("it is one");
    let runs = Runs::default();
    for _ in 0..7 {
        assert_eq!(dn_03(&runs).await.unwrap_err().broken(), Some("test"));
    }
    assert_eq!(runs.count(), 7);
}

#[resilient(timeout = "1s")]
async fn dn_04() -> Result<u32, AppError> {
    sleep(ms(3_000)).await;
    Err(TEST)
}

async fn killed_nothing_is_cut_off() {
    let _world = World::open();
    set("DN-04", KILLED, &[]);
    assert_eq!(dn_04().await.unwrap_err().broken(), Some("test"));
}
