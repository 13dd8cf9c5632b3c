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
use syn::LitStr;
use syn::parse::ParseStream;

use super::text;
use super::value::{self, nanos, whole};
use crate::diag::{self, Errors};
use crate::limits::MOST_SLOTS;

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

/// More threads than anybody means. A thread reserves a stack, and a thousand that hang are no bound.
const MOST_THREADS: u64 = 1_024;

pub(super) fn read(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Threads> {
    let lit = text(key, input, EXAMPLE, errors)?;
    let text = value::in_one_piece(key, &lit, errors)?;
    let (head, options) = text.split_once('/').map_or((&*text, None), |(head, options)| (head, Some(options)));
    let (name, threads) = head.split_once(':').map_or((head, None), |(name, threads)| (name, Some(threads)));
    let name = value::name(key, &lit, name, errors);
    let mut reader = Reader { key, lit: &lit, errors };
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
            let declared = reader.declared(threads, options);
            Some(Threads { name: name?, declared: Some(declared?) })
        }
    }
}

/// Reads the numbers of one literal; every mistake lies on that literal, the smallest span there is.
struct Reader<'a> {
    key: &'a Ident,
    lit: &'a LitStr,
    errors: &'a mut Errors,
}

impl Reader<'_> {
    fn wrong(&mut self, what: impl std::fmt::Display, remedy: impl std::fmt::Display) {
        let what = format!("`{} = \"{}\"`: {what}", self.key, self.lit.value());
        self.errors.at(self.lit.span(), what, remedy);
    }

    fn declared(&mut self, threads: &str, options: Option<&str>) -> Option<Declared> {
        let threads = self.threads(threads);
        // `Some(None)` was written and is wrong: it has been reported, and must not be reported again as absent.
        let (mut queue, mut wait, mut unknown) = (None, None, false);
        for option in options.iter().flat_map(|options| options.split('/')) {
            match option.split_once(':') {
                Some(("queue", _)) if queue.is_some() => self.wrong("`queue` is given twice", "keep one of the two"),
                Some(("wait", _)) if wait.is_some() => self.wrong("`wait` is given twice", "keep one of the two"),
                Some(("queue", number)) => queue = Some(self.queue(number)),
                Some(("wait", length)) => wait = Some(self.wait(length)),
                _ => {
                    self.unknown(option);
                    unknown = true;
                }
            }
        }
        if wait.is_some() && !unknown && matches!(queue, None | Some(Some(0))) {
            self.wrong(
                "nobody waits where there is no queue",
                "add `/queue:N`, the number of callers that may wait, or remove `/wait`",
            );
            return None;
        }
        let queue = queue.map_or(Some(None), |queue| queue.map(Some))?;
        let wait = wait.map_or(Some(None), |wait| wait.map(Some))?;
        Some(Declared { threads: threads?, queue, wait }).filter(|_| !unknown)
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

    fn queue(&mut self, text: &str) -> Option<u32> {
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

    fn wait(&mut self, text: &str) -> Option<u64> {
        let wait = nanos(text, "a wait of nothing is no queue");
        wait.map_err(|(what, remedy)| self.wrong(format!("in `wait:{text}`, {what}"), remedy)).ok()
    }

    fn unknown(&mut self, option: &str) {
        let word = option.split(':').next().unwrap_or_default();
        let what = match word {
            "queue" => "`/queue` has no number".to_owned(),
            "wait" => "`/wait` has no duration".to_owned(),
            "" => "there is nothing after a `/`".to_owned(),
            _ => format!("`{word}` is no part of this"),
        };
        let meant = match diag::did_you_mean(word, &["queue", "wait"]) {
            Some(meant) if meant != word => format!("did you mean `{meant}`? "),
            _ => String::new(),
        };
        self.wrong(what, format!("{meant}write \"NAME:THREADS\", then `/queue:16`, `/wait:100ms`, both or neither"));
    }
}
