//! One body on its way to a thread, and the ticket its caller waits with.
//!
//! The body is polled on one thread only and dropped there, inside its own scope, whether it ended, panicked, was told to
//! stop at an await, or came back from code that nobody could stop. Then its seat is given back, and only then does the
//! caller get the answer: whoever sees it finds the slot free. The answer itself travels through tokio's oneshot channel,
//! which has no race of ours in it.
//!
//! Invariants: no panic of a body, of its Drop, or of an answer nobody wants leaves [`Job::poll`] with the seat still
//! taken; a job whose caller has gone is polled no more.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker, ready};

use pin_project_lite::pin_project;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::books::Books;
use super::decide::{Left, Progress};
use super::still::Still;
use crate::base::clock::Moment;
use crate::base::park::Parker;
use crate::base::sync::{AtomicI64, Ordering};
use crate::call::context::{Ambient, Holding};

/// The right to a thread, kept by the body that runs there and given back by being dropped.
pub(crate) trait Seat: Send + 'static {
    /// The slot it stands for, so that a nested call can borrow it.
    fn holding(&mut self) -> &mut Holding;
}

/// What a body left: its answer, or what it panicked with.
type Outcome<R> = Result<R, Box<dyn Any + Send>>;

/// What caller and thread share about one job.
pub(super) struct Shared {
    pub(super) progress: Progress,
    parker: Parker,
    still: Still,
    /// When the caller went, for a job that it abandoned.
    left_at: AtomicI64,
}

impl Shared {
    fn new(runtime: Option<&Handle>) -> Arc<Self> {
        Arc::new(Self {
            progress: Progress::new(),
            parker: Parker::default(),
            still: Still::holding(runtime),
            left_at: AtomicI64::new(0),
        })
    }

    fn ring(&self) {
        self.parker.ring(|| self.still.hold());
    }
}

/// Wakes the thread, not the caller.
impl Wake for Shared {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

/// A body with its thread still to come, its type forgotten.
pub(super) struct Task {
    job: Pin<Box<dyn Future<Output = ()> + Send>>,
    shared: Arc<Shared>,
    /// Where the body's timers and sockets live.
    runtime: Option<Handle>,
}

impl Task {
    /// Runs it on this thread to its end.
    pub(super) fn run(mut self) {
        // Entered, not blocked on: in `Handle::block_on` tokio refuses every further blocking call, and blocking is what
        // these threads are for.
        let _inside = self.runtime.as_ref().map(Handle::enter);
        let waker = Waker::from(Arc::clone(&self.shared));
        let mut cx = Context::from_waker(&waker);
        loop {
            match catch_unwind(AssertUnwindSafe(|| self.job.as_mut().poll(&mut cx))) {
                Ok(Poll::Pending) => self.shared.parker.sleep(None, || self.shared.still.release()),
                Ok(Poll::Ready(())) => break,
                // The Drop of something nobody wanted. The thread has other work to do, and dropping what it says could
                // panic once more.
                Err(panic) => {
                    std::mem::forget(panic);
                    break;
                }
            };
        }
        self.shared.still.end();
    }
}

/// Makes a body into a task for a thread and a ticket for its caller.
pub(super) fn split<F, S>(books: &'static Books, context: Ambient, seat: S, body: F) -> (Task, Ticket<F::Output>)
where
    F: Future<Output: Send> + Send + 'static,
    S: Seat,
{
    let runtime = Handle::try_current().ok();
    let shared = Shared::new(runtime.as_ref());
    let (answer, receiver) = oneshot::channel();
    let job =
        Job { body: Some(body), seat: Some(seat), answer: Some(answer), context, shared: Arc::clone(&shared), books };
    let task = Task { job: Box::pin(job), shared: Arc::clone(&shared), runtime };
    (task, Ticket { receiver: Some(receiver), shared, books })
}

pin_project! {
    struct Job<F: Future, S> {
        #[pin]
        body: Option<F>,
        seat: Option<S>,
        answer: Option<oneshot::Sender<Outcome<F::Output>>>,
        context: Ambient,
        shared: Arc<Shared>,
        books: &'static Books,
    }
}

/// Does something to a body in its own scope, in which a nested call can borrow the seat.
pub(super) fn inside<S: Seat, T>(context: Ambient, seat: &mut S, act: impl FnOnce() -> T) -> T {
    let scope = Leaving { scope: context.enter_holding(Some(*seat.holding())), seat };
    let done = act();
    drop(scope);
    done
}

/// However the act ends, the seat learns whether it is out on loan.
struct Leaving<'a, S: Seat> {
    scope: crate::call::context::Scope,
    seat: &'a mut S,
}

impl<S: Seat> Drop for Leaving<'_, S> {
    fn drop(&mut self) {
        self.scope.note_loan(self.seat.holding());
    }
}

impl<F: Future, S: Seat> Future for Job<F, S> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        let Some(seat) = this.seat.as_mut() else { return Poll::Ready(()) };
        let may_run = this.shared.progress.begin();
        let mut outcome = None;
        if may_run {
            let body = this.body.as_mut().as_pin_mut();
            let poll = || inside(*this.context, seat, || body.map_or(Poll::Pending, |body| body.poll(cx)));
            match catch_unwind(AssertUnwindSafe(poll)) {
                Ok(Poll::Pending) if this.shared.progress.pause() => return Poll::Pending,
                Ok(Poll::Pending) => {}
                Ok(Poll::Ready(answer)) => outcome = Some(Ok(answer)),
                Err(panic) => outcome = Some(Err(panic)),
            }
        }
        let dropped = catch_unwind(AssertUnwindSafe(|| inside(*this.context, seat, || this.body.set(None))));
        if let (Err(panic), Some(Ok(_)) | None) = (dropped, &outcome) {
            outcome = Some(Err(panic));
        }
        if this.shared.progress.end() && may_run {
            let left_at = Moment::from_raw(this.shared.left_at.load(Ordering::Acquire));
            this.books.came_back(Moment::now().since(left_at));
        }
        *this.seat = None;
        if let (Some(answer), Some(outcome)) = (this.answer.take(), outcome) {
            // Nobody there to take it: dropped here.
            drop(answer.send(outcome));
        }
        Poll::Ready(())
    }
}

/// A caller's claim to the answer of a body on another thread. Dropped before the answer is there, it tells the body to
/// stop.
pub(crate) struct Ticket<R> {
    receiver: Option<oneshot::Receiver<Outcome<R>>>,
    shared: Arc<Shared>,
    books: &'static Books,
}

impl<R> Future for Ticket<R> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R> {
        let Some(receiver) = &mut self.receiver else { return Poll::Pending };
        let arrived = ready!(Pin::new(receiver).poll(cx));
        self.receiver = None;
        match arrived {
            Ok(Ok(answer)) => Poll::Ready(answer),
            Ok(Err(panic)) => resume_unwind(panic),
            // A job ends with an answer unless it was told to stop, which only the Drop below does.
            Err(_) => Poll::Pending,
        }
    }
}

impl<R> Drop for Ticket<R> {
    fn drop(&mut self) {
        if self.receiver.is_none() {
            return;
        }
        self.shared.left_at.store(Moment::now().to_raw(), Ordering::Release);
        if self.shared.progress.leave() == Left::Running {
            self.books.abandoned(Moment::now());
        }
        self.receiver = None;
        self.shared.ring();
        // Nobody waits for it any more, so it must not hold a paused clock either.
        self.shared.still.end();
    }
}
