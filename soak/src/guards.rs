//! Guards put together at random, each with a compartment of its own, and the probes that count the places in every
//! compartment when all is quiet.
//!
//! Invariant: a guard's name is its entry's id, and its compartment's.

use std::time::Duration;

use anyhow::Context;
use fastrand::Rng;
use watertight::guard::{Breaker, Bulkhead, Hedge, Isolate, Rate, Retry};
use watertight::{Failure, Guard};

use crate::body::{Fault, Plan, play};
use crate::caller::Books;
use crate::gauge::Compartment;
use crate::sites::{Call, Entry, leaked};

/// How many there are.
const GUARDS: usize = 160;

fn ms(length: u64) -> Duration {
    Duration::from_millis(length)
}

fn fault(failure: Failure<Fault>) -> Fault {
    match failure {
        Failure::Refused(error) => Fault::Refused(error),
        Failure::Failed(fault) => fault,
    }
}

/// All guards of a seed.
pub(crate) fn make(seed: u64) -> anyhow::Result<Vec<Entry>> {
    let mut rng = Rng::with_seed(seed);
    (0..GUARDS).map(|number| one(&format!("guard-{number:03}"), &mut rng)).collect()
}

/// The ways in which a guard runs a closure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    Hedged,
    Keyed,
    LastGood,
    Isolated,
}

fn one(name: &str, rng: &mut Rng) -> anyhow::Result<Entry> {
    let way = [Way::Plain, Way::Hedged, Way::Keyed, Way::LastGood, Way::Isolated][rng.usize(..5)];
    let (slots, queue) = (rng.u32(1..7), rng.u32(0..9));
    let mut guard = Guard::named(name.to_owned());
    if rng.u32(0..4) > 0 || way == Way::Hedged {
        guard = guard.timeout(ms(rng.u64(15..40)));
    }
    if rng.bool() {
        guard = guard.deadline(ms(rng.u64(41..90)));
    }
    if rng.u32(0..3) == 0 {
        guard = guard.rate(Rate::named(name.to_owned(), 500, ms(1_000)).burst(20).wait(ms(5)));
    }
    guard = match rng.u32(0..3) {
        0 => guard.breaker(Breaker::own().window(30).min_calls(8).cooldown(ms(40))),
        1 => guard.breaker(Breaker::join("soak-breaker")),
        _ => guard,
    };
    let retries = rng.bool();
    if retries {
        guard = guard.retry(Retry::new(2));
    }
    if way == Way::Hedged {
        guard = guard.hedge(Hedge::after(ms(5))).idempotent();
    }
    if way == Way::LastGood {
        guard = guard.last_good(ms(500));
    }
    let compartment = leaked(if way == Way::Keyed {
        Compartment::keyed(name, u32::MAX, slots)
    } else {
        Compartment::new(name, slots)
    });
    if way == Way::Isolated {
        let isolate = Isolate::new(name.to_owned(), slots);
        let isolate = if queue > 0 { isolate.queue(queue).wait(ms(10)) } else { isolate };
        let guard = guard.build_isolated(isolate).with_context(|| name.to_owned())?;
        let call = move |plan: Plan| -> Call {
            Box::pin(async move { guard.run(move || play(plan.clone())).await.map_err(fault) })
        };
        return Ok(entry(name, Box::new(call), compartment, way, retries));
    }
    let bulkhead = Bulkhead::new(name.to_owned(), slots);
    guard = guard.bulkhead(if queue > 0 { bulkhead.queue(queue).wait(ms(10)) } else { bulkhead });
    let guard = if way == Way::Keyed { guard.keyed() } else { guard };
    let guard = guard.build().with_context(|| name.to_owned())?.classified();
    let call = move |plan: Plan| -> Call {
        Box::pin(async move {
            let key = plan.key;
            let body = || play(plan.clone());
            match way {
                Way::Hedged => guard.run_hedged(body).await,
                Way::Keyed => guard.key(&key).run(body).await,
                Way::LastGood => guard.run_or_last_good(body).await,
                Way::Plain | Way::Isolated => guard.run(body).await,
            }
            .map_err(fault)
        })
    };
    Ok(entry(name, Box::new(call), compartment, way, retries))
}

fn entry(
    name: &str,
    call: Box<dyn Fn(Plan) -> Call + Send + Sync>,
    compartment: &'static Compartment,
    way: Way,
    retries: bool,
) -> Entry {
    Entry {
        id: name.to_owned(),
        call,
        compartment: Some(compartment),
        falls_back: false,
        keeps_answers: way == Way::LastGood,
        pays_alone: retries || way == Way::Hedged,
        books: Books::default(),
    }
}
