//! What is believed of what the last hop says, and the request that runs under it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;

use crate::call::context::Ambient;
use crate::call::intake::{Entered, Intake};
use crate::call::{Detail, Error};
use crate::strategies::deadline::{Within, within};

/// How a hop bounds what it is told.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Terms {
    /// What a request gets that says nothing, in nanoseconds.
    pub(in super::super) otherwise: Option<u64>,
    /// What no request gets more than.
    pub(in super::super) most: Option<u64>,
    /// What is taken off what it is told, for the way back.
    pub(in super::super) kept_back: u64,
}

impl Terms {
    /// How long a request may take that says so much.
    pub(in super::super) fn decide(&self, told: Option<u64>) -> Option<u64> {
        let told = told.map(|told| told.saturating_sub(self.kept_back));
        told.or(self.otherwise).into_iter().chain(self.most).min()
    }

    /// Handles a request on these terms; `call` is not called with nothing left.
    pub(in super::super) fn bound<F>(&self, told: Option<u64>, call: impl FnOnce() -> F) -> Bounded<F>
    where
        F: Future,
    {
        let Some(entered) = Intake::here().enter() else {
            return Bounded {
                work: Work::Refused { why: Some(Error::new(None, Detail::ShuttingDown)) },
                entered: None,
            };
        };
        let work = match self.decide(told) {
            Some(0) => Work::Refused { why: Some(Error::new(None, Detail::Spent { in_queue: false })) },
            Some(length) => Work::Timed { work: within(Duration::from_nanos(length), call()) },
            None => Work::Untimed { work: call() },
        };
        Bounded { work, entered: Some(entered) }
    }
}

/// The setters that every layer of a server has.
macro_rules! terms {
    () => {
        /// What a request gets that says nothing of its time, or nothing that can be read; without this, no deadline.
        pub fn or(mut self, length: std::time::Duration) -> Self {
            self.terms.otherwise = Some($crate::base::clock::nanos(length));
            self
        }

        /// What no request gets more than, whatever it says or does not say.
        pub fn at_most(mut self, length: std::time::Duration) -> Self {
            self.terms.most = Some($crate::base::clock::nanos(length));
            self
        }

        /// Takes so much off what a request says, so that the answer still reaches whoever asked.
        pub fn keep_back(mut self, length: std::time::Duration) -> Self {
            self.terms.kept_back = $crate::base::clock::nanos(length);
            self
        }
    };
}
pub(in super::super) use terms;

pin_project! {
    /// One request, under what it was given. Ready with an error when that was over first.
    pub(in super::super) struct Bounded<F> {
        #[pin]
        work: Work<F>,
        // Dropped after the work.
        entered: Option<Entered>,
    }
}

pin_project! {
    #[project = Inside]
    enum Work<F> {
        Timed { #[pin] work: Within<F> },
        Untimed { #[pin] work: F },
        Refused { why: Option<Error> },
    }
}

impl<F: Future> Future for Bounded<F> {
    type Output = Result<F::Output, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let around = Ambient::here();
        let _scope = (!Ambient::is_inside()).then(|| Ambient { call: Ambient::REQUEST, ..around }.enter());
        match self.project().work.project() {
            Inside::Timed { work } => work.poll(cx),
            Inside::Untimed { work } => work.poll(cx).map(Ok),
            Inside::Refused { why } => why.take().map_or(Poll::Pending, |why| Poll::Ready(Err(why))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hop_believes_less_and_never_more() {
        let terms = Terms { otherwise: Some(2_000), most: Some(5_000), kept_back: 10 };
        assert_eq!(terms.decide(Some(900)), Some(890));
        assert_eq!(terms.decide(Some(9_000)), Some(5_000));
        assert_eq!(terms.decide(Some(3)), Some(0), "nothing is left of it");
        assert_eq!(terms.decide(None), Some(2_000), "nothing is kept back of one's own");
        assert_eq!(Terms::default().decide(None), None);
        assert_eq!(Terms { most: Some(7), ..Terms::default() }.decide(None), Some(7));
    }

    #[tokio::test(start_paused = true)]
    async fn with_nothing_left_the_handler_is_not_called() {
        let terms = Terms::default();
        let refused = terms.bound(Some(0), || -> std::future::Ready<()> { unreachable!("called") }).await;
        assert!(refused.expect_err("refused").is_refusal());
    }
}
