//! What every guarded function of the binary says of itself, in a table.
//!
//! An attribute stands above its function, and a binary has hundreds of both in dozens of files. Whoever reviews a
//! release, or is woken by one, asks what is declared *everywhere*, and what the longest is that a call can take by its own
//! settings. So the declarations are written back here in the attribute's own words (`words`), each with its worst case
//! (`worst`), as a table and, with the feature `json`, as data.
//!
//! Invariants: reading changes nothing and needs nothing to have run; what is listed is what is written, never a default; a
//! worst case is never shorter than what can happen, as long as nobody else blocks the thread.

mod words;
mod worst;

use std::fmt;
use std::time::Duration;

use crate::base::text::{exact, write_columns};
use crate::call::Identity;
use crate::catalogue::entries;
use crate::declaration::Declaration;
pub use worst::WorstCase;

/// Every guarded function of the binary, with what it declares. Its Display is a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Catalogue {
    /// In the order of module and line.
    pub sites: Vec<Listed>,
}

/// One guarded function. Its Display is its attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// What it is called and where it stands.
    pub identity: Identity,
    /// What it declares, in the order of the pipeline, outermost first.
    pub settings: Vec<Setting>,
    /// The longest that a call of it can take by these settings.
    pub worst_case: WorstCase,
}

/// One key of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting {
    /// The key.
    pub key: &'static str,
    /// What is written, quotes included; empty where the key stands alone.
    pub value: String,
    /// Whether it only observes.
    pub observes: bool,
}

/// Lists every guarded function of the binary, called or not, with its settings and its worst case.
///
/// Guards that were put together by hand are listed once they are built.
///
/// ```
/// use watertight::resilient;
///
/// #[resilient(timeout = "300ms", bulkhead = "doc-listed:8/queue:16", retry = 2, deadline = "1s")]
/// async fn listed() -> Result<(), watertight::Error> {
///     Ok(())
/// }
///
/// let catalogue = watertight::catalogue();
/// let listed = catalogue.site("listed").expect("called or not");
/// assert_eq!(listed.to_string(), r#"deadline = "1s", retry = 2, bulkhead = "doc-listed:8/queue:16", timeout = "300ms""#);
/// // Three times 300 ms in the queue and 300 ms at work, and two pauses: more than the deadline, which therefore holds.
/// assert_eq!(listed.worst_case.without_deadline().unwrap().as_millis(), 3 * 600 + 50 + 100);
/// assert_eq!(listed.worst_case.longest().unwrap().as_secs(), 1);
/// println!("{catalogue}");
/// ```
pub fn catalogue() -> Catalogue {
    let declarations: Vec<_> = entries().into_iter().map(|entry| entry.declaration).collect();
    Catalogue { sites: declarations.iter().map(|it| Listed::of(it, &declarations)).collect() }
}

impl Catalogue {
    /// The first function of a name.
    pub fn site(&self, name: &str) -> Option<&Listed> {
        self.sites.iter().find(|site| site.identity.name == name)
    }

    /// The catalogue as JSON: an array of objects, lengths in milliseconds, `null` for what has no end.
    #[cfg(feature = "json")]
    pub fn to_json(&self) -> String {
        self.sites.iter().map(Listed::json).collect::<serde_json::Value>().to_string()
    }
}

impl Listed {
    /// `all` are the declarations of the binary, since figures of what is joined by name stand elsewhere.
    pub(crate) fn of(declaration: &Declaration, all: &[&Declaration]) -> Self {
        Self {
            identity: declaration.identity,
            settings: words::settings(declaration),
            worst_case: WorstCase::of(declaration, all),
        }
    }

    /// What it says for one key.
    pub fn setting(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key == key)
    }

    #[cfg(feature = "json")]
    pub(crate) fn json(&self) -> serde_json::Value {
        let Identity { name, module, file, line } = self.identity;
        let settings = self.settings.iter().map(|it| (it.key.to_owned(), serde_json::Value::from(it.value.as_str())));
        let observing: Vec<_> = self.settings.iter().filter(|it| it.observes).map(|it| it.key).collect();
        serde_json::json!({
            "function": name,
            "module": module,
            "file": file,
            "line": line,
            "attribute": self.to_string(),
            "settings": settings.collect::<serde_json::Map<_, _>>(),
            "observing": observing,
            "worst_case": self.worst_case.json(),
        })
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)?;
        match self.value.as_str() {
            "" => Ok(()),
            list if list.starts_with('(') => f.write_str(list),
            value => write!(f, " = {value}"),
        }
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, setting) in self.settings.iter().enumerate() {
            write!(f, "{}{setting}", if place == 0 { "" } else { ", " })?;
        }
        let observing: Vec<_> = self.settings.iter().filter(|it| it.observes).map(|it| it.key).collect();
        if observing.is_empty() { Ok(()) } else { write!(f, ", mode = observe({})", observing.join(", ")) }
    }
}

impl fmt::Display for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |site: &Listed| {
            let Identity { name, file, line, .. } = site.identity;
            let length = |length: Option<Duration>| length.map_or_else(|| "no end".to_owned(), in_figures);
            vec![name.to_owned(), length(site.worst_case.longest()), site.to_string(), format!("{file}:{line}")]
        };
        write_columns(
            f,
            &["function", "worst case", "settings", "source"],
            &[0, 2, 3],
            self.sites.iter().map(row).collect(),
        )
    }
}

/// A length of some milliseconds and more, exactly.
pub(crate) fn in_figures(length: Duration) -> String {
    exact(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
