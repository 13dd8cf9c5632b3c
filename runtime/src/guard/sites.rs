//! The sites of guards, by name, and the names themselves.
//!
//! A site's identity is `'static` everywhere: in errors that travel, in figures, in the registry. A guard's site and any
//! name that was put together at run time are therefore leaked, once per name, which is bounded by what somebody wrote
//! down. The alternative, counted references down to every error, would put a counter on the path of each call.
//!
//! Invariants: a name has one site; a site's declaration is the one it was built with; the lock is held while a name is
//! looked up or entered, and never while a call runs.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::declaration::Declaration;
use crate::site::Site;

#[derive(Default)]
struct Known {
    sites: BTreeMap<&'static str, &'static Site>,
    names: BTreeSet<&'static str>,
}

fn known() -> MutexGuard<'static, Known> {
    static KNOWN: OnceLock<Mutex<Known>> = OnceLock::new();
    KNOWN.get_or_init(Default::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// A name that lives as long as the process.
pub(super) fn interned(name: Cow<'static, str>) -> &'static str {
    let name = match name {
        Cow::Borrowed(name) => return name,
        Cow::Owned(name) => name,
    };
    let mut known = known();
    if let Some(known) = known.names.get(name.as_str()) {
        return known;
    }
    let name: &'static str = Box::leak(name.into_boxed_str());
    known.names.insert(name);
    name
}

/// The site of a declaration, listed and with its figures in force from now on; or what is wrong if the name was built with other settings before.
pub(super) fn site(declared: &Declaration) -> Result<&'static Site, String> {
    let mut known = known();
    if let Some(site) = known.sites.get(declared.identity.name) {
        let before = site.declaration();
        let same = Declaration { identity: before.identity, ..*declared } == *before;
        return if same { Ok(site) } else { Err(differs(before, declared)) };
    }
    let site: &'static Site = Box::leak(Box::new(Site::new(*declared)));
    known.sites.insert(declared.identity.name, site);
    drop(known);
    site.ready();
    Ok(site)
}

fn differs(before: &Declaration, now: &Declaration) -> String {
    let parts = [
        ("timeout", before.timeout == now.timeout),
        ("deadline", before.deadline == now.deadline),
        ("bulkhead", before.bulkhead == now.bulkhead),
        ("rate", before.rate == now.rate),
        ("breaker", before.breaker == now.breaker),
        ("retry", before.retry == now.retry),
        ("hedge", before.hedge == now.hedge),
        ("last_good", before.fallback == now.fallback),
        ("idempotent", before.idempotent == now.idempotent),
    ];
    let other: Vec<_> = parts.iter().filter(|(_, same)| !same).map(|(part, _)| format!("`{part}`")).collect();
    let (file, line) = (before.identity.file, before.identity.line);
    format!(
        "a guard of this name was built at {file}:{line} with other settings ({}), and only one of the two could hold; \
         give one of them another name, or both the same settings",
        other.join(", ")
    )
}
