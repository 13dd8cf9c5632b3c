//! What each panel shows, as data: one file per panel.
//!
//! The page draws and computes nothing: every figure in it, the picker's included, is worked out here, where it can be
//! tested, and every number that is missing is missing on purpose (`null`), never zero.
//!
//! | file | panel |
//! |---|---|
//! | `wall` | one row per function, those first that hurt most users now |
//! | `headline` | the same in one sentence |
//! | `fates` | how calls ended, one class per call |
//! | `latency` | bands of latency over time, with the timeout and what lies beyond it |
//! | `picker` | what another timeout would do |
//! | `compare` | the same of the last minutes and of those before, side by side |
//! | `retry` | attempts per call, the success ladder, why no further attempt followed |
//! | `compartment` | bulkheads and threads: high-water marks, waits, who shares them |
//! | `breaker` | states over time, and what caused each change |
//! | `deadline` | where the time of a call goes |
//! | `keys` | the busiest and the most refused keys |
//!
//! Invariants: a panel reads the history and the declarations and changes nothing; lengths are in milliseconds; the oldest
//! frame comes first.

mod breaker;
mod compare;
mod compartment;
mod deadline;
mod fates;
pub(crate) mod headline;
mod keys;
mod latency;
mod picker;
mod retry;
pub(crate) mod wall;

use serde_json::{Value, json};

use super::history::ring::Span;
use super::history::{self, Kept};
use crate::advice::Curve;
use crate::call::Identity;
use crate::declaration::Declaration;
use crate::listing::Listed;

/// What a panel is handed.
pub(crate) struct View<'a> {
    pub(crate) kept: &'a Kept,
    pub(crate) span: Span,
    pub(crate) id: &'a str,
    /// As it is written.
    pub(crate) declared: &'static Declaration,
    /// As it is in force.
    pub(crate) declaration: &'a Declaration,
    pub(crate) all: &'a [&'a Declaration],
}

impl View<'_> {
    fn site(&self) -> Option<&history::SiteHistory> {
        self.kept.sites.get(self.id)
    }
}

/// Every panel of one function; `control` is what can be changed.
pub(crate) fn function(view: &View<'_>, control: &Value) -> Value {
    let Identity { name, module, file, line } = view.declaration.identity;
    let (listed, written) = (Listed::of(view.declaration, view.all), Listed::of(view.declared, view.all));
    let step = view.span.step();
    json!({
        "id": view.id,
        "name": name,
        "module": module,
        "source": format!("{file}:{line}"),
        "attribute": format!("#[resilient({written})]"),
        "control": control,
        "listed": listed.json(),
        "step": step,
        "frames": view.span.frames(),
        "fates": fates::panel(view),
        "latency": latency::panel(view),
        "picker": picker::panel(view),
        "retry": retry::panel(view),
        "compartment": compartment::panel(view),
        "breaker": breaker::panel(view),
        "deadline": deadline::panel(view),
        "keys": keys::panel(view),
    })
}

/// Of the last hour, what completed, what was cut off, and what was seen beyond.
fn curve(view: &View<'_>) -> Option<Curve> {
    view.site().map(|site| site.last_hour().curve())
}

/// A number, or nothing where there is none.
fn known(number: f32) -> Option<f32> {
    number.is_finite().then_some(number)
}

/// The name of the bulkhead or of the threads of a function.
fn compartment_name(declaration: &Declaration) -> Option<&'static str> {
    declaration.isolate.map(|it| it.name).or(declaration.bulkhead.map(|it| it.name))
}

/// The name under which a function's breaker is kept.
fn breaker_name(declaration: &Declaration) -> Option<&'static str> {
    declaration.breaker.map(|it| it.name.unwrap_or(declaration.identity.name))
}
