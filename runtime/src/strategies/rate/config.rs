//! What a site declares about its rate.
//!
//! | setting | default | unit | why |
//! |---|---|---|---|
//! | burst | the count | tokens | "100/s" allows a hundred in a second, and a second may begin with all of them |
//! | wait | none | length | a call that comes too often is told so at once, with the moment at which to come back |
//!
//! Lengths are in nanoseconds.

use std::fmt;
use std::time::Duration;

use crate::base::clock::FAR;
use crate::base::share::Share;

/// The longest unit there is.
const LONGEST: u64 = FAR.unsigned_abs();

/// A declaration: `"[NAME:]COUNT/UNIT[/burst:N][/wait:DUR][/fleet]"`, or a name declared elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// `None`: the site's own.
    pub(crate) name: Option<&'static str>,
    /// `None`: joins one that another site declares.
    pub(crate) figures: Option<Figures>,
    pub(crate) wait: u64,
    /// Whether each key has a bucket of its own.
    pub(crate) keyed: bool,
    /// Whether the figures are those of all processes together.
    pub(crate) fleet: bool,
}

/// So many tokens in so long, and so many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Figures {
    /// 1 or more.
    pub(crate) count: u32,
    pub(crate) unit: u64,
    /// 1 or more.
    pub(crate) burst: u32,
}

impl Figures {
    /// What a name gets that nobody declared: slow enough to be noticed, and reported by the check.
    pub(crate) const UNDECLARED: Self = Self { count: 10, unit: 1_000_000_000, burst: 10 };

    /// The time in which one token comes. Rounded down, by a thousandth at the very most: the attribute admits a
    /// million tokens a second.
    pub(crate) const fn interval(self) -> u64 {
        let interval = self.unit / self.count as u64;
        if interval == 0 { 1 } else { interval }
    }

    /// How far ahead of an even pace the last token of a burst is.
    pub(crate) const fn tolerance(self) -> u64 {
        self.interval().saturating_mul(self.burst as u64 - 1)
    }

    /// In how many parts a token is cut where several processes share the figures, so that each can have less than one in a
    /// unit. A thousand, or fewer where the numbers would not hold it.
    pub(crate) const fn grain(self) -> u32 {
        let mut grain = 1_000;
        while grain > 1 && (self.count as u64 * grain as u64 > 1_000_000_000 || self.unit > LONGEST / grain as u64) {
            grain /= 10;
        }
        grain
    }

    /// The count in those parts.
    pub(crate) const fn grains(self) -> u32 {
        self.count.saturating_mul(self.grain())
    }

    /// The figures of one process that has a share of these: as many parts, in a unit as much longer, and a burst as much
    /// smaller. Never nothing at all, since a rate has no such figures: the least is one part.
    pub(crate) fn under(self, share: Share) -> Self {
        if share == Share::Whole {
            return self;
        }
        let (all, grain) = (self.grains(), self.grain());
        let count = share.of(all).max(1);
        let burst = u64::from(self.burst) * u64::from(count) / u64::from(all.max(1));
        Self {
            count,
            unit: self.unit.saturating_mul(u64::from(grain)),
            burst: u32::try_from(burst).unwrap_or(u32::MAX).max(1),
        }
    }

    /// The stricter of two declarations: the slower pace, and the smaller burst.
    pub(crate) fn stricter(self, other: Self) -> Self {
        let slower = if other.interval() > self.interval() { other } else { self };
        Self { burst: self.burst.min(other.burst), ..slower }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, unit, burst } = self;
        write!(f, "{count} in {:?}, burst of {burst}", Duration::from_nanos(*unit))
    }
}

#[cfg(feature = "rate")]
impl Config {
    /// A rate of the site's own: `count` tokens in `unit` nanoseconds.
    pub const fn own(count: u32, unit: u64) -> Self {
        Self { name: None, figures: Some(Figures { count, unit, burst: count }), wait: 0, keyed: false, fleet: false }
    }

    /// Declares a rate under a name.
    pub const fn named(name: &'static str, count: u32, unit: u64) -> Self {
        Self { name: Some(name), ..Self::own(count, unit) }
    }

    /// Joins a rate that another site declares.
    pub const fn join(name: &'static str) -> Self {
        Self { name: Some(name), figures: None, wait: 0, keyed: false, fleet: false }
    }

    /// Lets so many be taken at once after a pause.
    #[must_use]
    pub const fn burst(mut self, burst: u32) -> Self {
        if let Some(figures) = self.figures {
            self.figures = Some(Figures { burst, ..figures });
        }
        self
    }

    /// Gives each key a bucket of its own.
    #[must_use]
    pub const fn keyed(self) -> Self {
        Self { keyed: true, ..self }
    }

    /// The figures are those of all processes of the fleet together.
    #[must_use]
    pub const fn fleet(self) -> Self {
        Self { fleet: true, ..self }
    }

    /// Waits so many nanoseconds for a token instead of refusing at once.
    #[must_use]
    pub const fn wait(mut self, nanos: u64) -> Self {
        self.wait = nanos;
        self
    }
}
