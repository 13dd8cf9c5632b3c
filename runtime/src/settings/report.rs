//! What is in force, each value with its origin; and the way back into the code.
//!
//! A service that is set from four places is one nobody understands, unless it can be asked. So every figure of every
//! function can say where it stands, what the code said instead, and until when.
//!
//! Invariants: what is reported is what the pipelines were handed; a figure that is the code's says so.

use std::fmt;

use super::address::{Address, Scope};
use super::effective::{SWITCHED, adds, effective, is_enabled, may_be_switched, may_observe};
use super::figure::{figure, rule_of};
use super::keys::{Key, Of};
use super::merged::{Held, Merged, path_of};
use super::origin::Origin;
use super::store::{self, Source};
use super::value::Value;
use crate::call::Identity;
use crate::catalogue;
use crate::declaration::Declaration;
use crate::listing::Listed;

/// One figure of a function, as it is in force. Its Display is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InForce {
    /// The key, as settings have it: `timeout`, or `bulkhead.recs.slots` for what belongs to a name.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
    /// What the code says, where that is something else.
    pub declared: Option<String>,
}

impl fmt::Display for InForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, value, origin, declared } = self;
        write!(f, "{key} = {value} ({origin}")?;
        match declared {
            Some(declared) => write!(f, "; code: {declared})"),
            None => f.write_str(")"),
        }
    }
}

/// A function with every figure that is in force at it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SiteInForce {
    /// What it is called and where it stands.
    pub identity: Identity,
    /// Its figures, in the order of the pipeline.
    pub figures: Vec<InForce>,
}

impl SiteInForce {
    /// Whether anything of it is not the code's.
    pub fn is_set(&self) -> bool {
        self.figures.iter().any(|figure| figure.origin != Origin::Code)
    }

    /// One of its figures.
    pub fn figure(&self, key: &str) -> Option<&InForce> {
        self.figures.iter().find(|figure| figure.key == key)
    }
}

impl fmt::Display for SiteInForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = self.figures.iter().filter(|figure| figure.origin != Origin::Code);
        set.into_iter().try_for_each(|figure| writeln!(f, "{}: {figure}", self.identity))
    }
}

/// Every function with the figures that are in force at it, and where each comes from.
///
/// ```standalone_crate
/// use watertight::{resilient, settings};
///
/// #[resilient(timeout = "300ms")]
/// async fn stock_level() -> Result<u32, watertight::Error> {
///     Ok(3)
/// }
///
/// settings::Override::of("site.stock_level.timeout", "80ms").by("ann").apply()?;
/// let all = settings::in_force();
/// let site = all.iter().find(|it| it.identity.name == "stock_level").expect("listed");
/// let timeout = site.figure("timeout").expect("declared");
/// assert_eq!(timeout.to_string(), r#"timeout = "80ms" (override by ann; code: "300ms")"#);
/// # Ok::<_, settings::Mistakes>(())
/// ```
pub fn in_force() -> Vec<SiteInForce> {
    let merged = store::current();
    let all = catalogue::entries();
    all.into_iter().map(|entry| of_site(&merged, entry.declaration)).collect()
}

/// One function's.
pub(crate) fn of_site(merged: &Merged, declared: &Declaration) -> SiteInForce {
    let scopes = Merged::scopes_of(&declared.identity);
    let mut figures = Vec::new();
    let mut say = |key: String, held: Option<&Held>, own: Option<Value>| {
        let Some(value) = held.map(|held| held.value).or(own) else { return };
        // What has no end and no limit is nothing that was written.
        if held.is_none() && matches!(value, Value::Length(0 | u64::MAX)) {
            return;
        }
        let origin = held.map_or(Origin::Code, |held| held.origin.clone());
        let declared = own.filter(|own| *own != value && !matches!(own, Value::Length(0 | u64::MAX)));
        figures.push(InForce { key, value: value.to_string(), origin, declared: declared.map(|own| own.to_string()) });
    };
    for key in Key::all_of(Of::Function) {
        let own = figure(declared, key.name);
        let held = merged.find(&scopes, key.name).filter(|(scope, _)| own.is_some() || adds(declared, scope, key.name));
        say(key.name.to_owned(), held.map(|(_, held)| held), own);
    }
    for (strategy, enabled, mode) in SWITCHED {
        if !has(declared, strategy) {
            continue;
        }
        if let (false, Some(held)) = is_enabled(merged, &scopes, strategy, enabled)
            && may_be_switched(declared, strategy)
        {
            let off = Held { value: Value::Enabled(false), origin: held.origin.clone() };
            say(enabled.to_owned(), Some(&off), None);
        }
        if let Some(mode) = mode
            && let Some((_, held)) = merged.find_either(&scopes, mode, "mode")
            && may_observe(declared, strategy)
        {
            say(mode.to_owned(), Some(held), None);
        }
    }
    if let Some(held) =
        merged.find(&scopes, "breaker.force").filter(|_| declared.breaker.is_some_and(|it| it.name.is_none()))
    {
        say("breaker.force".to_owned(), Some(held.1), None);
    }
    of_names(merged, declared, &mut say);
    SiteInForce { identity: declared.identity, figures }
}

fn of_names(merged: &Merged, declared: &Declaration, say: &mut impl FnMut(String, Option<&Held>, Option<Value>)) {
    let mut name = |scope: Scope, own: &dyn Fn(&str) -> Option<Value>| {
        for key in Key::all_of(scope.of()) {
            let address = Address { scope: scope.clone(), key: key.name };
            say(address.to_string(), merged.get(&scope, key.name), own(key.name));
        }
    };
    if let Some(config) = declared.bulkhead {
        let limits = config.limits.filter(|_| config.floor.is_none());
        name(Scope::Bulkhead(config.name.to_owned()), &|key| {
            limits.map(|limits| Value::Whole(if key == "slots" { limits.slots } else { limits.queue }))
        });
    }
    if let Some(config) = declared.isolate {
        name(Scope::Isolate(config.name.to_owned()), &|key| {
            config.limits.map(|limits| Value::Whole(if key == "threads" { limits.threads } else { limits.queue }))
        });
    }
    if let Some(config) = declared.breaker
        && let Some(own) = config.name
    {
        name(Scope::Breaker(own.to_owned()), &|key| config.rules.and_then(|rules| rule_of(&rules, key)));
    }
    if let Some(config) = declared.rate
        && let Some(own) = config.name
    {
        name(Scope::Rate(own.to_owned()), &|_| config.figures.map(Value::Rate));
    }
    if let Some(config) = declared.retry
        && let Some(own) = config.budget_name
    {
        name(Scope::Budget(own.to_owned()), &|_| config.budget.map(Value::Allowance));
    }
}

fn has(declared: &Declaration, strategy: &str) -> bool {
    match strategy {
        "fallback" => declared.fallback.is_some(),
        "deadline" => declared.deadline.is_some(),
        "retry" => declared.retry.is_some(),
        "hedge" => declared.hedge.is_some(),
        "breaker" => declared.breaker.is_some(),
        "rate" => declared.rate.is_some(),
        "bulkhead" => declared.bulkhead.is_some(),
        _ => declared.timeout.is_some(),
    }
}

/// How the override of a figure is addressed, as it is set now or would be at this one function.
#[cfg_attr(not(feature = "dashboard"), allow(dead_code))]
pub(crate) fn address_in_force(merged: &Merged, it: &Identity, key: &str) -> String {
    let Some(known) = Key::find(Of::Function, key) else { return key.to_owned() };
    let scopes = Merged::scopes_of(it);
    let is_live = |held: &Held| matches!(held.origin, Origin::Live(_));
    let own = |scope: &Scope| merged.get(scope, known.name).filter(|held| is_live(held)).map(|_| known.name);
    let of_all =
        known.name.rsplit_once('.').and_then(|(_, word)| ["enabled", "mode"].into_iter().find(|it| *it == word));
    let found = scopes.iter().find_map(|scope| {
        let wide = of_all.filter(|key| merged.get(scope, key).is_some_and(is_live));
        own(scope).or(wide).map(|key| Address { scope: scope.clone(), key })
    });
    found.unwrap_or(Address { scope: Scope::Site(path_of(it)), key: known.name }).to_string()
}

/// The declarations as settings have changed them, for whoever judges what is in force.
pub(crate) fn all_effective(declared: &[&'static Declaration]) -> Vec<Declaration> {
    let merged = store::current();
    declared.iter().map(|it| effective(&merged, it)).collect()
}

/// The live overrides as attributes, to be pasted above their functions: what should stay belongs there. Empty without any.
///
/// A fallback and a predicate are code, and are shown as the bare key.
///
/// ```
/// use watertight::{resilient, settings};
///
/// #[resilient(timeout = "300ms", bulkhead = "doc-patched:8")]
/// async fn patched() -> Result<u32, watertight::Error> {
///     Ok(3)
/// }
///
/// settings::Override::of("bulkhead.doc-patched.slots", "12").apply()?;
/// assert!(settings::patch().ends_with("#[resilient(bulkhead = \"doc-patched:12\", timeout = \"300ms\")]\n"));
/// # Ok::<_, settings::Mistakes>(())
/// ```
pub fn patch() -> String {
    let live = Merged::of([&store::layer(Source::Live)]);
    let entries = catalogue::entries();
    let declarations: Vec<_> = entries.iter().map(|entry| entry.declaration).collect();
    let changed = declarations.iter().map(|it| (*it, effective(&live, it))).filter(|(before, after)| *before != after);
    changed.map(|(before, after)| as_attribute(before, &after)).collect()
}

/// One function's attribute with its live overrides; nothing without any.
#[cfg_attr(not(feature = "dashboard"), allow(dead_code))]
pub(crate) fn patch_of(declared: &Declaration) -> Option<String> {
    let live = Merged::of([&store::layer(Source::Live)]);
    let after = effective(&live, declared);
    (after != *declared).then(|| as_attribute(declared, &after))
}

fn as_attribute(before: &Declaration, after: &Declaration) -> String {
    let Identity { file, line, .. } = before.identity;
    let attribute = Listed::of(after, &[after]);
    format!("// {file}:{line} {}\n#[resilient({attribute})]\n", path_of(&before.identity))
}

/// What has changed between two moments, one line each.
#[cfg_attr(not(feature = "settings"), allow(dead_code))]
pub(super) fn differences(before: &Merged, after: &Merged) -> Vec<String> {
    let mut lines = Vec::new();
    for (address, held) in &after.all {
        match before.all.get(address) {
            Some(was) if was.value == held.value => {}
            Some(was) => lines.push(format!("{address} = {} ({}), was {}", held.value, held.origin, was.value)),
            None => lines.push(format!("{address} = {} ({})", held.value, held.origin)),
        }
    }
    let gone = before.all.keys().filter(|address| !after.all.contains_key(*address));
    lines.extend(gone.map(|address| format!("{address} is no longer set")));
    lines
}
