//! A settings file and the environment, read together.
//!
//! ```toml
//! [site."shop::recs::recommendations"]
//! timeout = "250ms"
//! retry = { max = 1, backoff = "20ms..1s" }
//!
//! [bulkhead]
//! recs = "12/queue:16"          # or a table with `slots` and `queue`
//! ```
//!
//! The same in the environment, where a name has neither colons nor points: capitals, and `_` for whatever is no letter and
//! no digit. Two of them part the words.
//!
//! ```text
//! WATERTIGHT_SITE__SHOP_RECS_RECOMMENDATIONS__TIMEOUT=250ms
//! WATERTIGHT_SITE__RECOMMENDATIONS__RETRY__MAX=1
//! WATERTIGHT_BULKHEAD__RECS__SLOTS=12
//! WATERTIGHT_KILL_SWITCH=1
//! WATERTIGHT_SETTINGS=/etc/shop/watertight.toml
//! ```
//!
//! **Which library.** Files are read by `toml`, since it keeps the place of every key and value, and a mistake without its line
//! is half a mistake. The crates that put layers together (`figment`, `config`) know the file of a value and not its line,
//! and the rules here are not theirs: a narrower scope goes before a stronger source, and a variable's name is found among
//! the binary's functions. What would be left to them is one map extended by another.
//!
//! Invariants: both are judged whole before anything of them is applied; reading blocks, so a task does it elsewhere.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::address::{Scope, Written};
use super::judge::{self, Judge, unknown_kind};
use super::keys::Key;
use super::live::note;
use super::merged::path_of;
use super::mistake::Mistakes;
use super::origin::Origin;
use super::store::{self, Source};
use super::value::Raw;

const PREFIX: &str = "WATERTIGHT_";

/// Where settings are read from: a file, and the environment above it.
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is read before `load` or `watch`"]
pub struct Outside {
    pub(super) path: Option<PathBuf>,
    variables: Option<Vec<(String, String)>>,
}

impl Outside {
    /// A file, and the environment above it. `WATERTIGHT_SETTINGS` names another file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { path: Some(path.into()), variables: None }
    }

    /// The environment alone, and the file that `WATERTIGHT_SETTINGS` names, if it names one.
    pub fn environment() -> Self {
        Self::default()
    }

    /// Takes these for the environment's variables, in a test for instance.
    pub fn variables<K: Into<String>, V: Into<String>>(mut self, all: impl IntoIterator<Item = (K, V)>) -> Self {
        self.variables = Some(all.into_iter().map(|(name, value)| (name.into(), value.into())).collect());
        self
    }

    /// Reads both and puts them in force, in place of what they said before. It blocks while it reads: call it at start-up.
    ///
    /// # Errors
    ///
    /// Every mistake in them, each with its place and what to write; then nothing changes.
    pub fn load(&self) -> Result<(), Mistakes> {
        let read = self.read();
        let text = read.as_ref().map(|(path, text)| (path.as_path(), text.as_ref()));
        self.apply(text)
    }

    fn all_variables(&self) -> Vec<(String, String)> {
        let is_ours = |name: &str| name.starts_with(PREFIX);
        let all = self.variables.clone().unwrap_or_else(|| {
            let own = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
            own.filter(|(name, _)| is_ours(name))
                .map(|(name, value)| (name, value.to_string_lossy().into_owned()))
                .collect()
        });
        all.into_iter().filter(|(name, _)| is_ours(name)).collect()
    }

    /// The file that holds: the one that the environment names, or the one that was given.
    pub(super) fn path(&self) -> Option<PathBuf> {
        let named = self.all_variables().into_iter().find(|(name, _)| name == "WATERTIGHT_SETTINGS");
        named.map(|(_, path)| PathBuf::from(path)).or_else(|| self.path.clone())
    }

    /// What the file holds. It blocks.
    pub(super) fn read(&self) -> Option<(PathBuf, Result<String, std::io::Error>)> {
        let path = self.path()?;
        let text = std::fs::read_to_string(&path);
        Some((path, text))
    }

    /// Judges what was read, and puts it in force.
    pub(super) fn apply(&self, file: Option<(&Path, Result<&String, &std::io::Error>)>) -> Result<(), Mistakes> {
        let applied = self.try_apply(file);
        store::note_rejected(applied.as_ref().err().cloned());
        applied
    }

    fn try_apply(&self, file: Option<(&Path, Result<&String, &std::io::Error>)>) -> Result<(), Mistakes> {
        let mut mistakes = Mistakes::default();
        let mut keep =
            |judged: Result<_, Mistakes>| judged.map_err(|more| mistakes.all.extend(more.all)).unwrap_or_default();
        let from_file = file.map(|(path, text)| keep(read_file(path, text))).unwrap_or_default();
        let from_variables = keep(read_variables(&self.all_variables()));
        let layers = mistakes.or((from_file, from_variables))?;
        judge::judge_together(&store::supposing([(Source::File, &layers.0), (Source::Environment, &layers.1)]))?;
        let before = store::current();
        store::change(|all| {
            all.insert(Source::File, layers.0);
            all.insert(Source::Environment, layers.1);
        });
        for act in super::report::differences(&before, &store::current()) {
            note("the settings", act);
        }
        Ok(())
    }
}

/// Reads a file of settings and the environment above it, once, and puts them in force: see [`Outside`].
///
/// # Errors
///
/// Every mistake in them, each with its place and what to write; then nothing changes.
pub fn load(path: impl Into<PathBuf>) -> Result<(), Mistakes> {
    Outside::file(path).load()
}

/// A file's text as settings.
fn read_file(path: &Path, text: Result<&String, &std::io::Error>) -> Result<super::merged::Layer, Mistakes> {
    let shown: Arc<str> = path.display().to_string().into();
    let at = |line| Origin::File { path: Arc::clone(&shown), line };
    let text = text.map_err(|error| {
        let what = format!("it cannot be read ({error})");
        Mistakes::one(at(1), "", what, "name a file that is there and can be read")
    })?;
    let line = |offset: usize| {
        let before = text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count();
        u32::try_from(before).map_or(u32::MAX, |before| before.saturating_add(1))
    };
    let mut judge = Judge::new();
    let (table, broken) = DeTable::parse_recoverable(text);
    for error in &broken {
        let place = at(line(error.span().map_or(0, |span| span.start)));
        judge.refuse(Mistakes::one(place, "", format!("this is no TOML: {}", error.message()), "correct this line"));
    }
    if broken.is_empty() {
        for (key, value) in table.get_ref() {
            walk_top(&mut judge, key.get_ref(), value, &|offset| at(line(offset)));
        }
    }
    // In the order of the lines; tables come in that of their names.
    judge.finish().map_err(|mut mistakes| {
        mistakes.all.sort_by_key(|mistake| if let Origin::File { line, .. } = mistake.origin { line } else { 0 });
        mistakes
    })
}

type Table<'a> = Spanned<DeValue<'a>>;

fn walk_top(judge: &mut Judge, kind: &str, value: &Table<'_>, at: &dyn Fn(usize) -> Origin) {
    let place = at(value.span().start);
    let scope = match (kind, value.get_ref()) {
        ("kill_switch", value) => {
            let written = Written { scope: Scope::Process, key: kind.to_owned() };
            return judge.take(&written, &raw(value), place);
        }
        ("defaults", DeValue::Table(table)) => return walk(judge, &Scope::Defaults, "", table, at),
        (_, DeValue::Table(table)) if Scope::named(kind, "").is_some() => table,
        _ if kind == "defaults" || Scope::named(kind, "").is_some() => {
            let what = format!("`{kind}` is a table");
            let head = if kind == "defaults" { "[defaults]".to_owned() } else { format!("[{kind}.NAME]") };
            return judge.refuse(Mistakes::one(place, kind, what, format!("write `{head}` and its keys below")));
        }
        _ => {
            let (what, remedy) = unknown_kind(kind);
            return judge.refuse(Mistakes::one(place, kind, what, remedy));
        }
    };
    for (name, value) in scope {
        let Some(scope) = Scope::named(kind, name.get_ref()) else { continue };
        let place = at(name.span().start);
        match value.get_ref() {
            DeValue::Table(table) => walk(judge, &scope, "", table, at),
            value => judge.take(&Written { scope, key: String::new() }, &raw(value), place),
        }
    }
}

/// The keys of a table, and of the tables in it.
fn walk(judge: &mut Judge, scope: &Scope, before: &str, table: &DeTable<'_>, at: &dyn Fn(usize) -> Origin) {
    for (name, value) in table {
        let name = name.get_ref();
        let key = if before.is_empty() { name.to_string() } else { format!("{before}.{name}") };
        match value.get_ref() {
            DeValue::Table(table) => walk(judge, scope, &key, table, at),
            found => judge.take(&Written { scope: scope.clone(), key }, &raw(found), at(value.span().start)),
        }
    }
}

fn raw(value: &DeValue<'_>) -> Raw {
    match value {
        DeValue::String(text) => Raw::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(&number.as_str().replace('_', ""), number.radix())
            .map_or(Raw::Other("a number"), Raw::Whole),
        DeValue::Float(number) => number.as_str().parse().map_or(Raw::Other("a number"), Raw::Decimal),
        DeValue::Boolean(flag) => Raw::Flag(*flag),
        DeValue::Datetime(_) => Raw::Other("a date"),
        DeValue::Array(_) => Raw::Other("a list"),
        DeValue::Table(_) => Raw::Other("a table"),
    }
}

/// A name as it can stand in a variable's: capitals, digits, and one `_` for whatever is neither.
fn in_capitals(name: &str) -> String {
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("_").to_ascii_uppercase()
}

/// The environment's variables as settings. One without `__` is none, but for the switch.
fn read_variables(all: &[(String, String)]) -> Result<super::merged::Layer, Mistakes> {
    let mut judge = Judge::new();
    for (variable, value) in all {
        let origin = Origin::Environment { variable: variable.as_str().into() };
        let bare = variable.trim_start_matches(PREFIX);
        if bare == "KILL_SWITCH" {
            judge.take(&Written { scope: Scope::Process, key: "kill_switch".to_owned() }, &Raw::word(value), origin);
            continue;
        }
        let Some((kind, rest)) = bare.split_once("__") else { continue };
        match written(&judge, &kind.to_ascii_lowercase(), rest) {
            Ok(written) => judge.take(&written, &Raw::word(value), origin),
            Err((what, remedy)) => judge.refuse(Mistakes::one(origin, "", what, remedy)),
        }
    }
    judge.finish()
}

/// What a variable's words mean: the longest key at the end, and the name before it, as the binary has it.
fn written(judge: &Judge, kind: &str, rest: &str) -> Result<Written, (String, String)> {
    let spelt = |key: &str| key.replace('.', "__").to_ascii_uppercase();
    if kind == "defaults" {
        return Ok(Written { scope: Scope::Defaults, key: rest.replace("__", ".").to_ascii_lowercase() });
    }
    let scope = Scope::named(kind, rest).ok_or_else(|| unknown_kind(kind))?;
    let known = Key::all_of(scope.of()).flat_map(Key::spellings);
    let ends = |key: &&str| rest.strip_suffix(spelt(key).as_str()).is_some_and(|name| name.ends_with("__"));
    let (name, key) = match known.filter(ends).max_by_key(|key| key.len()) {
        Some(key) => (&rest[..rest.len() - spelt(key).len() - 2], key.to_owned()),
        // What belongs to a name as a whole has no key.
        None if matches!(scope, Scope::Rate(_) | Scope::Budget(_)) => (rest, String::new()),
        None => rest
            .split_once("__")
            .map_or((rest, String::new()), |(name, key)| (name, key.replace("__", ".").to_ascii_lowercase())),
    };
    let wanted = in_capitals(name);
    let same = |known: &str| in_capitals(known) == wanted;
    let ends = |known: &str| same(known) || in_capitals(known).ends_with(&format!("_{wanted}"));
    let all = judge.declarations();
    let mut found: Vec<String> = match scope {
        Scope::Site(_) => {
            let paths: Vec<_> = all.iter().map(|it| path_of(&it.identity)).collect();
            let exact: Vec<_> = paths.iter().filter(|path| same(path)).cloned().collect();
            if exact.is_empty() { paths.into_iter().filter(|path| ends(path)).collect() } else { exact }
        }
        Scope::Module(_) => {
            let modules = all.iter().flat_map(|it| {
                std::iter::successors(Some(it.identity.module), |module| {
                    module.rsplit_once("::").map(|(outer, _)| outer)
                })
            });
            modules.filter(|module| same(module)).map(str::to_owned).collect()
        }
        _ => judge::names(all, &scope).into_iter().filter(|name| same(name)).map(str::to_owned).collect(),
    };
    found.sort_unstable();
    found.dedup();
    match found.as_slice() {
        [one] => Ok(Written { scope: Scope::named(kind, one).unwrap_or(scope), key }),
        // Told as for a file: with what was probably meant.
        [] => Ok(Written { scope: Scope::named(kind, &name.to_ascii_lowercase()).unwrap_or(scope), key }),
        several => Err((
            format!("`{name}` stands for several: {}", several.join(", ")),
            "write more of the path, or set it in the file".to_owned(),
        )),
    }
}
