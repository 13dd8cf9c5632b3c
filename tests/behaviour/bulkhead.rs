//! `bulkhead`: how many calls may run and wait.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

use futures::future::join_all;
use futures::poll;
use tokio::time::{advance, sleep};
use watertight::{Error, ErrorKind, Refusal, resilient};
use watertight_tests::{Gate, Stopwatch, assert_free, assert_idle, bulkhead, ms, occupancy, site};

#[resilient(bulkhead = "bulkhead_counts:3/queue:2")]
async fn bulkhead_counts(gate: &Gate) -> Result<(), Error> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn exactly_slots_and_queue_are_accepted() {
    let gate = Gate::shut();
    let mut calls: Vec<_> = (0..5).map(|_| Box::pin(bulkhead_counts(&gate))).collect();
    for call in &mut calls {
        assert!(poll!(call).is_pending());
    }
    assert_eq!(occupancy("bulkhead_counts"), (3, 2));
    let clock = Stopwatch::start();
    let error = bulkhead_counts(&gate).await.unwrap_err();
    clock.assert_reads(ms(0));
    assert_eq!(
        (error.kind(), error.strategy(), error.name()),
        (ErrorKind::BulkheadFull, "bulkhead", Some("bulkhead_counts"))
    );
    assert_eq!(
        error.to_string(),
        "bulkhead_counts: bulkhead `bulkhead_counts` is full (3 of 3 slots running, 2 of 2 queued)"
    );
    gate.open();
    assert!(join_all(calls).await.iter().all(Result::is_ok));
    let figures = bulkhead("bulkhead_counts");
    assert_eq!((figures.slots, figures.queue, figures.peak_running, figures.peak_queued), (3, 2, 3, 2));
    assert_eq!(site("bulkhead_counts").refused_for(Refusal::Full), 1);
    assert_idle("bulkhead_counts");
    assert_free!("bulkhead_counts", 3);
}

#[resilient(bulkhead = "bulkhead_fifo:1/queue:20/wait:10s")]
async fn bulkhead_fifo(number: u32, order: &Mutex<Vec<u32>>) -> Result<(), Error> {
    order.lock().unwrap().push(number);
    sleep(ms(10)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_line_is_first_in_first_out_and_nobody_barges() {
    let order = Mutex::default();
    let first = join_all((0..20).map(|number| bulkhead_fifo(number, &order)));
    let latecomer = async {
        // In the very tick in which slots change hands, over and over.
        sleep(ms(10)).await;
        bulkhead_fifo(20, &order).await
    };
    let (first, latecomer) = tokio::join!(first, latecomer);
    assert!(first.iter().all(Result::is_ok));
    latecomer.unwrap();
    assert_eq!(*order.lock().unwrap(), (0..=20).collect::<Vec<_>>());
    assert_free!("bulkhead_fifo", 1);
}

#[resilient(bulkhead = "bulkhead_no_queue:1")]
async fn bulkhead_no_queue(gate: &Gate) -> Result<(), Error> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn without_a_queue_nobody_waits() {
    let gate = Gate::shut();
    let mut holder = Box::pin(bulkhead_no_queue(&gate));
    assert!(poll!(&mut holder).is_pending());
    assert_eq!(bulkhead_no_queue(&gate).await.unwrap_err().kind(), ErrorKind::BulkheadFull);
    drop(holder);
    assert_free!("bulkhead_no_queue", 1);
}

/// One holder per bulkhead, and how long a second caller waits for it.
macro_rules! waits {
    ($($function:ident, $declared:tt, [$($keys:tt)*], $wait:literal);* $(;)?) => {
        $(#[resilient(bulkhead = $declared, $($keys)*)]
        async fn $function(gate: &Gate) -> Result<(), Error> {
            gate.opened().await;
            Ok(())
        })*

        #[tokio::test(start_paused = true)]
        async fn the_longest_wait_is_its_own_figure_else_the_timeout_else_a_second() {
            $({
                let gate = Gate::shut();
                let mut holder = Box::pin($function(&gate));
                assert!(poll!(&mut holder).is_pending());
                let clock = Stopwatch::start();
                let error = $function(&gate).await.unwrap_err();
                clock.assert_reads(ms($wait));
                assert_eq!(error.kind(), ErrorKind::BulkheadWait, "not the same as a full queue");
                let name = stringify!($function);
                let wait = ms($wait);
                let expected = format!("{name}: waited {wait:?} for one of the 1 slots of bulkhead `{name}`");
                assert_eq!(error.to_string(), expected);
                assert_eq!(site(name).refused_for(Refusal::Waited), 1);
            })*
        }
    };
}

waits! {
    bulkhead_wait_own, "bulkhead_wait_own:1/queue:1/wait:70ms", [timeout = "5s"], 70;
    bulkhead_wait_timeout, "bulkhead_wait_timeout:1/queue:1", [timeout = "2500ms"], 2500;
    bulkhead_wait_default, "bulkhead_wait_default:1/queue:1", [], 1000;
}

#[resilient(bulkhead = "bulkhead_shared:2")]
async fn bulkhead_shared(gate: &Gate) -> Result<(), Error> {
    gate.opened().await;
    Ok(())
}

struct Service<T>(PhantomData<T>);

impl<T> Service<T> {
    #[resilient(bulkhead = "bulkhead_shared")]
    async fn bulkhead_joined(&self, gate: &Gate) -> Result<(), Error> {
        gate.opened().await;
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn everyone_who_names_it_shares_its_slots() {
    let gate = Gate::shut();
    let (numbers, words) = (Service::<u32>(PhantomData), Service::<String>(PhantomData));
    let mut number = Box::pin(numbers.bulkhead_joined(&gate));
    let mut word = Box::pin(words.bulkhead_joined(&gate));
    assert!(poll!(&mut number).is_pending() && poll!(&mut word).is_pending());
    assert_eq!(bulkhead("bulkhead_shared").slots, 2, "declared elsewhere, and known before that ran");
    assert_eq!(bulkhead_shared(&gate).await.unwrap_err().kind(), ErrorKind::BulkheadFull);
    drop(number);
    let mut own = Box::pin(bulkhead_shared(&gate));
    assert!(poll!(&mut own).is_pending());
    gate.open();
    word.await.unwrap();
    own.await.unwrap();
    assert_free!("bulkhead_shared", 2);
}

#[resilient(bulkhead = "bulkhead_order:1")]
async fn bulkhead_order(seen: &Mutex<(u32, u32)>) -> Result<(), Error> {
    *seen.lock().unwrap() = occupancy("bulkhead_order");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_slot_is_taken_before_the_body_starts_and_free_before_the_caller_sees_the_answer() {
    let seen = Mutex::default();
    bulkhead_order(&seen).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), (1, 0));
    assert_eq!(occupancy("bulkhead_order"), (0, 0));
}

#[resilient(bulkhead = "bulkhead_expires:1/queue:2/wait:100ms")]
async fn bulkhead_expires(gate: &Gate) -> Result<(), Error> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_waiter_that_expired_leaves_its_place_at_once() {
    let gate = Gate::shut();
    let mut holder = Box::pin(bulkhead_expires(&gate));
    let (mut one, mut two) = (Box::pin(bulkhead_expires(&gate)), Box::pin(bulkhead_expires(&gate)));
    assert!(poll!(&mut holder).is_pending() && poll!(&mut one).is_pending());
    advance(ms(60)).await;
    assert!(poll!(&mut two).is_pending());
    assert!(bulkhead_expires(&gate).await.is_err(), "the queue is full");
    assert_eq!(one.await.unwrap_err().kind(), ErrorKind::BulkheadWait);
    assert_eq!(occupancy("bulkhead_expires"), (1, 1));
    let mut three = Box::pin(bulkhead_expires(&gate));
    assert!(poll!(&mut three).is_pending(), "there is room again");
    gate.open();
    holder.await.unwrap();
    two.await.unwrap();
    three.await.unwrap();
    assert_idle("bulkhead_expires");
    assert_free!("bulkhead_expires", 1);
}

#[resilient(bulkhead = "bulkhead_moved:1/queue:1/wait:10s")]
async fn bulkhead_moved(gate: Arc<Gate>) -> Result<(), Error> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_waiter_that_changes_its_task_is_woken_in_the_new_one() {
    let gate = Arc::new(Gate::shut());
    let mut holder = Box::pin(bulkhead_moved(Arc::clone(&gate)));
    let mut waiter = Box::pin(bulkhead_moved(Arc::clone(&gate)));
    assert!(poll!(&mut holder).is_pending() && poll!(&mut waiter).is_pending());
    let waiter = tokio::spawn(waiter);
    tokio::task::yield_now().await;
    gate.open();
    holder.await.unwrap();
    // Long before its own timer would wake it.
    let woken = tokio::time::timeout(ms(10), waiter).await;
    woken.expect("woken by the slot").unwrap().unwrap();
    assert_free!("bulkhead_moved", 1);
}

#[resilient(bulkhead = "bulkhead_lent_away:1")]
async fn bulkhead_lends(gate: Arc<Gate>, stays: bool) -> Result<tokio::task::JoinHandle<Result<(), Error>>, Error> {
    let mut inner = Box::pin(bulkhead_borrows(Arc::clone(&gate)));
    assert!(poll!(&mut inner).is_pending(), "in the slot of the call around it");
    let inner = tokio::spawn(inner);
    if stays {
        gate.opened().await;
        sleep(ms(10)).await;
    }
    Ok(inner)
}

#[resilient(bulkhead = "bulkhead_lent_away")]
async fn bulkhead_borrows(gate: Arc<Gate>) -> Result<(), Error> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_borrower_that_is_moved_away_and_outlives_its_lender_keeps_the_slot_until_it_ends() {
    let gate = Arc::new(Gate::shut());
    let inner = bulkhead_lends(Arc::clone(&gate), false).await.unwrap();
    tokio::task::yield_now().await;
    assert_eq!(occupancy("bulkhead_lent_away"), (1, 0), "the lender is gone, the borrower runs");
    assert_eq!(
        bulkhead_borrows(Arc::clone(&gate)).await.unwrap_err().kind(),
        ErrorKind::BulkheadFull,
        "nobody else may run beside it"
    );
    gate.open();
    inner.await.unwrap().unwrap();
    assert_eq!(occupancy("bulkhead_lent_away"), (0, 0));
    // And the other way round: the borrower ends first, elsewhere.
    let gate = Arc::new(Gate::shut());
    let mut outer = Box::pin(bulkhead_lends(Arc::clone(&gate), true));
    assert!(poll!(&mut outer).is_pending());
    tokio::task::yield_now().await;
    gate.open();
    tokio::task::yield_now().await;
    assert_eq!(occupancy("bulkhead_lent_away"), (1, 0), "the lender still runs");
    outer.await.unwrap().await.unwrap().unwrap();
    assert_free!("bulkhead_lent_away", 1);
}

#[resilient(bulkhead = "bulkhead_undeclared")]
async fn bulkhead_undeclared(gate: &Gate) -> Result<(), Error> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_name_that_nobody_declares_gets_a_small_compartment_and_is_reported() {
    let gate = Gate::shut();
    let mut calls: Vec<_> = (0..10).map(|_| Box::pin(bulkhead_undeclared(&gate))).collect();
    for call in &mut calls {
        assert!(poll!(call).is_pending());
    }
    assert!(bulkhead_undeclared(&gate).await.is_err());
    let report = watertight::check();
    let finding = report.findings.iter().find(|finding| finding.name == "bulkhead_undeclared").expect("reported");
    assert_eq!(finding.problem, watertight::check::Problem::Undeclared);
    assert_eq!(finding.sites[0].name, "bulkhead_undeclared");
}
