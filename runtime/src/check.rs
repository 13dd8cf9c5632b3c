//! What is wrong with the declarations of a binary, all at once and before the first call.
//!
//! A bulkhead that two functions declare with different numbers, or that one joins and nobody declares, works all the
//! same: the strictest declaration holds, an undeclared name gets a small compartment. But somebody meant something else,
//! and the place to say so is start-up or CI, with both source lines, not an incident.
//!
//! The catalogue knows every declaration of the binary, so the check needs nothing to have run and never depends on what
//! ran first.
//!
//! What only comes to light when several declarations are added up is in `pools`.
//!
//! Invariants: checking changes nothing; every finding names its source lines and what to write instead; equal
//! declarations of one name are no finding.

mod pools;

use std::collections::BTreeMap;
use std::fmt;

use crate::call::Identity;
use crate::catalogue;
use crate::declaration::Declaration;
use crate::strategies::breaker::{Rules, Window};
use crate::strategies::bulkhead::{self, Limits};
use crate::strategies::isolate::Limits as Threads;
use crate::strategies::rate::Figures;
use crate::strategies::retry::Allowance;
use pools::judge_pools;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Problem {
    /// Two functions declare one name with different figures.
    Conflict,
    /// A name is joined that no function declares, or a pool guarded that was not declared.
    Undeclared,
    /// A name is used with a key by some and without by others.
    KeyedByHalf,
    /// Bulkheads have more slots than the pool they guard has connections.
    Oversized,
    /// A function may ask again as often as it likes, and nothing but chance says how often that is.
    Unbudgeted,
}

/// One thing to change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What is wrong.
    pub problem: Problem,
    /// `"bulkhead"`, `"isolate"`, `"breaker"`, `"rate"`, `"budget"`, `"pool"` or `"hedge"`.
    pub strategy: &'static str,
    /// The name in question; a hedge has that of its function.
    pub name: &'static str,
    /// The functions concerned, in the order of module and line; where pools contradict, the places that declare them.
    pub sites: Vec<Identity>,
    /// What holds now, and what to write instead.
    pub remedy: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { problem, strategy, name, sites, remedy } = self;
        match problem {
            Problem::Conflict => write!(f, "{strategy} `{name}` is declared with different figures by ")?,
            Problem::KeyedByHalf => write!(f, "{strategy} `{name}` is used with a `key` by some and without by ")?,
            Problem::Undeclared if *strategy == "pool" => {
                write!(f, "pool `{name}` was not declared, and is guarded by ")?;
            }
            Problem::Undeclared => write!(f, "{strategy} `{name}` is joined, and declared nowhere, by ")?,
            Problem::Oversized => write!(f, "{strategy} `{name}` is smaller than what guards it, by ")?,
            Problem::Unbudgeted => write!(f, "{strategy} of `{name}` has no budget, at ")?,
        }
        for (place, site) in sites.iter().enumerate() {
            write!(f, "{}{site}", if place == 0 { "" } else { " and " })?;
        }
        write!(f, "; {remedy}")
    }
}

/// All findings; its Display is one line each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a report nobody reads finds nothing"]
pub struct Report {
    /// The findings, by strategy and name.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Fails if anything was found: for start-up and for CI.
    ///
    /// # Errors
    ///
    /// The report itself, if it is not empty.
    pub fn deny(self) -> Result<(), Self> {
        if self.findings.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.findings.iter().try_for_each(|finding| writeln!(f, "{finding}"))
    }
}

impl std::error::Error for Report {}

/// Checks every declaration of the binary.
///
/// ```
/// use watertight::resilient;
///
/// #[resilient(bulkhead = "doc-stock:8/queue:16")]
/// async fn in_stock() -> Result<bool, watertight::Error> {
///     Ok(true)
/// }
///
/// #[resilient(bulkhead = "doc-stock:4")]
/// async fn reserve() -> Result<(), watertight::Error> {
///     Ok(())
/// }
///
/// let report = watertight::check();
/// let finding = report.findings.iter().find(|finding| finding.name == "doc-stock").expect("found");
/// assert_eq!(finding.sites.len(), 2);
/// assert!(finding.remedy.contains("4 slots"));
/// assert!(report.deny().is_err());
/// ```
pub fn check() -> Report {
    let declarations: Vec<_> = catalogue::entries().into_iter().map(|entry| entry.declaration).collect();
    let bulkheads = named(&declarations, |it| {
        let figures = |to: &bulkhead::Config| to.limits.map(|limits| Slots { limits, total: to.total });
        it.bulkhead.map(|to| (to.name, it.observe.bulkhead, figures(&to)))
    });
    let isolates = named(&declarations, |it| it.isolate.map(|to| (to.name, false, to.limits)));
    let breakers = named(&declarations, |it| it.breaker.and_then(|to| Some((to.name?, it.observe.breaker, to.rules))));
    let rates = named(&declarations, |it| it.rate.and_then(|to| Some((to.name?, it.observe.rate, to.figures))));
    let budgets =
        named(&declarations, |it| it.retry.and_then(|to| Some((to.budget_name?, it.observe.retry, to.budget))));
    let bulkheads = judge_all("bulkhead", &bulkheads, Slots::stricter);
    let isolates = judge_all("isolate", &isolates, Threads::stricter);
    let breakers = judge_all("breaker", &breakers, Rules::stricter);
    let rates = judge_all("rate", &rates, Figures::stricter);
    let budgets = judge_all("budget", &budgets, Allowance::stricter);
    let slots = by_half("bulkhead", &declarations, |it| it.bulkhead.map(|to| (to.name, it.observe.bulkhead, to.keyed)));
    let tokens =
        by_half("rate", &declarations, |it| it.rate.and_then(|to| Some((to.name?, it.observe.rate, to.keyed))));
    let pools = judge_pools(&declarations);
    let hedges = declarations.iter().filter_map(|it| unbudgeted(it)).collect();
    Report { findings: [bulkheads, isolates, breakers, rates, budgets, slots, tokens, pools, hedges].concat() }
}

/// A hedge beside `budget = off`: when everything is slow, every call is made twice.
fn unbudgeted(declaration: &Declaration) -> Option<Finding> {
    let _ = declaration.hedge?;
    let retry = declaration.retry.filter(|retry| retry.budget.is_none() && retry.budget_name.is_none())?;
    let remedy = format!(
        "up to {} attempts a call when the dependency is slow; leave `budget = off` out, or write `budget = \"10%\"`",
        2 * (u64::from(retry.max) + 1)
    );
    let Identity { name, .. } = declaration.identity;
    let sites = vec![declaration.identity];
    Some(Finding { problem: Problem::Unbudgeted, strategy: "hedge", name, sites, remedy })
}

/// Who names what, and with which figures.
type Uses<T> = Vec<(Identity, Option<T>)>;

/// Uses by name; those who only observe it apart, since they share nothing with the others.
type Named<T> = BTreeMap<(&'static str, bool), Uses<T>>;

fn named<T>(
    declarations: &[&'static Declaration],
    read: impl Fn(&Declaration) -> Option<(&'static str, bool, Option<T>)>,
) -> Named<T> {
    let mut all = Named::new();
    for declaration in declarations {
        if let Some((name, observing, figures)) = read(declaration) {
            all.entry((name, observing)).or_default().push((declaration.identity, figures));
        }
    }
    all
}

fn judge_all<T: Copy + PartialEq + fmt::Display>(
    strategy: &'static str,
    all: &Named<T>,
    stricter: fn(T, T) -> T,
) -> Vec<Finding> {
    let is_declared = |uses: &Uses<T>| uses.iter().any(|(_, figures)| figures.is_some());
    let has_other = |(name, observing): (_, bool)| all.get(&(name, !observing)).is_some_and(is_declared);
    // Joining what is declared in the other mode is joining all the same.
    let judged = all.iter().filter(|(key, uses)| is_declared(uses) || !has_other(**key));
    judged.filter_map(|((name, _), uses)| judge(strategy, name, uses, stricter)).collect()
}

fn judge<T: Copy + PartialEq + fmt::Display>(
    strategy: &'static str,
    name: &'static str,
    uses: &Uses<T>,
    stricter: fn(T, T) -> T,
) -> Option<Finding> {
    let declared: Vec<T> = uses.iter().filter_map(|(_, figures)| *figures).collect();
    let Some(strictest) = declared.iter().copied().reduce(stricter) else {
        let sites = uses.iter().map(|(site, _)| *site).collect();
        let remedy = "write its figures at one of them".to_owned();
        return Some(Finding { problem: Problem::Undeclared, strategy, name, sites, remedy });
    };
    if declared.iter().all(|figures| *figures == declared[0]) {
        return None;
    }
    let sites = uses.iter().filter(|(_, figures)| figures.is_some()).map(|(site, _)| *site).collect();
    let remedy = format!(
        "the strictest of each figure holds ({strictest}); write them at one place and `{strategy} = \"{name}\"` at the others"
    );
    Some(Finding { problem: Problem::Conflict, strategy, name, sites, remedy })
}

/// The names that some use with a key and others without.
fn by_half(
    strategy: &'static str,
    declarations: &[&'static Declaration],
    read: impl Fn(&Declaration) -> Option<(&'static str, bool, bool)>,
) -> Vec<Finding> {
    let uses = named(declarations, |it| read(it).map(|(name, observing, keyed)| (name, observing, Some(keyed))));
    let finding = |((name, _), uses): ((&'static str, bool), Uses<bool>)| {
        let without: Vec<_> = uses.iter().filter(|(_, keyed)| *keyed == Some(false)).map(|(site, _)| *site).collect();
        let remedy = "those take their share of something no key has part in; give them a `key`, or another name";
        let problem = Problem::KeyedByHalf;
        let is_half = !without.is_empty() && without.len() < uses.len();
        is_half.then(|| Finding { problem, strategy, name, sites: without, remedy: remedy.to_owned() })
    };
    uses.into_iter().filter_map(finding).collect()
}

/// A bulkhead's figures, with what bounds its keys together.
#[derive(Clone, Copy, PartialEq)]
struct Slots {
    limits: Limits,
    total: Option<u32>,
}

impl Slots {
    fn stricter(self, other: Self) -> Self {
        let total = [self.total, other.total].into_iter().flatten().min();
        Self { limits: self.limits.stricter(other.limits), total }
    }
}

impl fmt::Display for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Limits { slots, queue } = self.limits;
        write!(f, "{slots} slots, queue of {queue}")?;
        self.total.map_or(Ok(()), |total| write!(f, ", total of {total}"))
    }
}

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} threads, queue of {}", self.threads, self.queue)
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { window, failures, min_calls, slow, cooldown, probes } = self;
        let length = std::time::Duration::from_nanos;
        match window {
            Window::Calls(calls) => write!(f, "window {calls}")?,
            Window::Time(nanos) => write!(f, "window {:?}", length(*nanos))?,
        }
        write!(f, ", failures {}%, min_calls {min_calls}", failures * 100.0)?;
        if let Some(slow) = slow {
            write!(f, ", slow {:?}, slow_rate {}%", length(slow.at_least), slow.rate * 100.0)?;
        }
        write!(f, ", cooldown {:?}, probes {probes}", length(*cooldown))
    }
}

impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}% of the calls and {} a second", self.per_call * 100.0, self.per_second)
    }
}
