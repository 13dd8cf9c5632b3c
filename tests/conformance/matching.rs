//! Which errors are tried again, counted and answered for.
//!
//! The peer names types and asks whether the error is of one of them or of a type derived from it. Here a predicate says
//! so, and a second one takes cases out again: `abort` for retry, `skip` for breaker. A fallback's one predicate says both. The
//! family of the peer's types is an enum whose members know their parents.
//!
//! Three columns, each a set that is named and a set that is taken out; whatever is taken out stays out, be it above or
//! below what is named.
//!
//! Invariants: each row tries each column on retry, breaker and fallback.

use std::sync::Arc;

use futures::future::BoxFuture;
use watertight::metrics::BreakerState;
use watertight::{ErrorKind, resilient};
use watertight_tests::{breaker, caught, panic_quietly};

use crate::harness::{Entry, row};
use crate::support::Runs;

const HOW: &str = "predicates over an enum whose members know their parents";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("EH-01", HOW, the_common_parent),
        row!("EH-02", HOW, the_family_itself),
        row!("EH-03", HOW, a_child),
        row!("EH-04", HOW, a_grandchild),
        row!("EH-05", HOW, a_child_of_the_grandchild),
        row!("EH-06", HOW, another_child_of_the_child),
        row!("EH-07", HOW, another_child_of_the_family),
        row!("EH-08", HOW, another_family),
        row!(
            "EH-09",
            "an error without a parent; and a panic, which surfaces and which every breaker counts",
            what_is_of_no_family
        ),
    ]
}

/// The peer's types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kin {
    Exception,
    Runtime,
    E0,
    E0S,
    E1,
    E1S,
    E2,
    E2S,
    Error,
}

impl Kin {
    fn parent(self) -> Option<Self> {
        match self {
            Self::Exception | Self::Error => None,
            Self::Runtime | Self::E0 => Some(Self::Exception),
            Self::E0S | Self::E1 => Some(Self::E0),
            Self::E1S | Self::E2 => Some(Self::E1),
            Self::E2S => Some(Self::E2),
        }
    }

    /// Whether it is of one of these types.
    fn is_any(self, of: &[Self]) -> bool {
        std::iter::successors(Some(self), |it| it.parent()).any(|it| of.contains(&it))
    }
}

/// What a guarded function says.
#[derive(Debug)]
enum Said {
    Kin(Kin),
    Refused(ErrorKind),
}

impl From<watertight::Error> for Said {
    fn from(error: watertight::Error) -> Self {
        Self::Refused(error.kind())
    }
}

impl Said {
    fn is_any(&self, of: &[Kin]) -> bool {
        matches!(self, Self::Kin(kin) if kin.is_any(of))
    }
}

struct Column {
    named: &'static [Kin],
    out: &'static [Kin],
}

impl Column {
    fn names(&self, error: &Said) -> bool {
        error.is_any(self.named)
    }

    fn takes_out(&self, error: &Said) -> bool {
        error.is_any(self.out)
    }
}

const A: Column = Column { named: &[Kin::E0, Kin::E2], out: &[Kin::E1] };
const B: Column = Column { named: &[Kin::Exception, Kin::E1], out: &[Kin::E0, Kin::E2] };
const C: Column = Column { named: &[Kin::E1, Kin::E2], out: &[Kin::E0] };

/// What a body does: it says so, or panics.
#[derive(Debug, Default)]
struct Body {
    says: Option<Kin>,
    runs: Runs,
}

impl Body {
    fn run(&self) -> Said {
        self.runs.next();
        Said::Kin(self.says.unwrap_or_else(|| panic_quietly()))
    }
}

macro_rules! retries_and_fallbacks {
    ($($column:ident $retry:ident $fallback:ident)*) => {
        $(#[resilient(retry(
            1,
            backoff = "1ms..1ms",
            budget = off,
            on = |error| $column.names(error),
            abort = |error| $column.takes_out(error)
        ))]
        async fn $retry(body: Arc<Body>) -> Result<&'static str, Said> {
            Err(body.run())
        }

        #[resilient(fallback(|| "fallback", on = |error| $column.names(error) && !$column.takes_out(error)))]
        async fn $fallback(body: Arc<Body>) -> Result<&'static str, Said> {
            Err(body.run())
        })*
    };
}

retries_and_fallbacks! { A retry_a fallback_a B retry_b fallback_b C retry_c fallback_c }

type Answer = Result<&'static str, Said>;
type Guarded = fn(Arc<Body>) -> BoxFuture<'static, Answer>;

/// A breaker keeps state, so every cell of the table has one of its own.
macro_rules! breakers {
    ($($row:ident: $a:ident $b:ident $c:ident;)*) => {
        $(
            breakers!(@ $a A);
            breakers!(@ $b B);
            breakers!(@ $c C);
            const $row: [(&str, Guarded); 3] = [
                (stringify!($a), |body| Box::pin($a(body))),
                (stringify!($b), |body| Box::pin($b(body))),
                (stringify!($c), |body| Box::pin($c(body))),
            ];
        )*
    };
    (@ $function:ident $column:ident) => {
        #[resilient(breaker(
            window = 1,
            failures = "100%",
            cooldown = "20s",
            on = |error| $column.names(error),
            skip = |error| $column.takes_out(error)
        ))]
        async fn $function(body: Arc<Body>) -> Answer {
            Err(body.run())
        }
    };
}

breakers! {
    EH_01: eh_01_a eh_01_b eh_01_c;
    EH_02: eh_02_a eh_02_b eh_02_c;
    EH_03: eh_03_a eh_03_b eh_03_c;
    EH_04: eh_04_a eh_04_b eh_04_c;
    EH_05: eh_05_a eh_05_b eh_05_c;
    EH_06: eh_06_a eh_06_b eh_06_c;
    EH_07: eh_07_a eh_07_b eh_07_c;
    EH_08: eh_08_a eh_08_b eh_08_c;
    EH_09: eh_09_a eh_09_b eh_09_c;
    EH_09_PANIC: eh_09_panic_a eh_09_panic_b eh_09_panic_c;
}

/// Which columns this error is hit by, for all three strategies.
async fn hits(error: Kin, breakers: [(&'static str, Guarded); 3], expected: [bool; 3]) {
    let retries: [Guarded; 3] =
        [|body| Box::pin(retry_a(body)), |body| Box::pin(retry_b(body)), |body| Box::pin(retry_c(body))];
    let fallbacks: [Guarded; 3] =
        [|body| Box::pin(fallback_a(body)), |body| Box::pin(fallback_b(body)), |body| Box::pin(fallback_c(body))];
    for (column, hit) in expected.into_iter().enumerate() {
        let body = Arc::new(Body { says: Some(error), ..Body::default() });
        let answer = retries[column](Arc::clone(&body)).await;
        assert!(matches!(answer, Err(Said::Kin(kin)) if kin == error), "{answer:?}");
        assert_eq!(body.runs.count(), if hit { 2 } else { 1 }, "retry, column {column}");

        let answer = fallbacks[column](Arc::clone(&body)).await;
        match answer {
            Ok("fallback") => assert!(hit, "fallback, column {column}"),
            Err(Said::Kin(kin)) if kin == error => assert!(!hit, "fallback, column {column}"),
            other => panic!("fallback, column {column}: {other:?}"),
        }

        let (name, call) = breakers[column];
        let body = Arc::new(Body { says: Some(error), ..Body::default() });
        assert!(matches!(call(Arc::clone(&body)).await, Err(Said::Kin(kin)) if kin == error));
        let second = call(Arc::clone(&body)).await;
        if hit {
            assert!(matches!(second, Err(Said::Refused(ErrorKind::BreakerOpen))), "{name}: {second:?}");
        } else {
            assert!(matches!(second, Err(Said::Kin(kin)) if kin == error), "{name}: {second:?}");
            let window = breaker(name);
            assert_eq!((window.calls, window.failures, body.runs.count()), (1, 0, 2), "{name}: a success");
        }
    }
}

async fn the_common_parent() {
    hits(Kin::Exception, EH_01, [false, true, false]).await;
}

async fn the_family_itself() {
    hits(Kin::E0, EH_02, [true, false, false]).await;
}

async fn a_child() {
    hits(Kin::E1, EH_03, [false, false, false]).await;
}

async fn a_grandchild() {
    hits(Kin::E2, EH_04, [false, false, false]).await;
}

async fn a_child_of_the_grandchild() {
    hits(Kin::E2S, EH_05, [false, false, false]).await;
}

async fn another_child_of_the_child() {
    hits(Kin::E1S, EH_06, [false, false, false]).await;
}

async fn another_child_of_the_family() {
    hits(Kin::E0S, EH_07, [true, false, false]).await;
}

async fn another_family() {
    hits(Kin::Runtime, EH_08, [false, true, false]).await;
}

async fn what_is_of_no_family() {
    hits(Kin::Error, EH_09, [false, false, false]).await;
    for (name, call) in EH_09_PANIC {
        let body = Arc::new(Body::default());
        caught(call(Arc::clone(&body))).await.expect_err("a panic surfaces");
        assert_eq!(breaker(name).state, BreakerState::Open, "{name}: whatever is named");
    }
    let panicking: [Guarded; 2] = [|body| Box::pin(retry_b(body)), |body| Box::pin(fallback_b(body))];
    for call in panicking {
        let body = Arc::new(Body::default());
        caught(call(Arc::clone(&body))).await.expect_err("it surfaces");
        assert_eq!(body.runs.count(), 1, "neither tried again nor answered for");
    }
}
