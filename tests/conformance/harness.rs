//! Rows, and how a run of them is judged.
//!
//! `libtest-mimic` brings what people and tools expect of a test binary: names, filters, `--list`, threads, the summary. It
//! does not say which test ended how, so each trial notes that itself, for the table.
//!
//! Invariants: every row has a runtime of its own with a paused clock; the table is compared only when every row ran.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use libtest_mimic::{Arguments, Trial};

use crate::table;

/// The whole list: an id and its class a line.
const IDS: &str = include_str!("ids.txt");

/// What belongs together, under one heading of the table.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) entries: Vec<Entry>,
}

/// One id and its verdict.
pub(crate) struct Entry {
    pub(crate) id: &'static str,
    pub(crate) verdict: Verdict,
}

pub(crate) enum Verdict {
    /// Tried: how it was adapted, and the test.
    Row { how: &'static str, test: String, run: Test },
    /// Shown by the tests of other rows.
    ShownBy { how: &'static str, rows: &'static [&'static str] },
    /// Not tried, and why.
    LeftOut(&'static str),
}

/// What is run, on a thread of the harness.
pub(crate) type Test = Arc<dyn Fn() + Send + Sync>;

/// `row!("RT-01", "how it was adapted", test)`: an async test without parameters.
macro_rules! row {
    ($id:literal, $how:expr, $test:ident) => {
        $crate::harness::entry($id, $how, concat!(module_path!(), "::", stringify!($test)), || {
            $crate::harness::paused(::std::boxed::Box::pin($test()));
        })
    };
    // One that stands in another file.
    ($id:literal, $how:expr, $module:ident::$test:ident) => {
        $crate::harness::entry($id, $how, concat!(stringify!($module), "::", stringify!($test)), || {
            $crate::harness::paused(::std::boxed::Box::pin($crate::$module::$test()));
        })
    };
}
pub(crate) use row;

/// What [`row!`] makes; for tests that are a kind and not a function of their own.
pub(crate) fn entry(id: &'static str, how: &'static str, test: &str, run: impl Fn() + Send + Sync + 'static) -> Entry {
    let test = test.strip_prefix("conformance::").unwrap_or(test).to_owned();
    Entry { id, verdict: Verdict::Row { how, test, run: Arc::new(run) } }
}

/// An id that needs no test of its own, since rows of others show it.
pub(crate) fn shown_by(id: &'static str, how: &'static str, rows: &'static [&'static str]) -> Entry {
    Entry { id, verdict: Verdict::ShownBy { how, rows } }
}

/// An id that is not tried.
pub(crate) fn left_out(id: &'static str, why: &'static str) -> Entry {
    Entry { id, verdict: Verdict::LeftOut(why) }
}

/// Runs a test to its end on a clock of its own, which is paused.
pub(crate) fn paused(test: Pin<Box<dyn Future<Output = ()>>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime with a clock").block_on(test);
}

/// Which ids there are, each with its class, in the order of the list.
pub(crate) fn ids() -> Vec<(&'static str, char)> {
    let lines = IDS.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(' ')).filter_map(|(id, class)| Some((id, class.chars().next()?))).collect()
}

/// Runs what the command line asks for.
pub(crate) fn run(sections: &[Section]) -> ExitCode {
    let arguments = Arguments::from_args();
    let wrong = misfiled(sections);
    if !wrong.is_empty() {
        eprintln!("tests/conformance/ids.txt and the rows do not agree:\n{}", wrong.join("\n"));
        return ExitCode::FAILURE;
    }
    let ended = Arc::new(Mutex::new(BTreeMap::new()));
    let trials = sections.iter().flat_map(|section| &section.entries).filter_map(|entry| trial(entry, &ended));
    let trials: Vec<_> = trials.collect();
    let rows = trials.len();
    let conclusion = libtest_mimic::run(&arguments, trials);
    let ended = ended.lock().unwrap();
    if ended.len() == rows && !table::is_up_to_date(sections, &ended) {
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}

/// Which rows passed, of those that ran.
pub(crate) type Ended = BTreeMap<&'static str, bool>;

impl Entry {
    /// How it was adapted, or why it was left out.
    pub(crate) fn says(&self) -> &'static str {
        let (Verdict::Row { how: says, .. } | Verdict::ShownBy { how: says, .. } | Verdict::LeftOut(says)) =
            self.verdict;
        says
    }

    /// Whether it was tried and passed, or every row that shows it did.
    pub(crate) fn passed(&self, ended: &Ended) -> bool {
        let passed = |id| ended.get(id) == Some(&true);
        match self.verdict {
            Verdict::Row { .. } => passed(self.id),
            Verdict::ShownBy { rows, .. } => rows.iter().all(|id| passed(*id)),
            Verdict::LeftOut(_) => false,
        }
    }
}

fn trial(entry: &Entry, ended: &Arc<Mutex<Ended>>) -> Option<Trial> {
    let Verdict::Row { test, run, .. } = &entry.verdict else { return None };
    let (id, run, ended) = (entry.id, Arc::clone(run), Arc::clone(ended));
    Some(Trial::test(format!("{id} {test}"), move || {
        ended.lock().unwrap().insert(id, false);
        run();
        ended.lock().unwrap().insert(id, true);
        Ok(())
    }))
}

/// What is wrong with the ids of the rows.
fn misfiled(sections: &[Section]) -> Vec<String> {
    let all = || sections.iter().flat_map(|section| &section.entries);
    let is_tried = |entry: &&Entry| matches!(entry.verdict, Verdict::Row { .. });
    let rows: BTreeSet<_> = all().filter(is_tried).map(|entry| entry.id).collect();
    let mut given = BTreeSet::new();
    let mut wrong = Vec::new();
    for entry in all() {
        if !given.insert(entry.id) {
            wrong.push(format!("{}: given twice", entry.id));
        }
        if entry.says().is_empty() || entry.says().contains(['|', '\n']) {
            wrong.push(format!("{}: has to say something, in one cell of a table", entry.id));
        }
        if let Verdict::ShownBy { rows: shown_by, .. } = entry.verdict {
            let is_row = |id: &&&str| rows.contains(**id);
            wrong.extend(shown_by.iter().filter(|id| !is_row(id)).map(|id| format!("{}: {id} is no row", entry.id)));
        }
    }
    let known: BTreeSet<_> = ids().into_iter().map(|(id, _)| id).collect();
    wrong.extend(given.difference(&known).map(|id| format!("{id}: not in the list")));
    wrong.extend(known.difference(&given).map(|id| format!("{id}: neither a row nor left out")));
    wrong
}
