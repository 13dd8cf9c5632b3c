//! Whether a fallback is asked.
//!
//! Invariant: pure; a success and a panic are never asked about.

use super::config::On;
use crate::call::{Fate, Refusal};

impl On {
    /// Whether a call that ended like this is answered for.
    pub(crate) fn names(self, fate: Fate) -> bool {
        self.has(match fate {
            Fate::Error => Self::ERROR,
            Fate::TimedOut => Self::TIMEOUT,
            Fate::Refused(reason) => match reason {
                Refusal::Full => Self::FULL,
                Refusal::Waited => Self::WAIT,
                Refusal::Rate => Self::RATE,
                Refusal::Open => Self::OPEN,
                Refusal::Deadline | Refusal::Doomed | Refusal::Shutdown => Self::OTHER,
            },
            Fate::Ok | Fate::Cancelled | Fate::Panicked => return false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    fn named(config: Config) -> Vec<Fate> {
        Fate::ALL.into_iter().filter(|fate| config.on.names(*fate)).collect()
    }

    #[test]
    fn each_word_names_its_fates_and_the_three_great_ones_name_all() {
        let nothing = Config::new().on_nothing();
        assert_eq!(named(nothing), []);
        assert_eq!(named(nothing.on_error()), [Fate::Error]);
        assert_eq!(named(nothing.on_timeout()), [Fate::TimedOut]);
        let refused: Vec<_> = Refusal::ALL.into_iter().map(Fate::Refused).collect();
        assert_eq!(named(nothing.on_refused()), refused);
        for (one, reason) in [
            (nothing.on_full(), Refusal::Full),
            (nothing.on_wait(), Refusal::Waited),
            (nothing.on_rate(), Refusal::Rate),
            (nothing.on_open(), Refusal::Open),
        ] {
            assert_eq!(named(one), [Fate::Refused(reason)]);
        }
        assert_eq!(nothing.on_error().on_timeout().on_refused(), Config::new());
    }
}
