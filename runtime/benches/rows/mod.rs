//! What is measured: each row is one way to make one call, made many times on one task of one thread.
//!
//! Rows come in families. All rows of a family do the same job around the same body, so they may be compared; who does it
//! is the second half of a row's name: `ours`, `bare` (nothing), `tokio` (one primitive of tokio), `hand` (what people
//! write, see [`hand`]), or a published crate. The two harnesses, time by criterion and instructions by callgrind, share
//! these rows and differ in how they read them.
//!
//! What would make a comparison unfair, and what is done about it:
//!
//! - **Set-up.** Every row is built once, as its crate's documentation says, and warm before anything is measured.
//! - **The same body**, ready at once and opaque to the optimiser, and the same error type. Where a crate wants a service,
//!   `tower::service_fn` makes one of the same body.
//! - **The same entry.** A thousand calls follow each other in one `block_on`, so that entering the runtime does not count.
//! - **Not the same job.** Ours keeps calls by fate, a latency histogram and what is in flight in every row, and gives a
//!   refusal its reason. Of the others, none counts unless said at its row. What a crate does less, or differently, is
//!   said there too.
//!
//! ninelives 0.2 is not here: it wants tokio 1.48, and no later one, which cannot be built beside ours. moro (scoped tasks) and
//! tower's `Buffer` (a queue with a task of its own) do another job.

pub(crate) mod alone;
pub(crate) mod hand;
pub(crate) mod keyed;
pub(crate) mod pending;
pub(crate) mod queue;
pub(crate) mod recorder;
pub(crate) mod refused;
pub(crate) mod stacks;

use std::hint::black_box;

use tokio::runtime::{Builder, Runtime};

/// The user's own error.
#[derive(Clone, Debug)]
pub(crate) struct Failed;

impl From<watertight::Error> for Failed {
    fn from(_: watertight::Error) -> Self {
        Self
    }
}

impl From<resilient::timeout::TimeoutError> for Failed {
    fn from(_: resilient::timeout::TimeoutError) -> Self {
        Self
    }
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("failed")
    }
}

impl std::error::Error for Failed {}

/// The body of all rows.
pub(crate) async fn bare(n: u32) -> Result<u32, Failed> {
    black_box(Ok(n))
}

/// Makes so many calls.
pub(crate) type Run = Box<dyn FnMut(u32)>;

/// One way to make a call.
pub(crate) struct Row {
    pub(crate) family: &'static str,
    pub(crate) who: &'static str,
    make: Box<dyn FnOnce() -> Run>,
}

impl Row {
    pub(crate) fn new(family: &'static str, who: &'static str, make: impl FnOnce() -> Run + 'static) -> Self {
        Self { family, who, make: Box::new(make) }
    }

    /// A row whose calls follow each other: what they share is set up once, in the runtime they are made in.
    pub(crate) fn each<S: 'static, R: 'static>(
        family: &'static str,
        who: &'static str,
        set_up: impl AsyncFnOnce() -> S + 'static,
        mut call: impl AsyncFnMut(&mut S, u32) -> R + 'static,
    ) -> Self {
        Self::new(family, who, move || {
            let runtime = one_thread();
            let mut shared = runtime.block_on(set_up());
            Box::new(move |calls| {
                runtime.block_on(async {
                    for n in 0..calls {
                        black_box(call(&mut shared, n).await);
                    }
                });
            })
        })
    }

    /// One that shares nothing.
    pub(crate) fn of<R: 'static>(
        family: &'static str,
        who: &'static str,
        mut call: impl AsyncFnMut(u32) -> R + 'static,
    ) -> Self {
        Self::each(family, who, async || (), async move |(), n| call(n).await)
    }

    /// Sets the row up and warms it.
    pub(crate) fn prepare(self) -> Run {
        let mut run = (self.make)();
        run(256);
        run
    }
}

/// All of them, in the order of the tables.
pub(crate) fn all() -> Vec<Row> {
    let mut rows = alone::rows();
    rows.extend(stacks::rows());
    rows.extend(refused::rows());
    rows.extend(pending::rows());
    rows.extend(queue::rows());
    rows.extend(keyed::rows());
    rows.extend(recorder::rows());
    rows
}

pub(crate) fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime of one thread")
}
