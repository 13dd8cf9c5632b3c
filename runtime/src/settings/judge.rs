//! Whether what is written makes sense in this binary: the function is there, and has what is to be changed.
//!
//! The catalogue knows every function with its declaration, so a misspelt name, a figure for a strategy that a function
//! does not have, or one that belongs to a name, is told before anything is applied. A wide scope says what holds where it
//! applies, and is silent about functions that have no use for it; a line about one function is meant for that function.
//!
//! Invariants: nothing that passes can make a call panic, or be refused without a place for the refusal; every mistake is
//! told, not only the first.

use super::address::{Address, KINDS, Scope, Written};
use super::effective::{adds, limits, may_be_switched, may_observe, rules};
use super::figure::figure;
use super::keys::{Key, Wrong};
use super::merged::{Held, Layer, Merged, is_within, path_of};
use super::mistake::{Mistake, Mistakes};
use super::nearest::{did_you_mean, nearest};
use super::origin::Origin;
use super::value::{Raw, Value};
use crate::catalogue;
use crate::declaration::Declaration;
use crate::declaration::limits::MOST_SLOTS;
use crate::strategies::breaker::{Rules, Window};

/// What is written, line by line, made into a layer.
pub(super) struct Judge {
    declarations: Vec<&'static Declaration>,
    layer: Layer,
    mistakes: Mistakes,
}

type Judged<T> = Result<T, (String, String)>;

fn wrong<T>(what: impl Into<String>, remedy: impl Into<String>) -> Judged<T> {
    Err((what.into(), remedy.into()))
}

impl Judge {
    pub(super) fn new() -> Self {
        let declarations = catalogue::entries().into_iter().map(|entry| entry.declaration).collect();
        Self { declarations, layer: Layer::new(), mistakes: Mistakes::default() }
    }

    /// Takes in one setting.
    pub(super) fn take(&mut self, written: &Written, raw: &Raw, origin: Origin) {
        if let (Scope::Bulkhead(_) | Scope::Isolate(_), "", Raw::Text(text)) =
            (&written.scope, written.key.as_str(), raw)
        {
            return self.take_figures(&written.scope, text, &origin);
        }
        let wrong = match self.judge(written, raw) {
            Ok((address, value)) => match self.layer.get(&address) {
                None => {
                    self.layer.insert(address, Held { value, origin });
                    return;
                }
                Some(before) => (format!("this is set at {} already", before.origin), "keep one of the two".to_owned()),
            },
            Err(wrong) => wrong,
        };
        let Written { scope, key } = written;
        let setting = match (scope, key.as_str()) {
            (Scope::Process, key) => format!("{key} = {raw}"),
            (scope, "") => format!("{scope} = {raw}"),
            (scope, key) => format!("{scope}.{key} = {raw}"),
        };
        let (what, remedy) = wrong;
        self.mistakes.all.push(Mistake { origin, setting, what, remedy });
    }

    /// `"12/queue:16"`, as in the attribute, with or without the name in front.
    fn take_figures(&mut self, scope: &Scope, text: &str, origin: &Origin) {
        let bare = scope.name().and_then(|name| text.strip_prefix(name)?.strip_prefix(':')).unwrap_or(text);
        let first = if matches!(scope, Scope::Isolate(_)) { "threads" } else { "slots" };
        for (place, part) in bare.split('/').enumerate() {
            let (key, figure) = if place == 0 { (first, part) } else { part.split_once(':').unwrap_or((part, "")) };
            if key == "wait" {
                let what = "how long a call waits is its function's figure, not the name's";
                let remedy = format!("write `{}.wait` of the function", scope.kind());
                self.refuse(Mistakes::one(origin.clone(), format!("{scope} = \"{text}\""), what, remedy));
                continue;
            }
            let written = Written { scope: scope.clone(), key: key.to_owned() };
            self.take(&written, &Raw::word(figure), origin.clone());
        }
    }

    /// One more mistake, found by whoever reads.
    pub(super) fn refuse(&mut self, mistakes: Mistakes) {
        self.mistakes.all.extend(mistakes.all);
    }

    /// The layer, if nothing in it is wrong.
    pub(super) fn finish(self) -> Result<Layer, Mistakes> {
        self.mistakes.or(self.layer)
    }

    /// The address that is meant, however much of a path was written.
    pub(super) fn address(&self, written: &Written) -> Option<Address> {
        let scope = self.scope(&written.scope).ok()?;
        let key = Key::find(scope.of(), &written.key)?.name;
        Some(Address { scope, key })
    }

    /// Every function, for whoever has to find one by another spelling.
    #[cfg_attr(not(feature = "settings"), allow(dead_code))]
    pub(super) fn declarations(&self) -> &[&'static Declaration] {
        &self.declarations
    }

    fn judge(&self, written: &Written, raw: &Raw) -> Judged<(Address, Value)> {
        let scope = self.scope(&written.scope)?;
        let of = scope.of();
        let Some(key) = Key::find(of, &written.key) else {
            let all: Vec<_> = Key::all_of(of).flat_map(Key::spellings).collect();
            let kind = scope.kind();
            return match written.key.as_str() {
                "" => wrong(format!("a {kind} has several figures"), format!("write one of them: {}", all.join(", "))),
                unknown => {
                    let meant =
                        nearest(unknown, all.iter().copied()).and_then(|it| Some((it, Key::find(of, it)?.form)));
                    let remedy = match meant {
                        Some((meant, form)) => format!("did you mean `{meant} = {form}`?"),
                        None => format!("the keys are {}", all.join(", ")),
                    };
                    wrong(format!("`{unknown}` is no key of `{kind}`"), remedy)
                }
            };
        };
        let value = (key.read)(raw).map_err(|Wrong(what, instead)| (what, instead))?;
        if let Scope::Site(path) = &scope {
            for declared in self.declarations.iter().filter(|it| path_of(&it.identity) == *path) {
                fits_site(declared, &scope, key.name, value)?;
            }
        }
        if let (Scope::Bulkhead(name), "slots") = (&scope, key.name)
            && self.declarations.iter().any(|it| it.bulkhead.is_some_and(|it| it.name == name && it.floor.is_some()))
        {
            return wrong(
                "the slots of this bulkhead are found by measuring",
                "write them in the attribute, instead of `auto`",
            );
        }
        Ok((Address { scope, key: key.name }, value))
    }

    /// The scope with its name as the binary has it.
    fn scope(&self, scope: &Scope) -> Judged<Scope> {
        let name = scope.name().unwrap_or_default();
        let known = |names: Vec<&'static str>| {
            if names.contains(&name) {
                return Ok(scope.clone());
            }
            let what = format!("nothing declares a {} of this name", scope.kind());
            wrong(what, did_you_mean(name, names, "write the name as the attribute has it"))
        };
        match scope {
            Scope::Process | Scope::Defaults => Ok(scope.clone()),
            Scope::Site(name) => self.site(name),
            Scope::Module(name) => {
                let modules = || self.declarations.iter().map(|it| it.identity.module);
                if modules().any(|module| is_within(module, name)) {
                    return Ok(scope.clone());
                }
                let remedy = did_you_mean(name, modules(), "write the module's path: \"shop::recs\"");
                wrong("there is no guarded function in a module of this name", remedy)
            }
            named => known(names(&self.declarations, named)),
        }
    }

    /// A function by its path, or as much of its end as tells it from others.
    fn site(&self, name: &str) -> Judged<Scope> {
        let mut paths: Vec<_> = self.declarations.iter().map(|it| path_of(&it.identity)).collect();
        paths.sort_unstable();
        paths.dedup();
        if paths.iter().any(|path| path == name) {
            return Ok(Scope::Site(name.to_owned()));
        }
        let fits = |path: &&String| path.strip_suffix(name).is_some_and(|before| before.ends_with("::"));
        let meant: Vec<_> = paths.iter().filter(fits).collect();
        match meant.as_slice() {
            [one] => Ok(Scope::Site((*one).clone())),
            [] => {
                let remedy = did_you_mean(
                    name,
                    paths.iter().map(String::as_str),
                    "write its path: \"shop::recs::recommendations\"",
                );
                wrong("there is no guarded function of this name", remedy)
            }
            several => {
                let all: Vec<_> = several.iter().map(|path| format!("`{path}`")).collect();
                wrong("several functions have this name", format!("write one of {}", all.join(", ")))
            }
        }
    }
}

/// The names of a kind that the binary has.
pub(super) fn names(declarations: &[&'static Declaration], scope: &Scope) -> Vec<&'static str> {
    let all = declarations.iter();
    match scope {
        Scope::Bulkhead(_) => all.filter_map(|it| Some(it.bulkhead?.name)).collect(),
        Scope::Isolate(_) => all.filter_map(|it| Some(it.isolate?.name)).collect(),
        Scope::Breaker(_) => all.filter_map(|it| it.breaker?.name).collect(),
        Scope::Rate(_) => all.filter_map(|it| it.rate?.name).collect(),
        Scope::Budget(_) => all.filter_map(|it| it.retry?.budget_name).collect(),
        Scope::Process | Scope::Defaults | Scope::Module(_) | Scope::Site(_) => Vec::new(),
    }
}

/// What is wrong with the word in front.
pub(super) fn unknown_kind(kind: &str) -> (String, String) {
    let known = format!("begin with one of {}", KINDS.join(", "));
    (format!("`{kind}` is nothing that has settings"), did_you_mean(kind, KINDS, &known))
}

/// Whether a figure can be set at this very function.
fn fits_site(declared: &Declaration, scope: &Scope, key: &'static str, value: Value) -> Judged<()> {
    let strategy = key.split('.').next().unwrap_or_default();
    let at = format!("{}:{}", declared.identity.file, declared.identity.line);
    let has = match strategy {
        "fallback" => declared.fallback.is_some(),
        "deadline" => declared.deadline.is_some(),
        "retry" => declared.retry.is_some(),
        "hedge" => declared.hedge.is_some(),
        "breaker" => declared.breaker.is_some(),
        "rate" => declared.rate.is_some(),
        "bulkhead" => declared.bulkhead.is_some(),
        "isolate" => declared.isolate.is_some(),
        "timeout" => declared.timeout.is_some(),
        _ => return Ok(()),
    };
    if !has {
        if adds(declared, scope, key) {
            return Ok(());
        }
        let why = if matches!(key, "timeout" | "deadline") {
            format!("the function at {at} has no `{strategy}`, and no place for the refusal that one would bring")
        } else {
            format!("the function at {at} has no `{strategy}`")
        };
        return wrong(why, format!("add `{strategy}` to its attribute first, settings can then change it"));
    }
    match value {
        Value::Enabled(false) if !may_be_switched(declared, strategy) => wrong(
            format!("the fallback at {at} answers for everything, and without it there would be no answer"),
            "leave it on, or narrow it in the attribute with `on = [..]` or `limit`",
        ),
        Value::Observes(true) if !may_observe(declared, strategy) => wrong(
            format!(
                "the {strategy} at {at} has a `key`, and its mode cannot change while calls hold a key's compartment"
            ),
            format!(
                "write `mode({strategy} = observe)` in the attribute, or switch it off: `{strategy}.enabled = false`"
            ),
        ),
        Value::Observes(false) if observes(declared, strategy) => wrong(
            format!("the attribute at {at} says `observe`, so the function may have no place for a refusal"),
            "take `mode` out of the attribute first",
        ),
        Value::Enabled(_) | Value::Observes(_) | Value::Force(_) if !is_anothers(declared, key) => Ok(()),
        Value::Enabled(_) | Value::Observes(_) => Ok(()),
        _ if figure(declared, key).is_some() => Ok(()),
        _ if key == "retry.budget" && declared.retry.is_some_and(|it| it.budget_name.is_none()) => {
            wrong(format!("the attribute at {at} says `budget = off`"), "write a budget in the attribute first")
        }
        _ => {
            let (kind, name) = name_of(declared, key);
            let figure =
                key.split_once('.').map_or("value", |(_, figure)| if figure == "budget" { "value" } else { figure });
            wrong(
                format!("the {kind} of the function at {at} is shared by name, and so are its figures"),
                format!("write `{kind}.{name}.{figure}`"),
            )
        }
    }
}

fn observes(declared: &Declaration, strategy: &str) -> bool {
    let observe = declared.observe;
    match strategy {
        "deadline" => observe.deadline,
        "retry" => observe.retry,
        "breaker" => observe.breaker,
        "rate" => observe.rate,
        "bulkhead" => observe.bulkhead,
        _ => observe.timeout,
    }
}

/// Whether a breaker's figure is its name's.
fn is_anothers(declared: &Declaration, key: &str) -> bool {
    key.starts_with("breaker.") && declared.breaker.is_some_and(|it| it.name.is_some())
}

/// The name whose figure it is.
fn name_of(declared: &Declaration, key: &str) -> (&'static str, &'static str) {
    let unknown = "..";
    match key.split('.').next() {
        Some("breaker") => ("breaker", declared.breaker.and_then(|it| it.name).unwrap_or(unknown)),
        Some("rate") => ("rate", declared.rate.and_then(|it| it.name).unwrap_or(unknown)),
        _ => ("budget", declared.retry.and_then(|it| it.budget_name).unwrap_or(unknown)),
    }
}

/// What is wrong with all that would be set, taken together.
pub(super) fn judge_together(merged: &Merged) -> Result<(), Mistakes> {
    let declarations: Vec<_> = catalogue::entries().into_iter().map(|entry| entry.declaration).collect();
    Mistakes { all: together(merged, &declarations) }.or(())
}

/// Figures that are fine alone and wrong together.
fn together(merged: &Merged, declarations: &[&'static Declaration]) -> Vec<Mistake> {
    let mut all = Vec::new();
    let mut say = |scope: &Scope, keys: &[&'static str], what: &str, remedy: &str| {
        // Told where one of the two stands; the other may be in the code.
        let held = keys.iter().find_map(|key| Some((*key, merged.get(scope, key)?)));
        let Some((key, held)) = held else { return };
        let setting = format!("{} = {}", Address { scope: scope.clone(), key }, held.value);
        let (origin, what, remedy) = (held.origin.clone(), what.to_owned(), remedy.to_owned());
        all.push(Mistake { origin, setting, what, remedy });
    };
    let mut seen = std::collections::BTreeSet::new();
    for declared in declarations {
        if let Some(config) = declared.bulkhead
            && let (Some(own), true) = (config.limits, seen.insert(("bulkhead", config.name)))
        {
            let it = limits(merged, config.name, own);
            let scope = Scope::Bulkhead(config.name.to_owned());
            if u64::from(it.slots) + u64::from(it.queue) > MOST_SLOTS {
                let what = "slots and queue together come to more than a million";
                say(&scope, &["slots", "queue"], what, "write smaller numbers");
            }
            if config.total.is_some_and(|total| total < it.slots) {
                let what = "the total over all keys leaves no key all of its slots";
                say(&scope, &["slots"], what, "write fewer slots for each key, or a larger `total` in the attribute");
            }
        }
        if let Some(config) = declared.breaker
            && let (Some(name), Some(own)) = (config.name, config.rules)
            && seen.insert(("breaker", name))
        {
            judge_rules(&rules(merged, name, own), &Scope::Breaker(name.to_owned()), ["min_calls", "window"], &mut say);
        }
        if let Some(config) = super::effective::effective(merged, declared).breaker.filter(|it| it.name.is_none())
            && let Some(rules) = config.rules
        {
            for scope in Merged::scopes_of(&declared.identity) {
                judge_rules(&rules, &scope, ["breaker.min_calls", "breaker.window"], &mut say);
            }
        }
    }
    all
}

fn judge_rules(
    rules: &Rules,
    scope: &Scope,
    keys: [&'static str; 2],
    say: &mut impl FnMut(&Scope, &[&'static str], &str, &str),
) {
    if let Window::Calls(window) = rules.window
        && rules.min_calls > window
    {
        say(
            scope,
            &keys,
            &format!("a window of {window} never holds {} results", rules.min_calls),
            "write a larger window, or a smaller `min_calls`",
        );
    }
}
