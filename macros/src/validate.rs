//! Every rule between two keys, and between the keys and the function.
//!
//! The rules are few because the types carry the rest: whether a return type can hold a refusal, whether a predicate
//! fits the error, whether an argument can be cloned are questions that only the compiler can answer, and it answers
//! them at the right place because the expansion asks them there. What is left are the contradictions that would
//! compile and mean nothing: a list that retries `full` where nothing can be full, a breaker that waits for more calls
//! than its window holds, an attribute that protects nothing.
//!
//! One rule is about safety. An attempt that timed out may have done its work and only failed to say so; trying again
//! is right for reads and charges a card twice for writes. So `timeout` in a retry list needs the word `idempotent`.
//!
//! Invariants
//! - All rules are checked, whatever the first one found.
//! - A key that was written but wrong breaks no rule a second time.

mod fallback;
mod hedge;
mod keys;
mod tail;
mod threads;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt;

use crate::diag::Errors;
use crate::limits::WINDOW;
use crate::parse::args::Args;
use crate::parse::backoff::Backoff;
use crate::parse::breaker::{self as parsed, Window};
use crate::parse::item::Item;
use crate::parse::mode::{Mode, Strategy};
use crate::parse::on::{Kind, On};
use crate::parse::retry::Retry as ParsedRetry;
use crate::parse::shape;
use crate::parse::slot::Slot;
use crate::plan::{Breaker, Hedge, Isolate, Origin, Plan, Retry};

/// Proof that a plan went through here.
pub(crate) struct Seal(());

/// The calls a breaker waits for by default.
const MIN_CALLS: u32 = 20;

/// Turns what was written into what is to be generated, or says why not.
pub(crate) fn validate(args: Args, item: Option<Item>, errors: &mut Errors) -> Option<Plan> {
    let function = item.as_ref().map_or_else(Span::call_site, |item| item.sig.ident.span());
    let observe = observed(&args, errors);
    // In the order in which they refuse; only one is named in an error. What only observes refuses nothing.
    let refusing = [
        (Some(Strategy::Deadline), args.deadline.blame(function)),
        (Some(Strategy::Breaker), args.breaker.blame(function)),
        (Some(Strategy::Rate), args.rate.blame(function)),
        (Some(Strategy::Bulkhead), args.bulkhead.blame(function)),
        // Threads of its own cannot be observed only: the body runs on them.
        (None, args.isolate.blame(function)),
        (Some(Strategy::Timeout), args.timeout.blame(function)),
    ];
    let acts = |strategy: Option<Strategy>| !strategy.is_some_and(|strategy| observe.observes(strategy));
    let refuses = refusing.into_iter().find_map(|(strategy, key)| key.filter(|_| acts(strategy)));
    let idempotent = args.idempotent.written();
    if let Some(item) = &item {
        fits_function(&args, &observe, item, errors);
        fallback::answers_another(&args, item, errors);
        if args.isolate.written() {
            threads::can_leave(&args, item, &threads::ISOLATED, errors);
        }
    }
    hedge::fits(&args, item.as_ref(), function, errors);
    if let (Some(bulkhead), Some(_)) = (args.bulkhead.blame(function), args.isolate.span()) {
        errors.at(
            bulkhead,
            "the threads of `isolate` are slots already, with a queue and a wait of their own",
            "leave one of the two out; a function that this one calls can have the other",
        );
    }
    tail::fits(&args, &observe, item.as_ref(), function, errors);
    keys::fit(&args, item.as_ref(), function, errors);
    if let (Some(guards), false, false) = (args.guards.span(), args.guards.is_inherited(), args.bulkhead.written()) {
        errors.at(
            guards,
            "`guards` names the pool that a bulkhead stands in front of, and this function has no bulkhead",
            "add `bulkhead = \"NAME:SLOTS\"`, with at most as many slots as the pool has connections, or leave `guards` out",
        );
    }
    let has = Has { bulkhead: args.bulkhead.written() || args.isolate.written(), rate: args.rate.written() };
    let key = args.retry.blame(function).unwrap_or(function);
    let retry = args.retry.take().map(|retry| decide_retry(retry, key, idempotent, has, errors));
    let key = args.hedge.blame(function);
    let hedge = key.zip(args.hedge.take()).map(|(key, when)| Hedge { key, when });
    let key = args.isolate.blame(function).unwrap_or(function);
    let isolate = args.isolate.take().map(|threads| Isolate { key, threads });
    let timeout = args.timeout.get().copied();
    let breaker = args.breaker.take().map(|breaker| decide_breaker(breaker, timeout, has, errors));
    let around = fallback::Around {
        has,
        breaker: breaker.is_some(),
        key: args.key.written(),
        refuses,
        inherited: args.fallback.is_inherited(),
    };
    let fallback = args.fallback.take().map(|fallback| fallback::decide(fallback, &around, errors));
    let item = item?;
    Some(Plan {
        name: args.name.take().unwrap_or_else(|| item.sig.ident.unraw().to_string()),
        runtime: args.runtime.take().unwrap_or_else(|| syn::parse_quote!(::watertight)),
        timeout: args.timeout.take(),
        deadline: args.deadline.take(),
        bulkhead: args.bulkhead.take(),
        guards: args.guards.take(),
        isolate,
        key: args.key.take(),
        rate: args.rate.blame(function).zip(args.rate.take()),
        breaker,
        retry,
        hedge,
        fallback,
        tail: args.tail.blame(function).zip(args.tail.take()),
        idempotent,
        observe,
        refuses,
        item,
        _seal: Seal(()),
    })
}

/// What an attribute must say that has no block around it, or is the one on the block: an attribute that changes
/// nothing looks like protection and is none.
pub(crate) fn stands_alone(args: &Args, errors: &mut Errors) {
    if let Some(skip) = args.skip.span() {
        errors.at(
            skip,
            "`skip` leaves a method out of the attribute on its `impl` block, and there is none here",
            "remove this attribute",
        );
    }
    for off in args.off() {
        errors.at(
            off,
            "`off` takes away what the attribute on the `impl` block says, and there is none here",
            "leave the key out",
        );
    }
    if args.protect() || !errors.is_empty() {
        return;
    }
    errors.at(
        Span::call_site(),
        "this attribute names no strategy, so it protects nothing",
        "write at least one, for instance `#[resilient(timeout = \"300ms\", bulkhead = \"recs:8/queue:16\")]`",
    );
}

/// Which strategies observe, of those that are there.
fn observed(args: &Args, errors: &mut Errors) -> Mode {
    let Some(mode) = args.mode.get() else { return Mode::Whole { observes: false } };
    if let (Mode::Whole { observes: true }, Some(at)) = (mode, args.isolate.span()) {
        errors.at(
            at,
            "`isolate` runs the body on threads of its own, and a call for which there is none cannot run all the same",
            "name what observes, `mode(timeout = observe)`, or write a `bulkhead` in its place while you observe",
        );
    }
    let is_there = |strategy| match strategy {
        // The one around the call is observed as well.
        Strategy::Deadline => true,
        Strategy::Retry => args.retry.written(),
        Strategy::Breaker => args.breaker.written(),
        Strategy::Rate => args.rate.written(),
        Strategy::Bulkhead => args.bulkhead.written(),
        Strategy::Timeout => args.timeout.written(),
    };
    // A block says it for all of its methods, and one of them may have taken the strategy away.
    if args.mode.is_inherited() {
        return mode.clone();
    }
    if let Mode::Each(each) = mode {
        for (strategy, at) in each.iter().filter(|(strategy, _)| !is_there(*strategy)) {
            let word = strategy.word();
            let what = format!("this function has no `{word}`, so there is nothing to observe");
            errors.at(*at, what, format!("add `{word}`, or take it out of the list"));
        }
    }
    let has_any = Strategy::ALL.iter().any(|(strategy, _)| *strategy != Strategy::Deadline && is_there(*strategy));
    if let (Mode::Whole { observes: true }, Some(at)) = (mode, args.mode.span())
        && !has_any
        && !args.deadline.written()
        && args.protect()
    {
        errors.at(at, "nothing here decides anything that could be observed", "add a strategy, or remove `mode`");
    }
    mode.clone()
}

/// Retrying and hedging run the body again, which some shapes of function do not allow.
fn fits_function(args: &Args, observe: &Mode, item: &Item, errors: &mut Errors) {
    let name = item.sig.ident.span();
    let retry = args.retry.blame(name).filter(|_| !observe.observes(Strategy::Retry));
    let Some(again) = retry.or(args.hedge.blame(name)) else { return };
    if names_instrument(&item.shape.block.stream()) {
        errors.at(
            again,
            "`#[instrument]` stands above `#[resilient]` and has moved the arguments, so the body cannot run again",
            "put `#[resilient]` above `#[instrument]`",
        );
    }
    if matches!(item.shape.kind, shape::Kind::Steps) {
        errors.at(
            again,
            "this function does something before its async block, which a further attempt could not repeat",
            "make it an `async fn`, or move everything into the async block",
        );
    }
}

/// Whether the statements are the ones that `tracing` leaves behind.
fn names_instrument(body: &TokenStream) -> bool {
    body.clone().into_iter().any(|tree| matches!(tree, TokenTree::Ident(word) if word == "__tracing_attr_span"))
}

fn decide_retry(retry: ParsedRetry, key: Span, idempotent: bool, has: Has, errors: &mut Errors) -> Retry {
    let on = retry.details.on.take().unwrap_or_default();
    // `any` is every word, but for the refusals of a bulkhead that is not there and for the breaker's.
    if let (Some(span), false) = (on.named(Kind::Timeout).or(on.any), idempotent) {
        let out = if on.any.is_some() { "name what is tried again" } else { "take `timeout` out of the list" };
        errors.at(
            span,
            "an attempt that timed out may have written before it was cut off, and trying again would write twice",
            format!("add the key `idempotent` if running twice does no harm, or {out}"),
        );
    }
    names_what_is_there(&on, has, errors);
    let kinds = on.kinds.as_deref();
    let mut decided: Vec<Kind> = kinds.unwrap_or_default().iter().map(|(kind, _)| *kind).collect();
    if on.any.is_some() {
        decided.extend([Kind::Full, Kind::Wait, Kind::Rate]);
    }
    // A predicate speaks about errors, so it stands for the word as well.
    if (kinds.is_none() || on.predicate.is_some()) && !decided.contains(&Kind::Error) {
        decided.push(Kind::Error);
    }
    // Without a list, whoever says that running twice does no harm means the timeouts.
    if kinds.is_none() && idempotent {
        decided.push(Kind::Timeout);
    }
    let (backoff, max_duration) = (retry.details.backoff, retry.details.max_duration);
    fits_duration(&backoff, &max_duration, errors);
    Retry {
        key,
        times: retry.times,
        backoff: backoff.take(),
        max_duration: max_duration.take(),
        budget: retry.details.budget.take(),
        predicate: on.predicate,
        any: on.any.is_some(),
        abort: retry.details.abort.take(),
        kinds: decided,
    }
}

/// A pause that is longer than all attempts together may take would never be made.
fn fits_duration(backoff: &Slot<Backoff>, max_duration: &Slot<u64>, errors: &mut Errors) {
    let longest = match backoff.get() {
        Some(Backoff::Range(_, cap) | Backoff::Curved { cap: Some(cap), .. }) => *cap,
        Some(Backoff::Curved { first: Some(first), .. }) => *first,
        _ => return,
    };
    if let (Some(most), Some(span)) = (max_duration.get(), max_duration.span())
        && longest >= *most
    {
        errors.at(
            span,
            "the longest pause could not end before this",
            "write a longer `max_duration`, or shorter pauses in `backoff`",
        );
    }
}

/// What refuses, of what a list can name.
#[derive(Clone, Copy)]
struct Has {
    bulkhead: bool,
    rate: bool,
}

/// Words about a bulkhead need one, and so does the word about a rate.
fn names_what_is_there(on: &On, has: Has, errors: &mut Errors) {
    if let (Some(span), false) = (on.named(Kind::Rate), has.rate) {
        errors.at(
            span,
            "`rate` is a rate limit's refusal, and this function has none",
            "add `rate = \"100/s\"`, or take `rate` out of the list",
        );
    }
    for (kind, word) in [(Kind::Full, "full"), (Kind::Wait, "wait")] {
        if let (Some(span), false) = (on.named(kind), has.bulkhead) {
            errors.at(
                span,
                format!("`{word}` is a bulkhead's refusal, and this function has no bulkhead"),
                format!("add `bulkhead = \"NAME:SLOTS\"`, or take `{word}` out of the list"),
            );
        }
    }
}

fn decide_breaker(breaker: parsed::Breaker, timeout: Option<u64>, has: Has, errors: &mut Errors) -> Breaker {
    let declared = match breaker {
        parsed::Breaker::Join(name) => {
            return Breaker {
                origin: Origin::Join(name),
                window: None,
                failures: None,
                min_calls: None,
                slow: None,
                slow_rate: None,
                cooldown: None,
                probes: None,
                predicate: None,
                any: false,
                kinds: None,
                skip: None,
            };
        }
        parsed::Breaker::Declare(declared) => *declared,
    };
    let min_calls = min_calls(&declared.window, &declared.min_calls, errors);
    fits_slow(&declared, timeout, errors);
    let on = declared.on.take().unwrap_or_default();
    names_what_is_there(&on, has, errors);
    let mut kinds = on.kinds.map(|kinds| kinds.into_iter().map(|(kind, _)| kind).collect::<Vec<_>>());
    if on.any.is_some() {
        kinds = Some(vec![Kind::Error, Kind::Timeout, Kind::Full, Kind::Wait]);
    }
    // A predicate speaks about errors, so it stands for the word as well.
    if let (Some(kinds), Some(_)) = (&mut kinds, &on.predicate) {
        kinds.push(Kind::Error);
    }
    Breaker {
        origin: declared.name.take().map_or(Origin::Own, Origin::Named),
        window: declared.window.take(),
        failures: declared.failures.take(),
        min_calls,
        slow: declared.slow.take(),
        slow_rate: declared.slow_rate.take(),
        cooldown: declared.cooldown.take(),
        probes: declared.probes.take(),
        predicate: on.predicate,
        any: on.any.is_some(),
        kinds,
        skip: declared.skip.take(),
    }
}

/// A share of slow calls needs to know what is slow, and what is slow must be able to happen.
fn fits_slow(declared: &parsed::Declared, timeout: Option<u64>, errors: &mut Errors) {
    if let (Some(span), false) = (declared.slow_rate.span(), declared.slow.written()) {
        errors.at(span, "nothing says how long a slow call takes", "add `slow = \"200ms\"`");
    }
    if let (Some(slow), Some(span), Some(timeout)) = (declared.slow.get(), declared.slow.span(), timeout)
        && *slow > timeout
    {
        errors.at(
            span,
            "an attempt is cut off before it has taken so long, so none would ever be slow",
            "write a `slow` of the timeout or less",
        );
    }
}

/// A breaker that waits for more calls than its window can hold would never open.
fn min_calls(window: &Slot<Window>, min_calls: &Slot<(u32, Span)>, errors: &mut Errors) -> Option<u32> {
    let holds = match (window.written(), window.get()) {
        (true, None) => return None,
        (_, Some(Window::Time(_))) => return min_calls.get().map(|(calls, _)| *calls),
        (_, Some(Window::Calls(calls))) => Some(*calls),
        (_, None) => None,
    };
    match (min_calls.get().copied(), holds) {
        (Some((calls, span)), _) if calls > holds.unwrap_or(WINDOW) => {
            let holds = holds.unwrap_or(WINDOW);
            errors.at(
                span,
                format!("the window holds {holds} calls, so {calls} would never be reached and it would never open"),
                format!("write `min_calls` of {holds} or less, or a larger `window`"),
            );
            None
        }
        (Some((calls, _)), _) => Some(calls),
        // A window smaller than the default asks to be judged when it is full.
        (None, Some(window)) if window < MIN_CALLS && !min_calls.written() => Some(window),
        (None, _) => None,
    }
}
