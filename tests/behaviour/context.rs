//! What a body can ask: which attempt it is, and which call.

use std::collections::HashSet;
use std::sync::Mutex;

use futures::future::join_all;
use watertight::{CallId, Error, attempt, call_id, resilient};
use watertight_tests::{AppError, yields};

type Seen = Mutex<Vec<(u32, Option<CallId>)>>;

fn look(seen: &Seen) {
    seen.lock().unwrap().push((attempt(), call_id()));
}

#[resilient(retry(2, budget = off))]
async fn context_over_attempts(seen: &Seen) -> Result<(), AppError> {
    look(seen);
    yields(2).await;
    look(seen);
    Err(AppError::Broken("down"))
}

#[tokio::test(start_paused = true)]
async fn the_attempt_counts_from_zero_and_the_call_id_stays() {
    let seen = Seen::default();
    context_over_attempts(&seen).await.unwrap_err();
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.iter().map(|(attempt, _)| *attempt).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 2]);
    let ids: HashSet<_> = seen.iter().map(|(_, id)| id.expect("inside a call")).collect();
    assert_eq!(ids.len(), 1);
    assert_eq!((attempt(), call_id()), (0, None), "outside there is neither");
}

#[resilient(timeout = "1s")]
async fn context_id() -> Result<CallId, Error> {
    yields(1).await;
    Ok(call_id().expect("inside a call"))
}

#[tokio::test(start_paused = true)]
async fn every_call_has_an_id_of_its_own_also_side_by_side() {
    let ids = join_all((0..100).map(|_| context_id())).await;
    let unique: HashSet<_> = ids.into_iter().map(Result::unwrap).collect();
    assert_eq!(unique.len(), 100);
    let shown = unique.iter().next().unwrap().to_string();
    assert!(shown.len() == 32 && shown.chars().all(|digit| digit.is_ascii_hexdigit()), "{shown}");
}

#[resilient(retry(1, budget = off))]
async fn context_outer(seen: &Seen) -> Result<(), AppError> {
    if attempt() == 0 {
        return Err(AppError::Broken("first"));
    }
    look(seen);
    context_inner(seen).await?;
    look(seen);
    Ok(())
}

#[resilient(retry(2, budget = off))]
async fn context_inner(seen: &Seen) -> Result<(), AppError> {
    yields(1).await;
    look(seen);
    if attempt() < 2 { Err(AppError::Broken("not yet")) } else { Ok(()) }
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_has_its_own_and_the_outer_one_finds_its_own_again() {
    let seen = Seen::default();
    context_outer(&seen).await.unwrap();
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.iter().map(|(attempt, _)| *attempt).collect::<Vec<_>>(), [1, 0, 1, 2, 1]);
    assert_eq!(seen[0].1, seen[4].1);
    assert_eq!(seen[1].1, seen[3].1);
    assert_ne!(seen[0].1, seen[1].1);
}

#[resilient(timeout = "1s")]
async fn context_in_tasks() -> Result<[Option<CallId>; 3], Error> {
    let plain = tokio::spawn(async { call_id() }).await.expect("no panic");
    let ours = watertight::spawn(async { call_id() }).await.expect("no panic");
    Ok([call_id(), plain, ours])
}

#[tokio::test(start_paused = true)]
async fn our_spawn_carries_them_and_a_plain_one_does_not() {
    let [here, plain, ours] = context_in_tasks().await.unwrap();
    assert!(here.is_some());
    assert_eq!((plain, ours), (None, here));
}

struct SeesItsEnd<'a>(&'a Seen);

impl Drop for SeesItsEnd<'_> {
    fn drop(&mut self) {
        look(self.0);
    }
}

#[resilient(timeout = "10ms")]
async fn context_at_the_end(seen: &Seen) -> Result<(), Error> {
    let _end = SeesItsEnd(seen);
    look(seen);
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_cut_off_is_dropped_inside_its_own_call() {
    let seen = Seen::default();
    context_at_the_end(&seen).await.unwrap_err();
    // And one that its caller drops.
    let mut dropped = Box::pin(context_at_the_end(&seen));
    assert!(futures::poll!(&mut dropped).is_pending());
    drop(dropped);
    let seen = seen.into_inner().unwrap();
    assert_eq!((seen.len(), seen[0], seen[2]), (4, seen[1], seen[3]));
    assert!(seen[0].1.is_some() && seen[0].1 != seen[2].1);
}
