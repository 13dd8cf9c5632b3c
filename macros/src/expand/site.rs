//! The static descriptor of one guarded function.
//!
//! Everything that is known at compile time becomes one `static`, built by `const fn`s: the first call finds the site
//! ready, and a function that is never called is in the catalogue all the same. Being a static inside the function, it
//! is one per function and not one per instantiation; a generic function is one site, as its bulkhead's name is one
//! name.
//!
//! Only what was written is stated. A default that were copied here would be frozen into every binary and could not be
//! told apart from a decision.
//!
//! Invariants
//! - The static mentions no generic parameter and no argument of the function.
//! - The line is that of the function's name, not of the attribute above it.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::paths::Paths;
use crate::parse::backoff::{Backoff, Curve, Jitter};
use crate::parse::breaker::Window;
use crate::parse::bulkhead::{Bulkhead, Slots};
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
    let (site, declaration, list) = (paths.site(here), paths.declaration(here), paths.list(here));
    let name = &plan.name;
    // `line!` counts where its outermost invocation stands: with these names it is the user's line, with the macro's
    // it would be the attribute's.
    let line = quote_spanned!(plan.item.sig.ident.span()=> ::core::line!());
    let strategies = strategies(plan, paths);
    quote_spanned! {here=>
        static __WT_SITE: #site = #site::new(
            #declaration::new(#name, ::core::module_path!(), ::core::file!(), #line) #strategies
        );
        #list!(__WT_SITE);
    }
}

fn strategies(plan: &Plan, paths: &Paths<'_>) -> TokenStream {
    let here = Span::mixed_site();
    let mut calls = TokenStream::new();
    if let Some(nanos) = plan.timeout {
        let config = paths.timeout(here);
        calls.extend(quote_spanned!(here=> .timeout(#config::new(#nanos))));
    }
    if let Some(nanos) = plan.deadline {
        let config = paths.deadline(here);
        calls.extend(quote_spanned!(here=> .deadline(#config::new(#nanos))));
    }
    let keyed = plan.key.as_ref().map(|_| quote!(.keyed()));
    if let Some(bulkhead) = &plan.bulkhead {
        let config = self::bulkhead(bulkhead, &paths.bulkhead(here));
        let guards = plan.guards.as_ref().map(|pool| quote!(.guards(#pool)));
        calls.extend(quote_spanned!(here=> .bulkhead(#config #keyed #guards)));
    }
    if let Some(isolate) = &plan.isolate {
        let config = threads(&isolate.threads, &paths.isolate(here));
        calls.extend(quote_spanned!(here=> .isolate(#config)));
    }
    if let Some((at, rate)) = &plan.rate {
        let config = self::rate(rate, keyed.as_ref(), *at, paths);
        calls.extend(quote_spanned!(here=> .rate(#config)));
    }
    if let Some(breaker) = &plan.breaker {
        let config = self::breaker(breaker, &paths.breaker(here));
        calls.extend(quote_spanned!(here=> .breaker(#config)));
    }
    if let Some(retry) = &plan.retry {
        let config = self::retry(retry, &paths.retry(here));
        calls.extend(quote_spanned!(here=> .retry(#config)));
    }
    if let Some(hedge) = &plan.hedge {
        let config = self::hedge(hedge.when, &paths.hedge(here));
        calls.extend(quote_spanned!(here=> .hedge(#config)));
    }
    if let Some(fallback) = &plan.fallback {
        let config = self::fallback(fallback, &paths.fallback(here));
        calls.extend(quote_spanned!(here=> .fallback(#config)));
    }
    if let Some((_, tail)) = &plan.tail {
        let config = self::tail(tail, &paths.tail(here));
        calls.extend(quote_spanned!(here=> .tail(#config)));
    }
    if plan.idempotent {
        calls.extend(quote_spanned!(here=> .idempotent()));
    }
    if matches!(plan.item.shape.kind, Kind::Plain) {
        calls.extend(quote_spanned!(here=> .plain()));
    }
    calls.extend(observing(&plan.observe, &paths.observe(here)));
    calls
}

/// What only observes, if anything does.
fn observing(mode: &Mode, observe: &TokenStream) -> TokenStream {
    match mode {
        Mode::Whole { observes: true } => quote!(.observing(#observe::ALL)),
        Mode::Each(each) if !each.is_empty() => {
            let words = each.iter().map(|(strategy, _)| Ident::new(strategy.word(), Span::mixed_site()));
            quote!(.observing(#observe::NONE #(.#words())*))
        }
        Mode::Whole { observes: false } | Mode::Each(_) => TokenStream::new(),
    }
}

fn bulkhead(bulkhead: &Bulkhead, config: &TokenStream) -> TokenStream {
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

fn threads(threads: &Threads, config: &TokenStream) -> TokenStream {
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

fn breaker(breaker: &Breaker, config: &TokenStream) -> TokenStream {
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

fn retry(retry: &Retry, config: &TokenStream) -> TokenStream {
    let times = retry.times;
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
    quote!(#config::new(#times) #backoff #max_duration #budget #marks)
}

fn hedge(hedge: Hedge, config: &TokenStream) -> TokenStream {
    let after = match hedge.after {
        After::Fixed(nanos) => quote!(#config::fixed(#nanos)),
        After::Percentile(tenths) => quote!(#config::percentile(#tenths)),
    };
    let floor = hedge.floor.map(|nanos| quote!(.floor(#nanos)));
    quote!(#after #floor)
}

fn tail(tail: &Tail, config: &TokenStream) -> TokenStream {
    let share = Literal::f64_suffixed(tail.share);
    let runs = tail.runs.map(|runs| quote!(.runs(#runs)));
    let cap = tail.cap.map(|nanos| quote!(.cap(#nanos)));
    quote!(#config::new(#share) #runs #cap)
}

fn fallback(fallback: &Fallback, config: &TokenStream) -> TokenStream {
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
    quote!(#config::new() #last_good #keyed #on #limit #errors_alone)
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
