//! `isolate = "NAME[:THREADS[/queue:N][/wait:DURATION]]"`.
//!
//! The grammar is a bulkhead's with threads for slots, because that is what it means: the eye that has learned
//! `"recs:8/queue:16"` reads `"reports:4/queue:16"`. What a bulkhead can have besides (slots that are found by measuring) a
//! thread cannot: it costs a stack, and one that hangs is not given back.
//!
//! Invariants
//! - Declared threads are 1 to 1024.
//! - A wait is only ever set where there is a queue to wait in.

use proc_macro2::Ident;
use syn::parse::ParseStream;

use super::figures::{Grammar, Reader};
use super::text;
use super::value::{self, whole};
use crate::diag::Errors;
use crate::limits::{MOST_SLOTS, MOST_THREADS};

/// The threads a body runs on.
#[derive(Clone)]
pub(crate) struct Threads {
    pub(crate) name: String,
    /// `None` joins.
    pub(crate) declared: Option<Declared>,
}

/// The numbers of a set of threads that is declared here.
#[derive(Clone)]
pub(crate) struct Declared {
    pub(crate) threads: u32,
    pub(crate) queue: Option<u32>,
    /// Nanoseconds.
    pub(crate) wait: Option<u64>,
}

const EXAMPLE: &str = "isolate = \"reports:4/queue:16\"";

const GRAMMAR: Grammar = Grammar {
    what: "this",
    options: &[("queue", "number"), ("wait", "duration")],
    flags: &[],
    never: &[("fleet", "these are threads of this process, so there is no `/fleet`")],
    remedy: "write \"NAME:THREADS\", then `/queue:16`, `/wait:100ms`, both or neither",
    no_wait: "a wait of nothing is no queue",
};

pub(super) fn read(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Threads> {
    let lit = text(key, input, EXAMPLE, errors)?;
    let text = value::in_one_piece(key, &lit, errors)?;
    let (head, options) = text.split_once('/').map_or((&*text, None), |(head, options)| (head, Some(options)));
    let (name, threads) = head.split_once(':').map_or((head, None), |(name, threads)| (name, Some(threads)));
    let name = value::name(key, &lit, name, errors);
    let mut reader = Reader::new(key, &lit, errors, &GRAMMAR);
    match (threads, options) {
        (None, None) => Some(Threads { name: name?, declared: None }),
        (None, Some(_)) => {
            reader.wrong(
                "the number of threads is missing; the bare name joins threads, queue and all",
                format!("write \"{head}\" to join them, or \"{head}:4/queue:16\" to declare them"),
            );
            None
        }
        (Some(threads), options) => {
            let declared = reader.pool(threads, options);
            Some(Threads { name: name?, declared: Some(declared?) })
        }
    }
}

impl Reader<'_> {
    fn pool(&mut self, threads: &str, options: Option<&str>) -> Option<Declared> {
        let threads = self.threads(threads);
        let written = self.options(options.iter().flat_map(|options| options.split('/')));
        let queue = written.read("queue", |figure| self.thread_queue(figure));
        let wait = written.read("wait", |figure| self.wait(figure));
        if self.waits_without_queue(&written, &queue) {
            return None;
        }
        Some(Declared { threads: threads?, queue: queue.ok()?, wait: wait.ok()? }).filter(|_| written.all_known)
    }

    fn threads(&mut self, text: &str) -> Option<u32> {
        match whole(text) {
            Some(0) => self.wrong(
                "no call could ever run on 0 threads",
                "write how many there may be, 1 or more; to shut a function off, isolate its breaker",
            ),
            Some(threads) if threads <= MOST_THREADS => return u32::try_from(threads).ok(),
            _ if text == "auto" => self.wrong(
                "only a bulkhead finds its slots by measuring; a thread that hangs is not given back",
                "write the number of threads: \"reports:4\"",
            ),
            _ => self.wrong(
                format!("`{text}` cannot be the number of threads"),
                format!("write a whole number from 1 to {MOST_THREADS}: \"reports:4\""),
            ),
        }
        None
    }

    fn thread_queue(&mut self, text: &str) -> Option<u32> {
        let most = MOST_SLOTS - MOST_THREADS;
        let queue = whole(text).filter(|queue| *queue <= most).and_then(|queue| u32::try_from(queue).ok());
        if queue.is_none() {
            self.wrong(
                format!("`{text}` cannot be the length of the queue"),
                format!("write a whole number from 0 to {most}: \"reports:4/queue:16\""),
            );
        }
        queue
    }
}
