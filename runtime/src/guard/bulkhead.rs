//! A guard's compartment, in types: `"NAME:SLOTS/queue:N/wait:DURATION/fleet"` of the attribute, or `"NAME:auto"`.
//!
//! Invariant: what is checked here is what `macros/src/parse/bulkhead.rs` checks.

use std::borrow::Cow;
use std::time::Duration;

use super::mistakes::Mistakes;
use super::sites::interned;
use crate::declaration::limits::{CEILING, FLOOR, MOST_SLOTS};
use crate::strategies::bulkhead::Config;

/// How many calls may run, how many may wait, and for how long. The name's slots are shared by everyone who names it,
/// annotated functions included.
///
/// ```
/// use std::time::Duration;
/// use watertight::guard::Bulkhead;
///
/// let declared = Bulkhead::new("recs", 8).queue(16).wait(Duration::from_millis(100));
/// let joined = Bulkhead::join("recs");
/// # let _ = (declared, joined);
/// ```
#[derive(Clone, Debug)]
#[must_use = "does nothing until a guard is given it"]
pub struct Bulkhead {
    name: Cow<'static, str>,
    slots: Slots,
    floor: Option<u32>,
    ceiling: Option<u32>,
    queue: Option<u32>,
    wait: Option<Duration>,
    fleet: bool,
    guards: Option<Cow<'static, str>>,
}

#[derive(Clone, Copy, Debug)]
enum Slots {
    Joined,
    Fixed(u32),
    Auto,
}

impl Bulkhead {
    fn of(name: Cow<'static, str>, slots: Slots) -> Self {
        Self { name, slots, floor: None, ceiling: None, queue: None, wait: None, fleet: false, guards: None }
    }

    pub(super) fn is_auto(&self) -> bool {
        matches!(self.slots, Slots::Auto)
    }

    /// Declares a bulkhead: at most `slots` calls run, 1 to 1 000 000, and nobody waits.
    pub fn new(name: impl Into<Cow<'static, str>>, slots: u32) -> Self {
        Self::of(name.into(), Slots::Fixed(slots))
    }

    /// Declares one that finds the number of its slots by measuring, between 2 and 128 unless told otherwise.
    pub fn auto(name: impl Into<Cow<'static, str>>) -> Self {
        Self::of(name.into(), Slots::Auto)
    }

    /// Joins one that is declared elsewhere, by an attribute or by another guard.
    pub fn join(name: impl Into<Cow<'static, str>>) -> Self {
        Self::of(name.into(), Slots::Joined)
    }

    /// The fewest slots of [`Bulkhead::auto`], 1 to 1 000 000.
    pub fn floor(self, slots: u32) -> Self {
        Self { floor: Some(slots), ..self }
    }

    /// The most slots of [`Bulkhead::auto`], 1 to 1 000 000.
    pub fn ceiling(self, slots: u32) -> Self {
        Self { ceiling: Some(slots), ..self }
    }

    /// Lets so many callers wait. Slots and queue together are 1 000 000 at most.
    pub fn queue(self, queue: u32) -> Self {
        Self { queue: Some(queue), ..self }
    }

    /// The longest wait for a slot. Default: the guard's timeout, else a second.
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait: Some(wait), ..self }
    }

    /// The slots are those of all processes of the fleet together, see [`fleet`](mod@crate::fleet). Default: this process's own.
    pub fn fleet(self) -> Self {
        Self { fleet: true, ..self }
    }

    /// Names the pool that calls go on to, as [`declare_pool`](crate::declare_pool()) does, so that
    /// [`check`](crate::check()) can hold the slots against its size. Default: none.
    pub fn guards(self, pool: impl Into<Cow<'static, str>>) -> Self {
        Self { guards: Some(pool.into()), ..self }
    }

    pub(super) fn check(self, mistakes: &mut Mistakes) -> impl FnOnce() -> Config + use<> {
        let Self { name, slots, floor, ceiling, queue, wait, fleet, guards } = self;
        mistakes.name("bulkhead", &name);
        if let Some(pool) = &guards {
            mistakes.name("pool", pool);
        }
        let most = match slots {
            Slots::Joined => {
                if [floor, ceiling, queue].iter().any(Option::is_some) || wait.is_some() || fleet {
                    mistakes.add(
                        format!("bulkhead `{name}` is joined, queue and all, and given figures of its own"),
                        "leave them out, or declare the bulkhead: `Bulkhead::new(name, slots)`",
                    );
                }
                0
            }
            Slots::Fixed(slots) => {
                if slots == 0 {
                    mistakes.add(
                        format!("no call could ever run in the 0 slots of bulkhead `{name}`"),
                        "write how many may run at once, 1 or more; to shut a guard off, isolate its breaker",
                    );
                }
                if floor.is_some() || ceiling.is_some() {
                    mistakes.add(
                        format!("{slots} slots are a fixed number and need neither floor nor ceiling"),
                        "begin with `Bulkhead::auto(name)`, or leave the bounds out",
                    );
                }
                slots
            }
            Slots::Auto if fleet => {
                mistakes.add(
                    format!(
                        "the slots of bulkhead `{name}` are what this process has measured, and a fleet shares a number"
                    ),
                    "write how many may run in all processes together: `Bulkhead::new(name, slots).fleet()`",
                );
                0
            }
            Slots::Auto => bounds(floor, ceiling, mistakes),
        };
        if u64::from(most) + u64::from(queue.unwrap_or(0)) > MOST_SLOTS {
            mistakes.add(
                format!("slots and queue of bulkhead `{name}` together come to more than {MOST_SLOTS}"),
                "write smaller numbers; a queue longer than the slots can empty in time only makes calls late",
            );
        }
        if !matches!(slots, Slots::Joined) && wait.is_some() && queue.unwrap_or(0) == 0 {
            mistakes.add(
                format!("nobody waits for bulkhead `{name}`, which has no queue"),
                "add `queue`, the number of callers that may wait, or leave `wait` out",
            );
        }
        let wait = wait.map(|wait| mistakes.length("wait", wait, "a wait of nothing is no queue"));
        move || {
            let name = interned(name);
            let mut config = match slots {
                Slots::Joined => Config::join(name),
                Slots::Fixed(slots) => Config::new(name, slots),
                Slots::Auto => Config::auto(name),
            };
            config = ceiling.map_or(config, |slots| config.ceiling(slots));
            config = floor.map_or(config, |slots| config.floor(slots));
            config = queue.map_or(config, |queue| config.queue(queue));
            if fleet {
                config = config.fleet();
            }
            config = guards.map_or(config, |pool| config.guards(interned(pool)));
            wait.map_or(config, |wait| config.wait(wait))
        }
    }
}

/// Checks the bounds of measured slots; the most there can be.
fn bounds(floor: Option<u32>, ceiling: Option<u32>, mistakes: &mut Mistakes) -> u32 {
    for (key, bound) in [("floor", floor), ("ceiling", ceiling)] {
        if let Some(bound) = bound
            && !(1..=MOST_SLOTS).contains(&u64::from(bound))
        {
            mistakes.count(key, bound, &(1..=MOST_SLOTS), "write how many slots there are at least, or at most");
            return 0;
        }
    }
    let most = ceiling.unwrap_or(CEILING);
    let least = floor.unwrap_or_else(|| FLOOR.min(most));
    if least > most {
        let what = format!("the floor of {least} lies above the ceiling of {most}");
        mistakes.add(what, "write the larger number as the ceiling");
    }
    most
}
