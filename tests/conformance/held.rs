//! Calls that stay in a bulkhead until they are released, and what the peer does with them in so many rows.
//!
//! Each is on a task of its own, so that a slot that comes free reaches whoever waits for it without being asked.
//!
//! Invariants: whether a call runs is what its body says; every call that was accepted is awaited.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use watertight::ErrorKind;
use watertight_tests::{AppError, Gate, PATIENCE, Stopwatch, ms};

use crate::support::{Runs, TEST, settle};

/// What the body of a [`Held`] call waits for, and what it says then.
#[derive(Debug, Default)]
pub(crate) struct Post {
    gate: Gate,
    entered: Runs,
    fails: bool,
}

impl Post {
    /// The body of such a call.
    pub(crate) async fn stay(&self) -> Result<(), AppError> {
        self.entered.next();
        self.gate.opened().await;
        if self.fails { Err(TEST) } else { Ok(()) }
    }

    /// How often the body was run.
    pub(crate) fn entered(&self) -> u32 {
        self.entered.count()
    }

    /// Lets the body go on, and all others as far as they come.
    pub(crate) async fn open(&self) {
        self.gate.open();
        settle().await;
    }
}

/// How such a call is made.
pub(crate) type Start = fn(Arc<Post>) -> BoxFuture<'static, Result<(), AppError>>;

/// A call on a task of its own, whose body stays until it is released.
#[derive(Debug)]
pub(crate) struct Held {
    post: Arc<Post>,
    task: JoinHandle<Result<(), AppError>>,
}

impl Held {
    /// Begins a call and lets it come as far as it does.
    pub(crate) async fn begin(start: Start) -> Self {
        Self::post(start, Post::default()).await
    }

    /// The same, for a body that fails each time it is released.
    pub(crate) async fn begin_failing(start: Start) -> Self {
        Self::post(start, Post { fails: true, ..Post::default() }).await
    }

    async fn post(start: Start, post: Post) -> Self {
        let post = Arc::new(post);
        let held = Self { task: tokio::spawn(start(Arc::clone(&post))), post };
        settle().await;
        held
    }

    /// How often its body was run.
    pub(crate) fn entered(&self) -> u32 {
        self.post.entered()
    }

    /// Whether its body was run at all.
    pub(crate) fn is_inside(&self) -> bool {
        self.entered() > 0
    }

    /// Whether it has answered.
    pub(crate) fn is_done(&self) -> bool {
        self.task.is_finished()
    }

    /// Lets its body go on, and all others as far as they come.
    pub(crate) async fn open(&self) {
        self.post.open().await;
    }

    /// Awaits its answer.
    pub(crate) async fn answer(self) -> Result<(), AppError> {
        let answer = tokio::time::timeout(PATIENCE, self.task).await;
        answer.expect("it ends").expect("no panic")
    }

    /// Lets its body go on and awaits its answer.
    pub(crate) async fn release(self) -> Result<(), AppError> {
        self.open().await;
        self.answer().await
    }

    /// Drops the call, as a caller does that goes away; what it left is at its post.
    pub(crate) async fn cancel(self) -> Arc<Post> {
        self.task.abort();
        assert!(self.task.await.is_err_and(|error| error.is_cancelled()));
        settle().await;
        self.post
    }
}

/// A call that is refused by a full bulkhead.
pub(crate) async fn assert_full(start: Start) {
    let (clock, post) = (Stopwatch::start(), Arc::new(Post::default()));
    let error = start(Arc::clone(&post)).await.unwrap_err();
    assert_eq!((error.kind(), post.entered()), (Some(ErrorKind::BulkheadFull), 0));
    assert!(clock.read() < ms(50), "at once: {:?}", clock.read());
}

/// Begins `slots` calls, all of which run.
async fn fill(start: Start, slots: usize) -> Vec<Held> {
    let mut inside = Vec::new();
    for _ in 0..slots {
        let call = Held::begin(start).await;
        assert!(call.is_inside());
        inside.push(call);
    }
    inside
}

async fn release_all(calls: Vec<Held>) {
    for call in calls {
        call.release().await.expect("it was accepted");
    }
}

/// Exactly `slots` run and nobody waits; a slot that is given back is good for one.
pub(crate) async fn assert_slots(start: Start, slots: usize) {
    let mut inside = fill(start, slots).await;
    assert_full(start).await;
    inside.remove(7 % slots).release().await.unwrap();
    let next = Held::begin(start).await;
    assert!(next.is_inside());
    inside.push(next);
    assert_full(start).await;
    release_all(inside).await;
}

/// Exactly `slots` run and `queue` wait; a slot that is given back lets one of those start who wait, and one more wait.
pub(crate) async fn assert_slots_and_queue(start: Start, slots: usize, queue: usize) {
    let mut inside = fill(start, slots).await;
    let mut waiting = Vec::new();
    for _ in 0..queue {
        waiting.push(Held::begin(start).await);
    }
    sleep(ms(500)).await;
    assert!(!waiting.iter().any(Held::is_inside), "all slots are taken");
    assert_full(start).await;
    inside.pop().expect("there are slots").release().await.unwrap();
    let started: Vec<_> = waiting.iter().map(Held::is_inside).collect();
    assert!(started[0] && !started[1..].contains(&true), "the first and nobody else: {started:?}");
    let late = Held::begin(start).await;
    sleep(ms(500)).await;
    assert!(!late.is_inside());
    assert_full(start).await;
    release_all(inside).await;
    release_all(waiting).await;
    late.release().await.unwrap();
}

/// One call more than run and wait is refused and tried again until there is room.
pub(crate) async fn assert_retried_until_there_is_room(start: Start, slots: usize, queue: usize) {
    let inside = fill(start, slots).await;
    let mut waiting = Vec::new();
    for _ in 0..queue {
        waiting.push(Held::begin(start).await);
    }
    let extra = Held::begin(start).await;
    sleep(ms(500)).await;
    assert!(!extra.is_inside() && !waiting.iter().any(Held::is_inside));
    release_all(inside).await;
    release_all(waiting).await;
    extra.open().await;
    assert!(!extra.is_inside(), "it pauses still");
    extra.answer().await.unwrap();
}
