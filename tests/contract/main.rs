//! Laws × strategies: what must hold of every call, whichever strategies its function has.
//!
//! Each law is a module, each cell of the table a test in it, named after the strategy: `waiting::with::breaker` is
//! the law "dropped while waiting leaves the queue" for a function with a breaker. So that there is something to take
//! and to give back, the cells of the laws about slots have a bulkhead beside the strategy in question.
//!
//! | law | module | timeout | deadline | bulkhead | key | rate | breaker | retry | hedge | fallback | isolate | guard |
//! |---|---|---|---|---|---|---|---|---|---|---|---|---|
//! | dropped before the first poll takes nothing | `unpolled` | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | dropped while waiting leaves the queue | `waiting` | ✓ | ✓ | ✓ | ✓ | ✓ + token | ✓ + probe | ✓ + pause | ✓ | ✓ | ✓ | ✓ |
//! | dropped while running gives back | `running` | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ + probe | ✓ | ✓ | ✓ | ✓ on its thread | ✓ |
//! | a panic in the body gives back | `panics` | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ counts | ✓ once | ✓ | ✓ unasked | ✓ | ✓ |
//! | a rejection never runs the body | `rejected` | waited | spent | full | full | too often | open | full, thrice | full | full | full | full |
//! | a rejection never counts as a failure | `blameless` | waited | spent | full | full | too often | open | full, thrice | full | full | full | full |
//! | value and error come back untouched | `untouched` | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | handed on | ✓ | ✓ |
//! | the bound holds at every instant | `bound` | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | one finished call, one fate | `fates` | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
//! | observing refuses nothing and gives everything back | `observing` | cut | cut | full, waited | full, waited | too often, waited | open | again |  | ✓ |  |  |
//! | an absent strategy costs nothing | `absent` | no timer | no reading | no slot | no keys | no token | no window | no clone | no second body | no answer | no thread |  |
//!
//! A timeout never rejects, it cuts off; its cells in the two rows about rejections are those of a wait as long as the
//! timeout.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::future::BoxFuture;
use tokio::time::{advance, sleep};
use watertight::{Class, Error, Verdict, deadline};
use watertight_tests::threads::until;
use watertight_tests::{Gate, Peak, ms, occupancy, panic_quietly};

/// One test per cell: a guarded function of the given name and keys, put before the law.
macro_rules! cells {
    ($law:ident; $($strategy:ident $name:tt [$($keys:tt)*] $(of: $key:literal)? $(reject: $reject:ident)?;)*) => {
        mod with {
            // A glob, since the cells' names may be those of helpers in use above.
            #[allow(clippy::wildcard_imports, unused_imports)]
            use super::*;

            $(#[tokio::test(start_paused = true)]
            async fn $strategy() {
                #[watertight::resilient(name = $name, $($keys)* $(, key = (&stage, $key).1)?)]
                async fn guarded(stage: std::sync::Arc<crate::Stage>) -> crate::Answer {
                    stage.play().await
                }

                #[watertight::resilient(bulkhead = $name $(, key = (&gate, $key).1)?)]
                async fn holder(gate: std::sync::Arc<watertight_tests::Gate>) -> Result<(), watertight::Error> {
                    gate.opened().await;
                    Ok(())
                }

                $law(&crate::Cell {
                    name: $name,
                    call: |stage| Box::pin(guarded(stage)),
                    hold: |gate| Box::pin(async { holder(gate).await.expect("free") }),
                    reject: [$(crate::Reject::$reject)?].first().copied(),
                })
                .await;
            })*
        }
    };
}

/// The column of bodies on threads of their own. What they do there is done a moment later than what the law's own task
/// does; [`Cell::settle`] waits for it.
macro_rules! isolate_cell {
    ($law:ident; $name:literal [$($keys:tt)*] $(reject: $reject:ident)?) => {
        #[tokio::test(start_paused = true)]
        async fn isolate() {
            #[watertight::resilient(name = $name, $($keys)*)]
            async fn guarded(stage: std::sync::Arc<crate::Stage>) -> crate::Answer {
                stage.play().await
            }

            #[watertight::resilient(isolate = $name)]
            async fn holder(gate: std::sync::Arc<watertight_tests::Gate>) -> Result<(), watertight::Error> {
                gate.opened().await;
                Ok(())
            }

            $law(&crate::Cell {
                name: $name,
                call: |stage| Box::pin(guarded(stage)),
                hold: |gate| Box::pin(async { holder(gate).await.expect("free") }),
                reject: [$(crate::Reject::$reject)?].first().copied(),
            })
            .await;
        }
    };
}

/// The column of guards built by hand: the same law for a closure in `run_into`.
macro_rules! guard_cell {
    ($law:ident; $name:literal, |$guard:ident| $built:expr $(, reject: $reject:ident)?) => {
        #[tokio::test(start_paused = true)]
        async fn with_guard() {
            #[watertight::resilient(bulkhead = $name)]
            async fn holder(gate: std::sync::Arc<watertight_tests::Gate>) -> Result<(), watertight::Error> {
                gate.opened().await;
                Ok(())
            }

            let $guard = watertight::Guard::named($name);
            $built.build().expect("a guard, in the catalogue before its first call");
            $law(&crate::Cell {
                name: $name,
                // Built anew for every call, which gives the same site.
                call: |stage| {
                    let $guard = watertight::Guard::named($name);
                    let guard = $built.build().expect("a guard").judge(crate::every_error);
                    Box::pin(async move { guard.run_into(|| stage.play()).await })
                },
                hold: |gate| Box::pin(async { holder(gate).await.expect("free") }),
                reject: [$(crate::Reject::$reject)?].first().copied(),
            })
            .await;
        }
    };
}

mod absent;
mod blameless;
mod bound;
mod fates;
mod observing;
mod panics;
mod rejected;
mod running;
mod unpolled;
mod untouched;
mod waiting;

/// What the cells' functions return.
type Answer = Result<Arc<u32>, Trouble>;

/// Watertight's own error, or the body's, which can be told from every other by its address.
enum Trouble {
    Ours(Error),
    Own(Arc<u32>),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Ours(error)
    }
}

/// One cell of the table.
struct Cell {
    /// Of the function, of its bulkhead, and of its breaker.
    name: &'static str,
    call: fn(Arc<Stage>) -> BoxFuture<'static, Answer>,
    /// Holds a slot of the bulkhead until the gate opens.
    hold: fn(Arc<Gate>) -> BoxFuture<'static, ()>,
    /// How this cell's strategy rejects.
    reject: Option<Reject>,
}

/// Ways to have a call rejected.
#[derive(Clone, Copy, Debug)]
enum Reject {
    /// The slot is held, and there is no room in the queue.
    Full,
    /// The slot is held for longer than one may wait.
    Waited,
    /// The deadline around is spent.
    Spent,
    /// The breaker is held open.
    Isolated,
    /// The only token has been spent, by the call that showed that it works.
    Limited,
}

/// What a body does in the end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ends {
    Value,
    Error,
    Panic,
    Never,
}

/// What a body does, and what was seen of it.
struct Stage {
    ends: Ends,
    length: u64,
    value: Arc<u32>,
    error: Arc<u32>,
    entered: AtomicU32,
    peak: Arc<Peak>,
}

impl Stage {
    fn new(ends: Ends, length: u64) -> Arc<Self> {
        Self::sharing(ends, length, &Arc::default())
    }

    fn sharing(ends: Ends, length: u64, peak: &Arc<Peak>) -> Arc<Self> {
        Arc::new(Self {
            ends,
            length,
            value: Arc::new(1),
            error: Arc::new(2),
            entered: AtomicU32::new(0),
            peak: Arc::clone(peak),
        })
    }

    async fn play(&self) -> Answer {
        self.entered.fetch_add(1, Ordering::SeqCst);
        let _inside = self.peak.enter();
        if self.length > 0 {
            sleep(ms(self.length)).await;
        }
        match self.ends {
            Ends::Value => Ok(Arc::clone(&self.value)),
            Ends::Error => Err(Trouble::Own(Arc::clone(&self.error))),
            Ends::Panic => panic_quietly(),
            Ends::Never => std::future::pending().await,
        }
    }

    fn entered(&self) -> u32 {
        self.entered.load(Ordering::SeqCst)
    }
}

/// A judge of answers whose error type is no `std::error::Error`.
fn every_error(answer: &Answer) -> Verdict {
    if answer.is_ok() { Verdict::OK } else { Verdict::error(Class::Retryable, None) }
}

/// A fallback's value, told from the body's by what it holds.
fn stand_in() -> Arc<u32> {
    Arc::new(99)
}

impl Cell {
    /// A call that plays a stage.
    fn call(&self, stage: &Arc<Stage>) -> BoxFuture<'static, Answer> {
        (self.call)(Arc::clone(stage))
    }

    /// Waits until nobody runs who has been dropped: on a thread of its own, a body is dropped a moment later.
    fn settle(&self) {
        if watertight::snapshot().isolate(self.name).is_some() {
            until(|| occupancy(self.name).0 == 0);
        }
    }

    /// A call whose body answers at once, to show that the function still works.
    async fn assert_works(&self) {
        let stage = Stage::new(Ends::Value, 0);
        let answer = self.call(&stage).await;
        let value = answer.unwrap_or_else(|_| panic!("`{}` no longer answers", self.name));
        assert!(Arc::ptr_eq(&value, &stage.value), "the body's own value");
    }

    /// Has a call rejected in this cell's way; the stage must not be entered.
    async fn reject(&self, stage: &Arc<Stage>) -> Answer {
        let gate = Arc::new(Gate::shut());
        let mut holder = (self.hold)(Arc::clone(&gate));
        match self.reject.expect("this law is about rejections") {
            Reject::Full | Reject::Waited => {
                assert!(futures::poll!(&mut holder).is_pending());
                let answer = self.call(stage).await;
                drop(holder);
                self.settle();
                answer
            }
            Reject::Spent => {
                let spent = deadline::within(ms(10), async {
                    advance(ms(10)).await;
                    self.call(stage).await
                });
                spent.await.unwrap_or_else(|error| panic!("the call itself says so: {error}"))
            }
            Reject::Isolated => {
                assert_eq!(watertight::breaker::isolate(self.name), 1);
                self.call(stage).await
            }
            Reject::Limited => self.call(stage).await,
        }
    }
}
