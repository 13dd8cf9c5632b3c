//! What is wrong with the declarations of a binary, all at once and before the first call.
//!
//! A bulkhead that two functions declare with different numbers, or that one joins and nobody declares, works all the
//! same: the strictest declaration holds, an undeclared name gets a small compartment. But somebody meant something else,
//! and the place to say so is start-up or CI, with both source lines, not an incident.
//!
//! The catalogue knows every declaration of the binary, so the check needs nothing to have run and never depends on what
//! ran first.
//!
//! What only comes to light when several declarations are added up is in `pools` and `sharing`, what a call can take at
//! most in `time`. One finding cannot be read from declarations, since whether an error type says what its values mean is
//! known to the compiler where the function is compiled and nowhere else: it is made once such an error has been retried.
//!
//! Invariants: checking changes nothing; every finding names its source lines and what to write instead; equal
//! declarations of one name are no finding.

mod finding;
mod fleet;
mod pools;
mod sharing;
#[cfg(test)]
mod tests;
mod time;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::call::Identity;
use crate::catalogue::{self, Entry};
use crate::declaration::Declaration;
use crate::settings::{self, SiteInForce};
use crate::strategies::breaker::{Rules, Window};
use crate::strategies::bulkhead::{self, Limits};
use crate::strategies::isolate::Limits as Threads;
use crate::strategies::rate::{self, Figures};
use crate::strategies::retry::Allowance;
pub use finding::{Finding, Problem, Report};
use fleet::judge_fleet;
use pools::judge_pools;
use sharing::judge_sharing;
use time::judge_time;

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
    let entries = catalogue::entries();
    let declarations: Vec<_> = entries.iter().map(|entry| entry.declaration).collect();
    complete(judge_declarations(&declarations, None), &entries)
}

/// Like [`check()`], for a service whose every call is inside a deadline that the code does not show: of its server, a
/// gateway, or a test.
///
/// A function that has no end of its own is no finding, then; one that can take longer by its own settings is.
///
/// ```
/// use std::time::Duration;
/// use watertight::check::{self, Problem};
/// use watertight::resilient;
///
/// #[resilient(timeout = "3s")]
/// async fn slow_report() -> Result<(), watertight::Error> {
///     Ok(())
/// }
///
/// let report = check::within(Duration::from_secs(2));
/// let finding = report.findings.iter().find(|finding| finding.name == "slow_report").expect("found");
/// assert_eq!(finding.problem, Problem::Overlong);
/// ```
pub fn within(deadline: Duration) -> Report {
    let entries = catalogue::entries();
    let declarations: Vec<_> = entries.iter().map(|entry| entry.declaration).collect();
    complete(judge_declarations(&declarations, Some(deadline)), &entries)
}

/// With what declarations do not say: what has shown itself, and what is set from outside.
fn complete(mut report: Report, entries: &[Entry]) -> Report {
    report.findings.extend(entries.iter().filter_map(unclassified));
    report.findings.extend(settings::rejected().map(|mistakes| Finding {
        problem: Problem::Rejected,
        strategy: "settings",
        name: "settings",
        sites: Vec::new(),
        remedy: mistakes.to_string(),
    }));
    report.in_force = settings::in_force().into_iter().filter(SiteInForce::is_set).collect();
    report
}

/// What is wrong with these, inside a deadline if there is one around everything.
fn judge_declarations(declarations: &[&'static Declaration], around: Option<Duration>) -> Report {
    let bulkheads = named(declarations, |it| {
        let figures =
            |to: &bulkhead::Config| to.limits.map(|limits| Slots { limits, total: to.total, fleet: to.fleet });
        it.bulkhead.map(|to| (to.name, it.observe.bulkhead, figures(&to)))
    });
    let isolates = named(declarations, |it| it.isolate.map(|to| (to.name, false, to.limits)));
    let breakers = named(declarations, |it| it.breaker.and_then(|to| Some((to.name?, it.observe.breaker, to.rules))));
    let rates = named(declarations, |it| it.rate.and_then(|to| Some((to.name?, it.observe.rate, Tokens::of(&to)))));
    let budgets =
        named(declarations, |it| it.retry.and_then(|to| Some((to.budget_name?, it.observe.retry, to.budget))));
    let bulkheads = judge_all("bulkhead", &bulkheads, Slots::stricter);
    let isolates = judge_all("isolate", &isolates, Threads::stricter);
    let breakers = judge_all("breaker", &breakers, Rules::stricter);
    let rates = judge_all("rate", &rates, Tokens::stricter);
    let budgets = judge_all("budget", &budgets, Allowance::stricter);
    let slots = by_half("bulkhead", declarations, |it| it.bulkhead.map(|to| (to.name, it.observe.bulkhead, to.keyed)));
    let tokens = by_half("rate", declarations, |it| it.rate.and_then(|to| Some((to.name?, it.observe.rate, to.keyed))));
    let hedges = declarations.iter().filter_map(|it| unbudgeted(it)).collect();
    // By what is in force, which settings may have made longer or larger than what is written.
    let in_force = settings::all_effective(declarations);
    let in_force: Vec<&Declaration> = in_force.iter().collect();
    let pools = judge_pools(&in_force);
    let (shared, time) = (judge_sharing(declarations), judge_time(&in_force, around));
    let alone = judge_fleet(declarations);
    let all = [bulkheads, isolates, breakers, rates, budgets, slots, tokens, pools, hedges, shared, alone, time];
    Report { findings: all.concat(), in_force: Vec::new() }
}

/// An error was retried that nobody has classified, and trying twice may do something twice.
fn unclassified(entry: &Entry) -> Option<Finding> {
    let declaration = entry.declaration;
    if declaration.idempotent || !entry.tally.has_retried_unsaid() {
        return None;
    }
    let remedy = "implement `watertight::Classify` for its error type, or write `on = PREDICATE`, or `idempotent` if \
                  running it twice does no more than running it once"
        .to_owned();
    let Identity { name, .. } = declaration.identity;
    let sites = vec![declaration.identity];
    Some(Finding { problem: Problem::Unclassified, strategy: "retry", name, sites, remedy })
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
    fleet: bool,
}

impl Slots {
    fn stricter(self, other: Self) -> Self {
        let total = [self.total, other.total].into_iter().flatten().min();
        Self { limits: self.limits.stricter(other.limits), total, fleet: self.fleet || other.fleet }
    }
}

/// A rate's figures, and whether they are a fleet's.
#[derive(Clone, Copy, PartialEq)]
struct Tokens {
    figures: Figures,
    fleet: bool,
}

impl Tokens {
    fn of(config: &rate::Config) -> Option<Self> {
        config.figures.map(|figures| Self { figures, fleet: config.fleet })
    }

    fn stricter(self, other: Self) -> Self {
        Self { figures: self.figures.stricter(other.figures), fleet: self.fleet || other.fleet }
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.figures, if self.fleet { ", over the fleet" } else { "" })
    }
}

impl fmt::Display for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Limits { slots, queue } = self.limits;
        write!(f, "{slots} slots, queue of {queue}")?;
        self.total.map_or(Ok(()), |total| write!(f, ", total of {total}"))?;
        f.write_str(if self.fleet { ", over the fleet" } else { "" })
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
        let length = Duration::from_nanos;
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
