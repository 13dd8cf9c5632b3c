//! A guard's rate, in types: `"[NAME:]COUNT/UNIT/burst:N/wait:DURATION/fleet"` of the attribute.
//!
//! Invariant: what is checked here is what `macros/src/parse/rate.rs` checks.

use std::borrow::Cow;
use std::time::Duration;

use super::mistakes::Mistakes;
use super::sites::interned;
use crate::declaration::limits::{LONGEST, SHORTEST_INTERVAL};
use crate::strategies::rate::Config;

/// How many attempts may begin in so long. A name's tokens are shared by everyone who names it, annotated functions
/// included.
///
/// ```
/// use std::time::Duration;
/// use watertight::guard::Rate;
///
/// let own = Rate::own(100, Duration::from_secs(1));
/// let declared = Rate::named("api", 600, Duration::from_secs(60)).burst(10).wait(Duration::from_millis(50));
/// let joined = Rate::join("api");
/// # let _ = (own, declared, joined);
/// ```
#[derive(Clone, Debug)]
#[must_use = "does nothing until a guard is given it"]
pub struct Rate {
    name: Option<Cow<'static, str>>,
    /// `None` joins.
    pace: Option<(u32, Duration)>,
    burst: Option<u32>,
    wait: Option<Duration>,
    fleet: bool,
}

impl Rate {
    /// A rate of the guard's own: `count` tokens in `unit`, a million a second at most.
    pub fn own(count: u32, unit: Duration) -> Self {
        Self { name: None, pace: Some((count, unit)), burst: None, wait: None, fleet: false }
    }

    /// Declares a rate under a name.
    pub fn named(name: impl Into<Cow<'static, str>>, count: u32, unit: Duration) -> Self {
        Self { name: Some(name.into()), ..Self::own(count, unit) }
    }

    /// Joins one that is declared elsewhere, by an attribute or by another guard.
    pub fn join(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: Some(name.into()), pace: None, burst: None, wait: None, fleet: false }
    }

    /// Lets so many begin at once. Default: the count.
    pub fn burst(self, burst: u32) -> Self {
        Self { burst: Some(burst), ..self }
    }

    /// The longest wait for a token. Default: none, refused at once.
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait: Some(wait), ..self }
    }

    /// The tokens are those of all processes of the fleet together, see [`fleet`](mod@crate::fleet). Default: this process's own.
    pub fn fleet(self) -> Self {
        Self { fleet: true, ..self }
    }

    pub(super) fn check(self, mistakes: &mut Mistakes) -> impl FnOnce() -> Config + use<> {
        let Self { name, pace, burst, wait, fleet } = self;
        if let Some(name) = &name {
            mistakes.name("rate", name);
        }
        let pace = pace.map(|(count, unit)| (count, mistakes.length("unit", unit, "nothing comes in no time")));
        match pace {
            Some((count, unit)) => check_pace(count, unit, burst, mistakes),
            None if burst.is_some() || wait.is_some() || fleet => mistakes.add(
                "a rate is joined, burst and all, and given figures of its own",
                "leave them out, or declare the rate: `Rate::named(name, count, unit)`",
            ),
            None => {}
        }
        let wait = wait.map(|wait| mistakes.length("wait", wait, "not to wait is what happens without it"));
        move || {
            let mut config = match (name.map(interned), pace) {
                (Some(name), Some((count, unit))) => Config::named(name, count, unit),
                (Some(name), None) => Config::join(name),
                (None, pace) => {
                    let (count, unit) = pace.unwrap_or((1, LONGEST));
                    Config::own(count, unit)
                }
            };
            if fleet {
                config = config.fleet();
            }
            config = burst.map_or(config, |burst| config.burst(burst));
            wait.map_or(config, |wait| config.wait(wait))
        }
    }
}

fn check_pace(count: u32, unit: u64, burst: Option<u32>, mistakes: &mut Mistakes) {
    if count == 0 {
        mistakes.add("no call could ever begin in a rate of 0", "write how many may, 1 or more");
        return;
    }
    if burst == Some(0) {
        mistakes.add("`burst` is 0, and none could ever begin", "write how many may begin at once, 1 or more");
        return;
    }
    let interval = unit / u64::from(count);
    if unit > 0 && interval < SHORTEST_INTERVAL {
        mistakes.add(
            "that is more than a million a second, finer than this can tell apart",
            "write a lower rate, or leave it out: at that pace it limits nothing",
        );
    } else if u128::from(interval) * u128::from(burst.unwrap_or(count)) > u128::from(LONGEST) {
        mistakes.add("it would take more than thirty years to fill up", "write a smaller `burst`, or a higher rate");
    }
}
