//! Advice in a few lines a function.

use std::fmt;

use super::curve::ENOUGH as OBSERVED;
use super::{Advice, Advised, SiteAdvice};
use crate::base::text::short;
use crate::listing::in_figures;

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sites.is_empty() {
            return writeln!(f, "nothing has been called yet");
        }
        self.sites.iter().try_for_each(|site| write!(f, "{site}"))
    }
}

impl fmt::Display for SiteAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.identity)?;
        let on = if self.observed > 0 { format!(" ({} ran on, observed)", self.observed) } else { String::new() };
        writeln!(f, "  {} attempts, {} of them cut off{on}; {:.1} a second", self.attempts, self.cut_off, self.rate)?;
        for band in &self.bands {
            let (share, peak) = (band.share * 100.0, short(band.peak));
            writeln!(f, "  {share:.3} % take {} to {}, most about {peak}", short(band.from), short(band.to))?;
        }
        if let (Some(timeout), Some(cut)) = (self.timeout, self.cut_by_timeout) {
            let [share, low, high] = [cut.share, cut.low, cut.high].map(|share| share * 100.0);
            writeln!(f, "  its timeout of {} cuts off {share:.3} % ({low:.3} to {high:.3})", in_figures(timeout))?;
        }
        match self.advised {
            Advised::Timeout(length) => {
                let high = length.high.map_or_else(|| "nobody knows".to_owned(), short);
                let (to, low) = (in_figures(length.length), short(length.low));
                writeln!(f, "  timeout = \"{to}\" would cut off one in a thousand (between {low} and {high})")?;
            }
            Advised::Unknown { running, watched_until } => {
                let (share, until) = (running * 100.0, short(watched_until));
                writeln!(
                    f,
                    "  {share:.2} % run longer than {until}, and nobody has seen how long: no timeout can be advised"
                )?;
                if self.observed > 0 {
                    writeln!(f, "  ({} ran on to be observed, and {OBSERVED} are needed)", self.observed)?;
                }
            }
            Advised::TooFew => writeln!(f, "  too few attempts for an advice")?,
        }
        let (occupied, slots) = (self.occupied, self.slots);
        writeln!(
            f,
            "  it occupies {occupied:.2} slots on average; {slots} leave one attempt in twenty waiting at most"
        )?;
        match (self.worst_case.without_deadline(), self.worst_case.deadline) {
            (Some(sum), Some(deadline)) => {
                writeln!(f, "  at worst it takes {}, and its deadline is {}", in_figures(sum), in_figures(deadline))
            }
            (Some(sum), None) => writeln!(f, "  at worst it takes {}", in_figures(sum)),
            (None, Some(deadline)) => writeln!(f, "  nothing but its deadline of {} ends it", in_figures(deadline)),
            (None, None) => writeln!(f, "  nothing ends it"),
        }
    }
}
