//! A guard's hedge, in types: `hedge = ".."` and `hedge(..)` of the attribute.
//!
//! Invariant: what is checked here is what `macros/src/parse/hedge.rs` and `macros/src/validate/hedge.rs` check.

use std::time::Duration;

use super::mistakes::Mistakes;
use crate::strategies::hedge::Config;

/// The finest that a timer can wait.
const SHORTEST: Duration = Duration::from_millis(1);

/// When a second attempt is started beside one that is still running. It is paid from the retry budget.
///
/// ```
/// use std::time::Duration;
/// use watertight::guard::Hedge;
///
/// let fixed = Hedge::after(Duration::from_millis(50));
/// let measured = Hedge::percentile(95.0).floor(Duration::from_millis(5));
/// # let _ = (fixed, measured);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "does nothing until a guard is given it"]
pub struct Hedge {
    after: After,
    floor: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum After {
    Fixed(Duration),
    Percentile(f64),
}

impl Hedge {
    /// After a length of time, 1 ms at least.
    pub const fn after(length: Duration) -> Self {
        Self { after: After::Fixed(length), floor: None }
    }

    /// After what so many per cent of the guard's own attempts take at most, from 50.0 to 99.9.
    pub const fn percentile(percent: f64) -> Self {
        Self { after: After::Percentile(percent), floor: None }
    }

    /// Never sooner than this, for a percentile. Default: 5 ms.
    pub const fn floor(self, length: Duration) -> Self {
        Self { floor: Some(length), ..self }
    }

    pub(super) fn check(
        self,
        idempotent: bool,
        observe: bool,
        limits: &[(&str, Option<Duration>)],
        mistakes: &mut Mistakes,
    ) -> Config {
        if !idempotent {
            mistakes.add(
                "a hedge runs the closure a second time while the first may still be writing, and would write twice",
                "add `idempotent` if running twice does no harm, or leave `hedge` out",
            );
        }
        if observe {
            mistakes.add(
                "what only observes follows one attempt at a time, and a hedged one is two",
                "leave `hedge` out while you observe, or `observe`",
            );
        }
        let soonest = match self.after {
            After::Fixed(length) => length,
            After::Percentile(_) => self.floor.unwrap_or_default(),
        };
        if let Some((word, _)) = limits.iter().find(|(_, limit)| limit.is_some_and(|limit| soonest >= limit)) {
            mistakes.add(
                format!("the first attempt is cut off by the `{word}` before this hedge is due"),
                format!("write a shorter delay, or a longer `{word}`"),
            );
        }
        self.read(mistakes)
    }

    fn read(self, mistakes: &mut Mistakes) -> Config {
        let length = |key: &str, length: Duration, mistakes: &mut Mistakes| {
            if length < SHORTEST && !length.is_zero() {
                mistakes.add(format!("`{key}` is {length:?}: a timer can wait no less than 1ms"), "write 1ms or more");
            }
            mistakes.length(key, length, "there would be two attempts for every call")
        };
        match self.after {
            After::Fixed(after) => {
                if self.floor.is_some() {
                    mistakes.add("`floor` bounds a percentile, and a length of time is what it is", "leave it out");
                }
                Config::fixed(length("hedge", after, mistakes))
            }
            After::Percentile(percent) => {
                if !(50.0..=99.9).contains(&percent) {
                    let what = format!("the percentile {percent} is no hedge: below 50 most calls would be made twice");
                    mistakes.add(what, "write one from 50.0 to 99.9");
                }
                // In range, or not used.
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let config = Config::percentile((percent * 10.0).round() as u32);
                match self.floor {
                    Some(floor) => config.floor(length("floor", floor, mistakes)),
                    None => config,
                }
            }
        }
    }
}
