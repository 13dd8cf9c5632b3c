//! All that settings say at one moment, each address once.
//!
//! ```text
//!   1  which source    override ▸ environment ▸ file          one value for each address
//!   2  which scope     site ▸ innermost module ▸ .. ▸ defaults   one value for each function and key
//!   3  else            what the code says
//! ```
//!
//! In this order: a source replaces an address of the one below, and a narrower scope then goes before a wider one, wherever
//! it was written. So an environment variable for all functions does not undo a line for one of them, and whoever wants that
//! names the one.
//!
//! Invariant: pure; the same sources give the same answer in whichever order they came.

use std::collections::BTreeMap;

use super::address::{Address, Scope};
use super::origin::Origin;
use super::value::{Force, Value};
use crate::call::Identity;

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Held {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// What one source says.
pub(crate) type Layer = BTreeMap<Address, Held>;

/// What all of them say.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Merged {
    pub(crate) all: Layer,
}

/// Whether a module is another or lies in it.
pub(super) fn is_within(module: &str, outer: &str) -> bool {
    module.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The path of a function.
pub(crate) fn path_of(it: &Identity) -> String {
    format!("{}::{}", it.module, it.name)
}

impl Merged {
    /// The layers, the strongest first.
    pub(super) fn of<'a>(layers: impl IntoIterator<Item = &'a Layer>) -> Self {
        let mut all = Layer::new();
        for layer in layers {
            for (address, held) in layer {
                all.entry(address.clone()).or_insert_with(|| held.clone());
            }
        }
        Self { all }
    }

    pub(crate) fn get(&self, scope: &Scope, key: &'static str) -> Option<&Held> {
        self.all.get(&Address { scope: scope.clone(), key })
    }

    /// The scopes of a function, the narrowest first.
    pub(super) fn scopes_of(it: &Identity) -> Vec<Scope> {
        let mut scopes = vec![Scope::Site(path_of(it))];
        let mut module = it.module;
        while !module.is_empty() {
            scopes.push(Scope::Module(module.to_owned()));
            module = module.rsplit_once("::").map_or("", |(outer, _)| outer);
        }
        scopes.push(Scope::Defaults);
        scopes
    }

    /// What is said of a function's key, and by which scope.
    pub(super) fn find<'a>(&'a self, scopes: &'a [Scope], key: &'static str) -> Option<(&'a Scope, &'a Held)> {
        scopes.iter().find_map(|scope| Some((scope, self.get(scope, key)?)))
    }

    /// The same where a word for all strategies stands behind the strategy's own, scope by scope.
    pub(super) fn find_either<'a>(
        &'a self,
        scopes: &'a [Scope],
        key: &'static str,
        of_all: &'static str,
    ) -> Option<(&'a Scope, &'a Held)> {
        scopes.iter().find_map(|scope| Some((scope, self.get(scope, key).or_else(|| self.get(scope, of_all))?)))
    }

    /// The switch for everything but fallbacks.
    pub(super) fn kill_switch(&self) -> Option<&Held> {
        self.get(&Scope::Process, "kill_switch").filter(|held| held.value == Value::Enabled(true))
    }

    fn as_force(held: &Held) -> Option<Force> {
        if let Value::Force(force) = held.value { Some(force) } else { None }
    }

    /// What the breaker of a name is held to.
    pub(crate) fn force(&self, name: &str) -> Option<Force> {
        self.get(&Scope::Breaker(name.to_owned()), "force").and_then(Self::as_force)
    }

    /// What a function's own breaker is held to.
    pub(crate) fn own_force(&self, it: &Identity) -> Option<Force> {
        let scopes = Self::scopes_of(it);
        self.find(&scopes, "breaker.force").and_then(|(_, held)| Self::as_force(held))
    }
}
