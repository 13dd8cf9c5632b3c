//! The static descriptor of one guarded function.
//!
//! Everything that is known at compile time becomes one `static`, built by `const fn`s: the first call finds the site
//! ready, and a function that is never called is in the catalogue all the same. Being a static inside the function, it
//! is one per function and not one per instantiation; a generic function is one site, as its bulkhead's name is one
//! name.
//!
//! What an attribute says goes over as a list of settings, one enum value each. It could be a chain of setters; but all that
//! stands in a static's initialiser is looked through by the compiler for every annotated function, and calls are the dearest.
//!
//! Only what was written is stated. A default that were copied here would be frozen into every binary and could not be
//! told apart from a decision.
//!
//! Invariants
//! - The static mentions no generic parameter and no argument of the function.
//! - The line is that of the function's name, not of the attribute above it.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::paths::{Name, Paths};
use crate::parse::backoff::{Backoff, Curve, Jitter};
use crate::parse::breaker::Window;
use crate::parse::bulkhead::{Bulkhead, Declared, Slots};
use crate::parse::hedge::{After, Hedge};
use crate::parse::isolate::Threads;
use crate::parse::mode::Mode;
use crate::parse::on::Kind as Word;
use crate::parse::rate::Rate;
use crate::parse::retry::Budget;
use crate::parse::shape::Kind;
use crate::parse::tail::Tail;
use crate::plan::{Breaker, Fallback, Origin, Plan, Retry};

/// `static __WT_SITE: Site = …;` and its entry in the link-time list.
pub(super) fn declare(plan: &Plan, paths: &Paths<'_>) -> TokenStream {
    let here = Span::mixed_site();
    let (site, list) = (paths.site(here), paths.list(here));
    let name = &plan.name;
    // `line!` counts where its outermost invocation stands: with these names it is the user's line, with the macro's
    // it would be the attribute's.
    let line = quote_spanned!(plan.item.sig.ident.span()=> ::core::line!());
    let settings = settings(plan, paths);
    quote_spanned! {here=>
        static __WT_SITE: #site = #site::of(#name, ::core::module_path!(), ::core::file!(), #line, [#settings]);
        #list!(__WT_SITE);
    }
}

/// What was written, one element each.
fn settings(plan: &Plan, paths: &Paths<'_>) -> TokenStream {
    let here = Span::mixed_site();
    let setting = paths.setting(here);
    let mut all = TokenStream::new();
    if let Some(nanos) = plan.timeout {
        all.extend(quote_spanned!(here=> #setting::Timeout(#nanos),));
    }
    if let Some(nanos) = plan.deadline {
        all.extend(quote_spanned!(here=> #setting::Deadline(#nanos),));
    }
    let keyed = plan.key.as_ref().map(|_| quote!(.keyed()));
    if let Some(bulkhead) = &plan.bulkhead {
        if let (Some((slots, queue)), None, None) = (plain(bulkhead), &plan.guards, &keyed) {
            let name = &bulkhead.name;
            all.extend(quote_spanned!(here=> #setting::Slots(#name, #slots, #queue),));
        } else {
            let config = self::bulkhead(bulkhead, paths.bulkhead(here));
            let guards = plan.guards.as_ref().map(|pool| quote!(.guards(#pool)));
            all.extend(quote_spanned!(here=> #setting::Bulkhead(#config #keyed #guards),));
        }
    }
    if let Some(isolate) = &plan.isolate {
        let config = threads(&isolate.threads, paths.isolate(here));
        all.extend(quote_spanned!(here=> #setting::Isolate(#config),));
    }
    if let Some((at, rate)) = &plan.rate {
        let config = self::rate(rate, keyed.as_ref(), *at, paths);
        all.extend(quote_spanned!(here=> #setting::Rate(#config),));
    }
    if let Some(breaker) = &plan.breaker {
        let config = self::breaker(breaker, paths.breaker(here));
        all.extend(quote_spanned!(here=> #setting::Breaker(#config),));
    }
    if let Some(retry) = &plan.retry {
        let times = retry.times;
        let more = more_of_retry(retry);
        if more.is_empty() {
            all.extend(quote_spanned!(here=> #setting::Retries(#times),));
        } else {
            let config = paths.retry(here);
            all.extend(quote_spanned!(here=> #setting::Retry(#config::new(#times) #more),));
        }
    }
    if let Some(hedge) = &plan.hedge {
        let config = self::hedge(hedge.when, paths.hedge(here));
        all.extend(quote_spanned!(here=> #setting::Hedge(#config),));
    }
    if let Some(fallback) = &plan.fallback {
        let more = more_of_fallback(fallback);
        if more.is_empty() {
            all.extend(quote_spanned!(here=> #setting::FallsBack,));
        } else {
            let config = paths.fallback(here);
            all.extend(quote_spanned!(here=> #setting::Fallback(#config::new() #more),));
        }
    }
    if let Some((_, tail)) = &plan.tail {
        let config = self::tail(tail, paths.tail(here));
        all.extend(quote_spanned!(here=> #setting::Tail(#config),));
    }
    if plan.idempotent {
        all.extend(quote_spanned!(here=> #setting::Idempotent,));
    }
    if matches!(plan.item.shape.kind, Kind::Plain) {
        all.extend(quote_spanned!(here=> #setting::Plain,));
    }
    if let Some(observe) = observing(&plan.observe, paths.observe(here)) {
        all.extend(quote_spanned!(here=> #setting::Observing(#observe),));
    }
    all
}

/// What only observes, if anything does.
fn observing(mode: &Mode, observe: Name<'_>) -> Option<TokenStream> {
    match mode {
        Mode::Whole { observes: true } => Some(quote!(#observe::ALL)),
        Mode::Each(each) if !each.is_empty() => {
            let words = each.iter().map(|(strategy, _)| Ident::new(strategy.word(), Span::mixed_site()));
            Some(quote!(#observe::NONE #(.#words())*))
        }
        Mode::Whole { observes: false } | Mode::Each(_) => None,
    }
}

/// Slots and queue of a bulkhead of which nothing else is said.
fn plain(bulkhead: &Bulkhead) -> Option<(u32, u32)> {
    // All of it is named here: a part that comes later must not be left out in silence.
    let Declared { slots, queue, wait, total, fleet } = bulkhead.declared.as_ref()?;
    match slots {
        Slots::Fixed(slots) if wait.is_none() && total.is_none() && !fleet => Some((*slots, queue.unwrap_or(0))),
        _ => None,
    }
}

fn bulkhead(bulkhead: &Bulkhead, config: Name<'_>) -> TokenStream {
    let name = &bulkhead.name;
    let Some(declared) = &bulkhead.declared else {
        return quote!(#config::join(#name));
    };
    let declaration = match declared.slots {
        Slots::Fixed(slots) => quote!(#config::new(#name, #slots)),
        Slots::Auto { floor, ceiling } => {
            let floor = floor.map(|slots| quote!(.floor(#slots)));
            let ceiling = ceiling.map(|slots| quote!(.ceiling(#slots)));
            quote!(#config::auto(#name) #floor #ceiling)
        }
    };
    let queue = declared.queue.map(|queue| quote!(.queue(#queue)));
    let wait = declared.wait.map(|nanos| quote!(.wait(#nanos)));
    let total = declared.total.map(|slots| quote!(.total(#slots)));
    let fleet = declared.fleet.then(|| quote!(.fleet()));
    quote!(#declaration #queue #wait #total #fleet)
}

fn threads(threads: &Threads, config: Name<'_>) -> TokenStream {
    let name = &threads.name;
    let Some(declared) = &threads.declared else {
        return quote!(#config::join(#name));
    };
    let threads = declared.threads;
    let queue = declared.queue.map(|queue| quote!(.queue(#queue)));
    let wait = declared.wait.map(|nanos| quote!(.wait(#nanos)));
    quote!(#config::new(#name, #threads) #queue #wait)
}

/// Located at the key, since that is what has to change where the runtime was built without its feature.
fn rate(rate: &Rate, keyed: Option<&TokenStream>, at: Span, paths: &Paths<'_>) -> TokenStream {
    let (enabled, config) = (paths.rate_enabled(at), paths.rate(Span::mixed_site()));
    let made = match (&rate.name, &rate.declared) {
        (Some(name), None) => quote!(#config::join(#name)),
        (name, Some(declared)) => {
            let (count, unit) = (declared.count, declared.unit);
            let burst = declared.burst.map(|burst| quote!(.burst(#burst)));
            let wait = declared.wait.map(|nanos| quote!(.wait(#nanos)));
            let fleet = declared.fleet.then(|| quote!(.fleet()));
            let made = name.as_ref().map_or_else(
                || quote!(#config::own(#count, #unit)),
                |name| quote!(#config::named(#name, #count, #unit)),
            );
            quote!(#made #burst #wait #fleet)
        }
        (None, None) => TokenStream::new(),
    };
    quote_spanned!(super::paths::ours(at)=> #enabled!(#made #keyed))
}

fn breaker(breaker: &Breaker, config: Name<'_>) -> TokenStream {
    let origin = match &breaker.origin {
        Origin::Own => quote!(#config::own()),
        Origin::Named(name) => quote!(#config::named(#name)),
        Origin::Join(name) => quote!(#config::join(#name)),
    };
    let window = breaker.window.map(|window| match window {
        Window::Calls(calls) => quote!(.window(#calls)),
        Window::Time(nanos) => quote!(.window_time(#nanos)),
    });
    let failures = breaker.failures.map(Literal::f64_suffixed).map(|share| quote!(.failures(#share)));
    let min_calls = breaker.min_calls.map(|calls| quote!(.min_calls(#calls)));
    let slow = breaker.slow.map(|nanos| quote!(.slow(#nanos)));
    let slow_rate = breaker.slow_rate.map(Literal::f64_suffixed).map(|share| quote!(.slow_rate(#share)));
    let cooldown = breaker.cooldown.map(|nanos| quote!(.cooldown(#nanos)));
    let probes = breaker.probes.map(|probes| quote!(.probes(#probes)));
    let counts = |kind| breaker.kinds.as_ref().map(|kinds| kinds.contains(&kind));
    let marks = [
        (counts(Word::Error) == Some(false), quote!(.not_on_error())),
        (counts(Word::Timeout) == Some(false), quote!(.not_on_timeout())),
        (counts(Word::Full) == Some(true), quote!(.on_full())),
        (counts(Word::Wait) == Some(true), quote!(.on_wait())),
    ];
    let marks: TokenStream = marks.into_iter().filter(|(set, _)| *set).map(|(_, mark)| mark).collect();
    quote!(#origin #window #failures #min_calls #slow #slow_rate #cooldown #probes #marks)
}

/// What is said of retries besides their number.
fn more_of_retry(retry: &Retry) -> TokenStream {
    let backoff = retry.backoff.map(backoff);
    let max_duration = retry.max_duration.map(|nanos| quote!(.max_duration(#nanos)));
    let budget = retry.budget.as_ref().map(|budget| match budget {
        Budget::Share(part, granted) => {
            let (part, granted) = (Literal::f64_suffixed(*part), Literal::f64_suffixed(*granted));
            quote!(.budget(#part, #granted))
        }
        Budget::Named(name, part, granted) => {
            let (part, granted) = (Literal::f64_suffixed(*part), Literal::f64_suffixed(*granted));
            quote!(.budget(#part, #granted).budget_name(#name))
        }
        Budget::Join(name) => quote!(.join_budget(#name)),
        Budget::Off => quote!(.no_budget()),
    });
    let named = |kind| retry.kinds.contains(&kind);
    let marks = [
        (!named(Word::Error), quote!(.not_on_error())),
        (named(Word::Timeout), quote!(.on_timeout())),
        (named(Word::Full), quote!(.on_full())),
        (named(Word::Wait), quote!(.on_wait())),
        (named(Word::Rate), quote!(.on_rate())),
        (named(Word::Open), quote!(.on_open())),
    ];
    let marks: TokenStream = marks.into_iter().filter(|(set, _)| *set).map(|(_, mark)| mark).collect();
    quote!(#backoff #max_duration #budget #marks)
}

fn hedge(hedge: Hedge, config: Name<'_>) -> TokenStream {
    let after = match hedge.after {
        After::Fixed(nanos) => quote!(#config::fixed(#nanos)),
        After::Percentile(tenths) => quote!(#config::percentile(#tenths)),
    };
    let floor = hedge.floor.map(|nanos| quote!(.floor(#nanos)));
    quote!(#after #floor)
}

fn tail(tail: &Tail, config: Name<'_>) -> TokenStream {
    let share = Literal::f64_suffixed(tail.share);
    let runs = tail.runs.map(|runs| quote!(.runs(#runs)));
    let cap = tail.cap.map(|nanos| quote!(.cap(#nanos)));
    quote!(#config::new(#share) #runs #cap)
}

/// What is said of a fallback besides that there is one.
fn more_of_fallback(fallback: &Fallback) -> TokenStream {
    let last_good = fallback.last_good.map(|nanos| quote!(.last_good(#nanos)));
    let keyed = fallback.keyed.then(|| quote!(.keyed()));
    let limit = fallback.limit.map(|calls| quote!(.limit(#calls)));
    let errors_alone = fallback.errors_alone.then(|| quote!(.errors_alone()));
    let on = fallback.kinds.as_ref().map(|kinds| {
        let words = kinds.iter().map(|kind| match kind {
            Word::Error => quote!(.on_error()),
            Word::Timeout => quote!(.on_timeout()),
            Word::Refused => quote!(.on_refused()),
            Word::Full => quote!(.on_full()),
            Word::Wait => quote!(.on_wait()),
            Word::Rate => quote!(.on_rate()),
            Word::Open => quote!(.on_open()),
        });
        quote!(.on_nothing() #(#words)*)
    });
    quote!(#last_good #keyed #on #limit #errors_alone)
}

fn backoff(backoff: Backoff) -> TokenStream {
    let (curve, first, cap, jitter) = match backoff {
        Backoff::Range(least, most) => return quote!(.backoff(#least, #most)),
        Backoff::Curved { curve, first, cap, jitter } => (curve, first, cap, jitter),
    };
    let curve = match curve {
        Curve::Constant => quote!(.constant()),
        Curve::Linear => quote!(.linear()),
        Curve::Fibonacci => quote!(.fibonacci()),
        Curve::Decorrelated => quote!(.decorrelated()),
        Curve::Exponential(None) => TokenStream::new(),
        Curve::Exponential(Some(factor)) => {
            let factor = Literal::f64_suffixed(factor);
            quote!(.factor(#factor))
        }
    };
    // The first one lifts the default cap where it is longer, so it comes before a cap that was written.
    let first = first.map(|nanos| quote!(.first(#nanos)));
    let cap = cap.map(|nanos| quote!(.cap(#nanos)));
    let jitter = jitter.map(|jitter| match jitter {
        Jitter::Full => TokenStream::new(),
        Jitter::Equal => quote!(.jitter_equal()),
        Jitter::None => quote!(.jitter_none()),
        Jitter::Within(nanos) => quote!(.jitter_within(#nanos)),
    });
    quote!(#curve #first #cap #jitter)
}
