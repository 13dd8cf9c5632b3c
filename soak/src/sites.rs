//! The functions: every combination of the attribute's keys that the rules allow, and guards with names of their own.
//!
//! A macro crosses the keys. Each combination is a function in a module of its own, so that its identity is its path:
//! `every::timed::named::own::retried::stale`. Compartments, breakers, rates and budgets of one name are shared by dozens
//! of functions.
//!
//! Invariant: what a path says is what the function has; [`attributed`] reads it from there.

use std::pin::Pin;
use std::sync::OnceLock;

use fastrand::Rng;

use crate::body::{Fault, Plan};
use crate::caller::Books;
use crate::gauge::Compartment;
use crate::guards;

/// A call that has not begun.
pub(crate) type Call = Pin<Box<dyn Future<Output = Result<u64, Fault>> + Send>>;

/// What fallbacks answer; no plan has it.
pub(crate) const STALE: u64 = u64::MAX;

/// One function.
pub(crate) struct Entry {
    /// Its module for one with the attribute, its name for a guard.
    pub(crate) id: String,
    pub(crate) call: Box<dyn Fn(Plan) -> Call + Send + Sync>,
    pub(crate) compartment: Option<&'static Compartment>,
    pub(crate) falls_back: bool,
    pub(crate) keeps_answers: bool,
    /// Whether its retries and hedges are paid from a budget of its own with the usual figures.
    pub(crate) pays_alone: bool,
    pub(crate) books: Books,
}

/// Crosses the options of several keys, which are given as a list within a list.
macro_rules! cross {
    (@with $plan:ident { $($keys:tt)* } { $($more:tt)* } $rest:tt) => {
        cross!($plan { $($keys)* $($more)* } $rest);
    };
    ($plan:ident { $($keys:tt)* } ()) => {
        #[watertight::resilient($($keys)*)]
        async fn site($plan: crate::body::Plan) -> Result<u64, crate::body::Fault> {
            crate::body::play($plan).await
        }

        pub(super) fn list(all: &mut Vec<crate::sites::Entry>) {
            all.push(crate::sites::attributed(module_path!(), |plan| Box::pin(site(plan))));
        }
    };
    ($plan:ident $keys:tt ([ $($name:ident $more:tt)* ] $rest:tt)) => {
        $(mod $name {
            cross!(@with $plan $keys $more $rest);
        })*

        pub(super) fn list(all: &mut Vec<crate::sites::Entry>) {
            $($name::list(all);)*
        }
    };
}

mod every {
    cross!(plan {} (
        [
            timed { timeout = "25ms", }
            all { timeout = "20ms", deadline = "90ms", rate = "soak-rate:3000/s/burst:200/wait:10ms", }
        ] ([
            open {}
            named { bulkhead = "soak-named:12/queue:24/wait:15ms", }
            auto { bulkhead = "soak-auto:auto/floor:2/ceiling:32/queue:16/wait:15ms", }
            keyed { bulkhead = "soak-keyed:2/queue:4/wait:15ms/total:24", key = plan.key, }
        ] ([
            sure {}
            own { breaker(window = 40, min_calls = 10, failures = "60%", cooldown = "40ms", probes = 2), }
            shared { breaker(name = "soak-breaker", window = 200, min_calls = 40, failures = "50%", cooldown = "40ms", probes = 3), }
        ] ([
            once {}
            retried { retry(2, backoff = "1ms..8ms"), }
            eager { retry(2, backoff = "1ms..8ms", on = any, budget = "soak-budget:20%"), idempotent, }
            hedged { hedge = "5ms", idempotent, }
        ] ([
            told {}
            stale { fallback = |_failure| crate::sites::STALE, }
        ] ()))))
    ));
}

mod kept {
    cross!(plan { timeout = "25ms", fallback = last_good("1s", shared), } (
        [
            open {}
            named { bulkhead = "soak-named", }
            auto { bulkhead = "soak-auto", }
        ] ([
            sure {}
            own { breaker(window = "1s", min_calls = 10, cooldown = "40ms"), }
            shared { breaker = "soak-breaker", }
        ] ([
            once {}
            retried { retry(2, backoff = "1ms..8ms"), }
            hedged { hedge = "p95", idempotent, }
        ] ()))
    ));
}

mod kept_by_key {
    cross!(plan { timeout = "25ms", fallback = last_good("1s"), key = plan.key, } (
        [
            open {}
            keyed { bulkhead = "soak-keyed", }
        ] ([
            once {}
            hedged { hedge = "p95", idempotent, }
        ] ())
    ));
}

mod elsewhere {
    cross!(plan { isolate = "soak-threads:4/queue:16/wait:15ms", } (
        [
            timed { timeout = "25ms", }
            dated { deadline = "60ms", }
        ] ([
            free {}
            paced { rate = "soak-rate", }
        ] ([
            sure {}
            own { breaker(window = 40, min_calls = 10, cooldown = "40ms"), }
        ] ([
            once {}
            retried { retry(2, backoff = "1ms..8ms"), }
        ] ([
            told {}
            stale { fallback = |_failure| crate::sites::STALE, }
        ] ()))))
    ));
}

mod observed {
    cross!(plan { mode = observe, timeout = "25ms", } (
        [
            named { bulkhead = "soak-named", }
            auto { bulkhead = "soak-auto", }
            keyed { bulkhead = "soak-keyed", key = plan.key, }
        ] ([
            free {}
            paced { rate = "soak-rate", }
        ] ([
            own { breaker(window = 40, min_calls = 10, cooldown = "40ms"), }
            shared { breaker = "soak-breaker", }
        ] ([
            once {}
            retried { retry(2, backoff = "1ms..8ms"), }
        ] ())))
    ));
}

/// The compartments that the attributes share.
struct Shared {
    named: &'static Compartment,
    auto: &'static Compartment,
    keyed: &'static Compartment,
    threads: &'static Compartment,
}

fn shared() -> &'static Shared {
    static SHARED: OnceLock<Shared> = OnceLock::new();
    SHARED.get_or_init(|| Shared {
        named: leaked(Compartment::new("soak-named", 12)),
        auto: leaked(Compartment::new("soak-auto", 32)),
        keyed: leaked(Compartment::keyed("soak-keyed", 24, 2)),
        threads: leaked(Compartment::new("soak-threads", 4)),
    })
}

pub(crate) fn leaked<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// The entry of a function with the attribute.
fn attributed(path: &'static str, call: fn(Plan) -> Call) -> Entry {
    let has = |part: &str| path.split("::").any(|other| other == part);
    let bounded = [("named", shared().named), ("auto", shared().auto), ("keyed", shared().keyed)];
    let bounded = bounded.into_iter().chain([("elsewhere", shared().threads)]);
    let compartment = bounded.filter(|_| !has("observed")).find(|(part, _)| has(part)).map(|(_, it)| it);
    Entry {
        id: path.to_owned(),
        call: Box::new(call),
        compartment,
        falls_back: has("stale"),
        keeps_answers: has("kept") || has("kept_by_key"),
        pays_alone: has("retried") || has("hedged"),
        books: Books::default(),
    }
}

static ALL: OnceLock<Vec<Entry>> = OnceLock::new();

/// Makes all of them. A seed gives the same guards again.
pub(crate) fn make(seed: u64) -> anyhow::Result<()> {
    let mut entries = Vec::new();
    for list in [every::list, kept::list, kept_by_key::list, elsewhere::list, observed::list] {
        list(&mut entries);
    }
    entries.extend(guards::make(seed)?);
    anyhow::ensure!(ALL.set(entries).is_ok(), "the functions are made once");
    Ok(())
}

/// All of them.
pub(crate) fn all() -> &'static [Entry] {
    ALL.get().map(Vec::as_slice).unwrap_or_default()
}

/// One of them.
pub(crate) fn any(rng: &mut Rng) -> &'static Entry {
    &all()[rng.usize(..all().len())]
}
