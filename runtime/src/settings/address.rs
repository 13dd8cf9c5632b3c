//! Where a setting stands: which functions or which name it is about, and which figure of theirs.
//!
//! ```text
//!   kill_switch                                  the process
//!   defaults.KEY                                 every function
//!   module."shop::recs".KEY                      the functions of a module, and of the modules in it
//!   site."shop::recs::recommendations".KEY       one function
//!   bulkhead.recs.KEY, breaker.vendor.KEY, ..    what a name stands for
//! ```
//!
//! That is a path in a settings file, and the same as text elsewhere. The name may go without its quotes: what is a key is
//! known, so whatever stands in front of it is the name.
//!
//! Invariant: an address that was read has a key that there is, in a scope that can have it.

use std::fmt;

use super::keys::{Key, Of};

/// Whom a setting is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    Process,
    Defaults,
    Module(String),
    /// By its whole path.
    Site(String),
    Bulkhead(String),
    Isolate(String),
    Breaker(String),
    Rate(String),
    Budget(String),
}

/// The words in front.
pub(super) const KINDS: [&str; 9] =
    ["kill_switch", "defaults", "module", "site", "bulkhead", "isolate", "breaker", "rate", "budget"];

impl Scope {
    /// A scope that has a name, by its word.
    pub(super) fn named(kind: &str, name: &str) -> Option<Self> {
        let name = name.to_owned();
        Some(match kind {
            "module" => Self::Module(name),
            "site" => Self::Site(name),
            "bulkhead" => Self::Bulkhead(name),
            "isolate" => Self::Isolate(name),
            "breaker" => Self::Breaker(name),
            "rate" => Self::Rate(name),
            "budget" => Self::Budget(name),
            _ => return None,
        })
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Process => "",
            Self::Defaults => "defaults",
            Self::Module(_) => "module",
            Self::Site(_) => "site",
            Self::Bulkhead(_) => "bulkhead",
            Self::Isolate(_) => "isolate",
            Self::Breaker(_) => "breaker",
            Self::Rate(_) => "rate",
            Self::Budget(_) => "budget",
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Process | Self::Defaults => None,
            Self::Module(name)
            | Self::Site(name)
            | Self::Bulkhead(name)
            | Self::Isolate(name)
            | Self::Breaker(name)
            | Self::Rate(name)
            | Self::Budget(name) => Some(name),
        }
    }

    /// Which keys it can have.
    pub(super) fn of(&self) -> Of {
        match self {
            Self::Process => Of::Process,
            Self::Defaults | Self::Module(_) | Self::Site(_) => Of::Function,
            Self::Bulkhead(_) => Of::Bulkhead,
            Self::Isolate(_) => Of::Isolate,
            Self::Breaker(_) => Of::Breaker,
            Self::Rate(_) => Of::Rate,
            Self::Budget(_) => Of::Budget,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_bare = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        match self.name() {
            None => f.write_str(self.kind()),
            Some(name) if is_bare(name) && !name.is_empty() => write!(f, "{}.{name}", self.kind()),
            Some(name) => write!(f, "{}.\"{name}\"", self.kind()),
        }
    }
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Address {
    pub(crate) scope: Scope,
    /// As the table of keys has it.
    pub(crate) key: &'static str,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.scope, self.key) {
            (Scope::Process, key) => f.write_str(key),
            (scope, "") => write!(f, "{scope}"),
            (scope, key) => write!(f, "{scope}.{key}"),
        }
    }
}

/// An address as it was written, with a key that may not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) scope: Scope,
    pub(crate) key: String,
}

impl Written {
    /// Takes text apart; what is wrong with it otherwise.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "kill_switch" {
            return Ok(Self { scope: Scope::Process, key: text.to_owned() });
        }
        let Some((kind, rest)) = text.split_once('.') else { return Err(text.to_owned()) };
        if kind == "defaults" {
            return Ok(Self { scope: Scope::Defaults, key: rest.to_owned() });
        }
        if let Some((name, key)) = rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
            let key = key.strip_prefix('.').unwrap_or(key);
            let scope = Scope::named(kind, name).ok_or_else(|| kind.to_owned())?;
            return Ok(Self { scope, key: key.to_owned() });
        }
        let scope = Scope::named(kind, rest).ok_or_else(|| kind.to_owned())?;
        // The longest key that there is at the end; without one, whatever follows the last point is meant as one.
        let known = Key::all_of(scope.of()).flat_map(Key::spellings);
        let found = known.filter(|key| rest.strip_suffix(key).is_some_and(|name| name.ends_with('.')));
        let key = found.max_by_key(|key| key.len());
        let (name, key) = match key {
            Some(key) => (&rest[..rest.len() - key.len() - 1], key),
            None => rest.rsplit_once('.').unwrap_or((rest, "")),
        };
        Ok(Self { scope: Scope::named(kind, name).ok_or_else(|| kind.to_owned())?, key: key.to_owned() })
    }
}
