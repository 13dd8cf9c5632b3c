//! `bulkhead = "NAME[:SLOTS[/queue:N][/wait:DURATION][/fleet]]"`, or `"NAME:auto[/floor:N][/ceiling:N]…"`.
//!
//! One string rather than a list of keys, because this is read far more often than it is written: `"recs:8/queue:16"`
//! is also how a bulkhead appears in the settings file, in errors and on the dashboard, so the eye learns it once.
//!
//! The name alone *joins* a bulkhead that is declared elsewhere. Numbers next to a name declare it; two declarations
//! with different numbers are found when the sites meet, which a macro that sees one function cannot do.
//!
//! Invariants
//! - Floor and ceiling are only ever set where the slots are `auto`, the floor never above the ceiling.
//! - A declared bulkhead has 1 to 1 000 000 slots, and slots and queue together do not exceed 1 000 000.
//! - Slots that are `auto` are never a fleet's.
//! - A wait is only ever set where there is a queue to wait in.

use proc_macro2::Ident;
use syn::parse::ParseStream;

use super::figures::{Grammar, Reader};
use super::text;
use super::value::{self, whole};
use crate::diag::Errors;
use crate::limits::{CEILING, FLOOR, MOST_SLOTS};

/// The compartment a call has to enter.
#[derive(Clone)]
pub(crate) struct Bulkhead {
    pub(crate) name: String,
    /// `None` joins.
    pub(crate) declared: Option<Declared>,
}

/// The numbers of a bulkhead that is declared here.
#[derive(Clone)]
pub(crate) struct Declared {
    pub(crate) slots: Slots,
    pub(crate) queue: Option<u32>,
    /// Nanoseconds.
    pub(crate) wait: Option<u64>,
    /// How many may run over all keys together.
    pub(crate) total: Option<u32>,
    /// Whether the numbers are those of all processes together.
    pub(crate) fleet: bool,
}

/// How many may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slots {
    Fixed(u32),
    /// Found by measuring, from the floor to the ceiling.
    Auto {
        floor: Option<u32>,
        ceiling: Option<u32>,
    },
}

const EXAMPLE: &str = "bulkhead = \"recs:8/queue:16\"";

const GRAMMAR: Grammar = Grammar {
    what: "a bulkhead",
    options: &[
        ("queue", "number"),
        ("wait", "duration"),
        ("floor", "number"),
        ("ceiling", "number"),
        ("total", "number"),
    ],
    flags: &["fleet"],
    never: &[],
    remedy: "write \"NAME:SLOTS\", then `/queue:16`, `/wait:100ms`, both or neither",
    no_wait: "a wait of nothing is no queue",
};

pub(super) fn read(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Bulkhead> {
    let lit = text(key, input, EXAMPLE, errors)?;
    let text = value::in_one_piece(key, &lit, errors)?;
    let (head, options) = match text.split_once('/') {
        Some((head, options)) => (head, Some(options)),
        None => (text.as_str(), None),
    };
    let (name, slots) = match head.split_once(':') {
        Some((name, slots)) => (name, Some(slots)),
        None => (head, None),
    };
    let name = value::name(key, &lit, name, errors);
    match (slots, options) {
        (None, None) => Some(Bulkhead { name: name?, declared: None }),
        (None, Some(_)) => {
            errors.at(
                lit.span(),
                format!("`{key} = \"{text}\"`: the slots are missing; the bare name joins a bulkhead, queue and all"),
                format!("write \"{head}\" to join it, or \"{head}:8/queue:16\" to declare it"),
            );
            None
        }
        (Some(slots), options) => {
            let declared = Reader::new(key, &lit, errors, &GRAMMAR).bulkhead(slots, options);
            Some(Bulkhead { name: name?, declared: Some(declared?) })
        }
    }
}

impl Reader<'_> {
    fn bulkhead(&mut self, slots: &str, options: Option<&str>) -> Option<Declared> {
        let slots = self.slots(slots);
        let written = self.options(options.iter().flat_map(|options| options.split('/')));
        let [floor, ceiling, total] =
            ["floor", "ceiling", "total"].map(|word| written.read(word, |figure| self.bound(word, figure)));
        let queue = written.read("queue", |figure| self.queue(figure));
        let wait = written.read("wait", |figure| self.wait(figure));
        if self.waits_without_queue(&written, &queue) {
            return None;
        }
        let slots = self.measured(slots?, floor.ok()?, ceiling.ok()?)?;
        let (queue, wait, total) = (queue.ok()?, wait.ok()?, total.ok()?);
        let fleet = written.says("fleet");
        if fleet && matches!(slots, Slots::Auto { .. }) {
            self.wrong(
                "slots that are found by measuring are what this process has measured, and a fleet shares a number",
                "write how many may run in all processes together: \"recs:64/fleet\", or leave `/fleet` out",
            );
            return None;
        }
        let most = match slots {
            Slots::Fixed(slots) => slots,
            Slots::Auto { ceiling, .. } => ceiling.unwrap_or(CEILING),
        };
        if u64::from(most) + u64::from(queue.unwrap_or(0)) > MOST_SLOTS {
            self.wrong(
                format!("slots and queue together come to more than {MOST_SLOTS}"),
                "write smaller numbers; a queue longer than the slots can empty in time only makes calls late",
            );
            return None;
        }
        if let (Some(total), Slots::Fixed(slots)) = (total, slots)
            && total < slots
        {
            self.wrong(
                format!("a total of {total} leaves no key all of its {slots} slots"),
                "write the larger number as the total, or fewer slots for each key",
            );
            return None;
        }
        Some(Declared { slots, queue, wait, total, fleet })
    }

    /// `auto` with its bounds, which nothing else has.
    fn measured(&mut self, slots: Slots, floor: Option<u32>, ceiling: Option<u32>) -> Option<Slots> {
        if let Slots::Fixed(number) = slots {
            if floor.is_some() || ceiling.is_some() {
                self.wrong(
                    format!("{number} slots are a fixed number and need neither floor nor ceiling"),
                    "write `auto` for the slots, or remove the bounds",
                );
                return None;
            }
            return Some(slots);
        }
        let least = floor.unwrap_or_else(|| FLOOR.min(ceiling.unwrap_or(CEILING)));
        if least > ceiling.unwrap_or(CEILING) {
            self.wrong(
                format!("the floor of {least} lies above the ceiling of {}", ceiling.unwrap_or(CEILING)),
                format!("write the larger number as the ceiling: `/floor:{FLOOR}/ceiling:{least}`"),
            );
            return None;
        }
        Some(Slots::Auto { floor, ceiling })
    }

    fn bound(&mut self, word: &str, text: &str) -> Option<u32> {
        let bound = whole(text).filter(|bound| (1..=MOST_SLOTS).contains(bound)).and_then(|it| u32::try_from(it).ok());
        if bound.is_none() {
            self.wrong(
                format!("`{text}` cannot be the {word} of the slots"),
                match word {
                    "total" => format!("write a whole number from 1 to {MOST_SLOTS}: \"tenants:4/queue:8/total:64\""),
                    _ => format!("write a whole number from 1 to {MOST_SLOTS}: \"recs:auto/floor:2/ceiling:64\""),
                },
            );
        }
        bound
    }

    fn slots(&mut self, text: &str) -> Option<Slots> {
        if text == "auto" {
            return Some(Slots::Auto { floor: None, ceiling: None });
        }
        match whole(text) {
            Some(0) => self.wrong(
                "no call could ever run in 0 slots",
                "write how many may run at once, 1 or more; to shut a function off, isolate its breaker",
            ),
            Some(slots) if slots <= MOST_SLOTS => return u32::try_from(slots).ok().map(Slots::Fixed),
            _ => self.wrong(
                format!("`{text}` cannot be the number of slots"),
                format!("write a whole number from 1 to {MOST_SLOTS}, or `auto`: \"recs:8\", \"recs:auto\""),
            ),
        }
        None
    }

    fn queue(&mut self, text: &str) -> Option<u32> {
        let queue = whole(text).filter(|queue| *queue <= MOST_SLOTS).and_then(|queue| u32::try_from(queue).ok());
        if queue.is_none() {
            self.wrong(
                format!("`{text}` cannot be the length of the queue"),
                format!("write a whole number from 0 to {MOST_SLOTS}: \"recs:8/queue:16\""),
            );
        }
        queue
    }
}
