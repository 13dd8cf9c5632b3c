//! Overrides of a running process: who, since when, until when; and a record of them.
//!
//! An override stands above file and environment. It is made by hand, from the dashboard or by code, in the middle of
//! something, and is forgotten as soon as that is over. So it can have an end of its own, and whoever made it has a
//! name in the record. What should stay belongs into the attribute ([`patch`](super::patch)) or the file.
//!
//! The end of one is a task that sleeps: it is asked for by making such an override, and needs a tokio runtime.
//!
//! Invariants: an override that has ended is never in force; the record has every change and is bounded.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::address::Written;
use super::judge::{self, Judge, unknown_kind};
use super::mistake::Mistakes;
use super::origin::{Lease, Origin};
use super::store::{self, Source};
use super::value::Raw;
use crate::base::clock::{Moment, nanos};
use crate::base::text::exact;

/// How many acts the record holds.
const KEPT: usize = 256;

/// An override to be made. It is a setting, as a file has it, and stands above file and environment.
///
/// ```standalone_crate
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), watertight::settings::Mistakes> {
/// use std::time::Duration;
/// use watertight::{resilient, settings::Override};
///
/// #[resilient(timeout = "300ms")]
/// async fn prices() -> Result<u32, watertight::Error> {
///     std::future::pending().await
/// }
///
/// Override::of("site.prices.timeout", "50ms").by("ann").lasting(Duration::from_secs(600)).apply()?;
/// assert_eq!(prices().await.unwrap_err().to_string(), "prices: timed out after 50ms (timeout)");
///
/// tokio::time::sleep(Duration::from_secs(601)).await;
/// assert_eq!(prices().await.unwrap_err().to_string(), "prices: timed out after 300ms (timeout)");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is overridden before `apply`"]
pub struct Override {
    setting: String,
    value: String,
    by: Arc<str>,
    lasting: Option<Duration>,
}

impl Override {
    /// A setting and its value, both as text: `site."shop::recs::recommendations".timeout` and `250ms`.
    pub fn of(setting: impl Into<String>, value: impl Into<String>) -> Self {
        Self { setting: setting.into(), value: value.into(), by: "code".into(), lasting: None }
    }

    /// Who makes it, for the record. Default: `code`.
    pub fn by(mut self, who: &str) -> Self {
        self.by = who.into();
        self
    }

    /// It ends by itself after so long. Default: it lasts until it is taken back.
    pub fn lasting(mut self, length: Duration) -> Self {
        self.lasting = Some(length);
        self
    }

    /// Puts it in force, in place of the one for the same setting if there is one.
    ///
    /// # Errors
    ///
    /// What is wrong with it; then nothing changes. One that ends by itself needs a tokio runtime around the call.
    pub fn apply(self) -> Result<(), Mistakes> {
        let now = Moment::now();
        let until = self.lasting.map(|length| now.plus(nanos(length)));
        let lease = Lease { by: Arc::clone(&self.by), since: now, until };
        let origin = Origin::Live(lease);
        let shown = format!("{} = {}", self.setting, self.value);
        let runtime = tokio::runtime::Handle::try_current().ok();
        if until.is_some() && runtime.is_none() {
            let what = "an override that ends by itself needs a tokio runtime, whose timer ends it";
            return Err(Mistakes::one(origin, shown, what, "make it in a runtime, or leave `lasting` out"));
        }
        let written = Written::read(&self.setting).map_err(|kind| {
            let (what, remedy) = unknown_kind(&kind);
            Mistakes::one(origin.clone(), shown.clone(), what, remedy)
        })?;
        let mut judge = Judge::new();
        judge.take(&written, &Raw::word(&self.value), origin);
        let made = judge.finish()?;
        let mut all = store::layer(Source::Live);
        all.extend(made.clone());
        judge::judge_together(&store::supposing([(Source::Live, &all)]))?;
        let length = self.lasting.map_or_else(String::new, |length| format!(" for {length:?}"));
        for (address, held) in &made {
            note(&self.by, format!("{address} = {}{length}", held.value));
        }
        store::change(|layers| layers.entry(Source::Live).or_default().extend(made));
        if let (Some(until), Some(runtime)) = (until, runtime) {
            runtime.spawn(async move {
                tokio::time::sleep_until(until.to_instant()).await;
                end_those_over();
            });
        }
        Ok(())
    }
}

/// Takes back those whose time is over.
fn end_those_over() {
    let now = Moment::now();
    let is_over = |origin: &Origin| matches!(origin, Origin::Live(Lease { until: Some(until), .. }) if *until <= now);
    take_back("the clock", |address, origin| is_over(origin).then(|| format!("{address} is over")));
}

/// Takes overrides back that `which` has words for.
fn take_back(by: &str, which: impl Fn(&super::address::Address, &Origin) -> Option<String>) -> usize {
    let mut acts = Vec::new();
    let ends =
        |layer: &super::merged::Layer| layer.iter().any(|(address, held)| which(address, &held.origin).is_some());
    if !ends(&store::layer(Source::Live)) {
        return 0;
    }
    store::change(|layers| {
        layers.entry(Source::Live).or_default().retain(|address, held| match which(address, &held.origin) {
            None => true,
            Some(act) => {
                acts.push(act);
                false
            }
        });
    });
    let ended = acts.len();
    for act in acts {
        note(by, act);
    }
    ended
}

/// Takes the override of a setting back before its end; true if there was one. The setting is named as for [`Override::of`].
pub fn revert(setting: &str, by: &str) -> bool {
    let written = Written::read(setting).ok();
    let Some(meant) = written.and_then(|written| Judge::new().address(&written)) else { return false };
    take_back(by, |address, _| (*address == meant).then(|| format!("{address} was taken back"))) > 0
}

/// Takes every override back; returns how many there were.
pub fn revert_all(by: &str) -> usize {
    take_back(by, |address, _| Some(format!("{address} was taken back")))
}

/// One line of the record. Its Display is that line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Act {
    at: Moment,
    /// Who.
    pub by: Arc<str>,
    /// What was done.
    pub what: String,
}

impl Act {
    /// How long ago it was done, by tokio's clock: a service that writes the record down knows the time of day itself.
    pub fn ago(&self) -> Duration {
        Duration::from_nanos(Moment::now().since(self.at))
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ago, {}: {}", exact(self.ago().as_secs() * 1_000_000_000), self.by, self.what)
    }
}

static RECORD: Mutex<VecDeque<Act>> = Mutex::new(VecDeque::new());

pub(super) fn note(by: &str, what: String) {
    let mut record = RECORD.lock().unwrap_or_else(PoisonError::into_inner);
    if record.len() == KEPT {
        record.pop_front();
    }
    record.push_back(Act { at: Moment::now(), by: by.into(), what });
}

/// What was changed while the process ran, the last 256 acts, the oldest first.
pub fn record() -> Vec<Act> {
    RECORD.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
}
