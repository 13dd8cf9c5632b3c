//! Breaker on its own: when it opens and when it closes.
//!
//! The peer's window is judged when it is full, and so is one of at most twenty results here, unless `min_calls` says
//! otherwise. Cooldowns are shortened at random by up to a tenth, so waits are either clearly shorter or at least as long.
//!
//! Invariants: executions are counted by the body; a wait is by the paused clock.

use tokio::time::sleep;
use watertight::metrics::BreakerState;
use watertight::resilient;
use watertight_tests::{AppError, breaker, ms};

use crate::harness::{Entry, left_out, row};
use crate::letters::{Service, letters};

const CODE: &str = "what is a failure is code, a predicate; settings hold figures";
const BLOCK: &str = "an `impl` block for the type";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("CB-01", "as it stands", three_quarters_of_a_full_window_open_it),
        row!("CB-02", "as it stands", two_probes_close_it),
        row!("CB-03", "as it stands", one_probe_closes_it_and_the_window_begins_anew),
        row!("CB-04", "as it stands", a_failed_probe_opens_it_again),
        row!("CB-05", BLOCK, a_block_gives_its_breaker_to_its_methods),
        row!("CB-06", BLOCK, a_methods_breaker_replaces_the_blocks_whole),
        row!("CB-07", BLOCK, a_methods_breaker_may_differ_in_its_cooldown),
        row!("CB-08", "as it stands", a_success_that_fills_the_window_may_open_it),
        row!("CB-09", "as it stands", the_window_is_the_last_so_many_results),
        row!("CB-10", "as it stands", a_first_success_leaves_the_window_in_time),
        row!("CB-11", "as it stands", a_last_success_is_judged_like_a_failure),
        row!("CB-12", "as it stands", outside::a_cooldown_for_all),
        row!("CB-13", "as it stands", outside::a_cooldown_for_the_function),
        left_out("CB-14", CODE),
        left_out("CB-15", CODE),
        row!("CB-16", "one literal in place of a number and its unit", outside::a_longer_cooldown),
        row!("CB-17", "as it stands", outside::a_larger_window),
        row!("CB-18", "as it stands", outside::a_smaller_share),
        row!("CB-19", "as it stands", outside::fewer_probes),
        left_out("CB-20", CODE),
    ]
}

macro_rules! sites {
    ($($function:ident [$($breaker:tt)*])*) => {
        $(#[resilient(breaker($($breaker)*))]
        async fn $function(service: &Service) -> Result<(), AppError> {
            service.serve()
        })*
    };
}

sites! {
    cb_01 [window = 4, failures = "75%", probes = 2, cooldown = "50s"]
    cb_02 [window = 4, failures = "75%", probes = 2, cooldown = "1ms"]
    cb_03 [window = 4, failures = "75%", probes = 1, cooldown = "1s"]
    cb_04 [window = 4, failures = "75%", probes = 3, cooldown = "1s"]
    cb_08 [window = 4, failures = "50%", probes = 2]
    cb_09 [window = 4, failures = "50%", probes = 2]
    cb_10 [window = 4, failures = "75%", probes = 1, cooldown = "1s"]
    cb_11 [window = 4, failures = "75%", probes = 1, cooldown = "1s"]
}

async fn three_quarters_of_a_full_window_open_it() {
    let service = Service::down();
    assert_eq!(letters(7, async || cb_01(&service).await).await, "TTTTOOO");
    assert_eq!((service.count(), breaker("cb_01").state), (4, BreakerState::Open));
}

async fn two_probes_close_it() {
    let service = Service::well_after(4);
    assert_eq!(letters(4, async || cb_02(&service).await).await, "TTTT");
    sleep(ms(500)).await;
    assert_eq!(letters(1, async || cb_02(&service).await).await, "k");
    assert_eq!(breaker("cb_02").state, BreakerState::HalfOpen, "one of two");
    assert_eq!(letters(1, async || cb_02(&service).await).await, "k");
    assert_eq!(breaker("cb_02").state, BreakerState::Closed);
    assert_eq!(letters(1, async || cb_02(&service).await).await, "k");
    assert_eq!(service.count(), 7);
}

async fn one_probe_closes_it_and_the_window_begins_anew() {
    let service = Service::well_at(&[5]);
    assert_eq!(letters(5, async || cb_03(&service).await).await, "TTTTO");
    sleep(ms(2_000)).await;
    assert_eq!(letters(6, async || cb_03(&service).await).await, "kTTTTO");
    assert_eq!((service.count(), breaker("cb_03").opened), (9, 2));
}

async fn a_failed_probe_opens_it_again() {
    let service = Service::well_at(&[5, 6]);
    assert_eq!(letters(5, async || cb_04(&service).await).await, "TTTTO");
    sleep(ms(2_000)).await;
    assert_eq!(letters(4, async || cb_04(&service).await).await, "kkTO");
    assert_eq!((service.count(), breaker("cb_04").closed), (7, 0), "two of three never closed it");
}

struct Blocks;

#[resilient(breaker(window = 4, failures = "75%", probes = 2, cooldown = "50s"), name = "cb")]
impl Blocks {
    async fn cb_05(&self, service: &Service) -> Result<(), AppError> {
        service.serve()
    }

    #[resilient(breaker(window = 2, failures = "100%", probes = 2, cooldown = "50s"))]
    async fn cb_06(&self, service: &Service) -> Result<(), AppError> {
        service.serve()
    }

    #[resilient(breaker(window = 4, failures = "75%", probes = 2, cooldown = "1ms"))]
    async fn cb_07(&self, service: &Service) -> Result<(), AppError> {
        service.serve()
    }
}

async fn a_block_gives_its_breaker_to_its_methods() {
    let service = Service::down();
    assert_eq!(letters(7, async || Blocks.cb_05(&service).await).await, "TTTTOOO");
    assert_eq!(service.count(), 4);
}

async fn a_methods_breaker_replaces_the_blocks_whole() {
    let service = Service::down();
    assert_eq!(letters(7, async || Blocks.cb_06(&service).await).await, "TTOOOOO");
    assert_eq!(service.count(), 2);
}

async fn a_methods_breaker_may_differ_in_its_cooldown() {
    let service = Service::well_after(4);
    assert_eq!(letters(4, async || Blocks.cb_07(&service).await).await, "TTTT");
    sleep(ms(500)).await;
    assert_eq!(letters(3, async || Blocks.cb_07(&service).await).await, "kkk");
    assert_eq!(service.count(), 7);
}

async fn a_success_that_fills_the_window_may_open_it() {
    let service = Service::well_at(&[1, 4]);
    assert_eq!(letters(3, async || cb_08(&service).await).await, "kTT");
    assert_eq!(breaker("cb_08").state, BreakerState::Closed, "three are no full window");
    assert_eq!(letters(2, async || cb_08(&service).await).await, "kO");
    assert_eq!(service.count(), 4);
    sleep(ms(4_400)).await;
    assert_eq!(letters(1, async || cb_08(&service).await).await, "O", "five seconds, shortened by a tenth at most");
    sleep(ms(600)).await;
    assert_eq!(letters(1, async || cb_08(&service).await).await, "T");
}

async fn the_window_is_the_last_so_many_results() {
    let service = Service::well_at(&[1, 3, 4]);
    assert_eq!(letters(6, async || cb_09(&service).await).await, "kTkkTO");
    assert_eq!(service.count(), 5);
}

async fn a_first_success_leaves_the_window_in_time() {
    let service = Service::well_at(&[1, 5, 6]);
    assert_eq!(letters(5, async || cb_10(&service).await).await, "kTTTO");
    sleep(ms(2_000)).await;
    assert_eq!(letters(6, async || cb_10(&service).await).await, "kkTTTO");
    assert_eq!(service.count(), 9);
}

async fn a_last_success_is_judged_like_a_failure() {
    let service = Service::well_at(&[4, 5, 9]);
    assert_eq!(letters(5, async || cb_11(&service).await).await, "TTTkO");
    sleep(ms(2_000)).await;
    assert_eq!(letters(6, async || cb_11(&service).await).await, "kTTTkO");
    assert_eq!(service.count(), 9);
}
