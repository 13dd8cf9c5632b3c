//! Which figures to write, from what has been measured.
//!
//! A timeout is usually a round number that somebody typed on the day the function was written. What it should be follows
//! from how long the work takes and how much of it may be given up, and both are known here. But the ordinary chart of
//! latencies is the wrong source: attempts that were cut off are missing in it, or stand in it as if they had ended at
//! the limit, and a timeout chosen by either gets shorter each time it is chosen. So [`Curve`] counts them as what they are,
//! and says where it knows nothing.
//!
//! | file | answers |
//! |---|---|
//! | `curve` | what share takes longer than a length, and how sure that is |
//! | `bands` | which kinds of answers there are, by how long they take |
//! | `sizing` | how many slots that much work needs |
//!
//! Invariants: an advice is made from measurements alone, and there is none where there are too few; a figure that nobody
//! can know is missing, with the reason; reading costs callers nothing.

mod bands;
pub(crate) mod curve;
#[cfg(feature = "json")]
pub(crate) mod json;
mod show;
pub(crate) mod sizing;
#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::base::clock::Moment;
use crate::call::Identity;
use crate::call::tally::AttemptFate;
use crate::catalogue;
use crate::declaration::Declaration;
use crate::listing::WorstCase;
use crate::metrics::{SiteFigures, snapshot};
use crate::strategies::timeout;
pub use bands::Band;
pub use curve::{Curve, Length, Share};
#[cfg(feature = "dashboard")]
pub(crate) use json::ms;

/// The share of attempts that a timeout may cut off although they would have completed.
const MAY_BE_CUT: f64 = 0.001;
/// Below so many attempts nothing is advised.
const ENOUGH: u64 = 200;

/// Advice for every guarded function that has been called often enough. Its Display is a few lines each.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Advice {
    /// One per function, in the order of module and line.
    pub sites: Vec<SiteAdvice>,
}

/// What the measurements of one function say about its settings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SiteAdvice {
    /// What it is called and where it stands.
    pub identity: Identity,
    /// How many attempts this rests on.
    pub attempts: u64,
    /// How many of them were cut off.
    pub cut_off: u64,
    /// How many of those ran on beyond their limit, under the key `observe`, so that the tail is known.
    pub observed: u64,
    /// The kinds of answers, by how long they take, from the fastest on.
    pub bands: Vec<Band>,
    /// The timeout in force.
    pub timeout: Option<Duration>,
    /// What share of attempts it cuts off.
    pub cut_by_timeout: Option<Share>,
    /// The smallest timeout that cuts off at most one in a thousand.
    pub advised: Advised,
    /// Attempts a second.
    pub rate: f64,
    /// The slots that these attempts occupy on average, by Little's law, under the advised timeout, else the one in force.
    pub occupied: f64,
    /// The fewest slots with which at most one attempt in twenty waits for one.
    pub slots: u32,
    /// The longest that a call can take by its settings.
    pub worst_case: WorstCase,
}

/// The timeout that serves all bands, if it can be known.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Advised {
    /// So long, with the interval of the measurement; the length is rounded up to two figures.
    Timeout(Length),
    /// More than one in a thousand are cut off, and nobody has seen how long they would have taken.
    Unknown {
        /// The share that is still running when the last is cut off.
        running: f64,
        /// How long anybody was watched.
        watched_until: Duration,
    },
    /// Fewer than two hundred attempts.
    TooFew,
}

/// Reads what all functions have done since the process started, and says what that means for their settings.
///
/// The rate is that of the whole time, so a service that has been idle is advised too few slots; [`advise_since`] takes a
/// busy time.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use std::time::Duration;
/// use watertight::advice::Advised;
/// use watertight::resilient;
///
/// #[resilient(timeout = "10s")]
/// async fn advised() -> Result<(), watertight::Error> {
///     tokio::time::sleep(Duration::from_millis(40)).await;
///     Ok(())
/// }
///
/// for _ in 0..1_000 {
///     advised().await.unwrap();
/// }
/// let advice = watertight::advise();
/// let site = advice.sites.iter().find(|site| site.identity.name == "advised").expect("called often enough");
/// let Advised::Timeout(timeout) = site.advised else { panic!("{advice}") };
/// assert!((40..60).contains(&timeout.length.as_millis()), "nothing takes ten seconds: {timeout:?}");
/// # }
/// ```
pub fn advise() -> Advice {
    let over = Duration::from_nanos(Moment::now().since(Moment::from_raw(0)));
    let figures = snapshot().sites;
    let declarations: Vec<_> = catalogue::entries().into_iter().map(|entry| entry.declaration).collect();
    let sites = declarations.iter().zip(&figures).filter(|(_, figures)| figures.attempts() > 0);
    Advice { sites: sites.map(|(declared, figures)| SiteAdvice::of(declared, &declarations, figures, over)).collect() }
}

/// Like [`advise`], from what has happened since an earlier snapshot, so long ago.
///
/// Functions that the earlier snapshot does not know are left out.
pub fn advise_since(earlier: &crate::metrics::Snapshot, over: Duration) -> Advice {
    let figures = snapshot().sites;
    let declarations: Vec<_> = catalogue::entries().into_iter().map(|entry| entry.declaration).collect();
    let sites = declarations.iter().zip(&figures).filter_map(|(declared, now)| {
        let same =
            |it: &&SiteFigures| (it.name, it.module, it.file, it.line) == (now.name, now.module, now.file, now.line);
        let before = earlier.sites.iter().find(same)?;
        let attempts = now.attempts().saturating_sub(before.attempts());
        let (completed, cut_off) = (now.latency.since(&before.latency), now.cut_off.since(&before.cut_off));
        let observed =
            now.observed.as_ref().map(|now| before.observed.as_ref().map_or(now.clone(), |then| now.since(then)));
        let curve = Curve::observing(&completed, &cut_off, observed.as_ref());
        (attempts > 0).then(|| SiteAdvice::from(declared, &declarations, &curve, rate(attempts, over)))
    });
    Advice { sites: sites.collect() }
}

fn rate(attempts: u64, over: Duration) -> f64 {
    if over.is_zero() { 0.0 } else { attempts as f64 / over.as_secs_f64() }
}

impl SiteAdvice {
    fn of(declared: &Declaration, all: &[&Declaration], figures: &SiteFigures, over: Duration) -> Self {
        let curve = Curve::observing(&figures.latency, &figures.cut_off, figures.observed.as_ref());
        let panicked = figures.attempts_by(AttemptFate::Panicked) + figures.attempts_by(AttemptFate::Cancelled);
        let attempts = figures.attempts().saturating_sub(panicked);
        Self::from(declared, all, &curve, rate(attempts, over))
    }

    /// From a curve and attempts a second.
    pub(crate) fn from(declared: &Declaration, all: &[&Declaration], curve: &Curve, rate: f64) -> Self {
        let timeout = declared.timeout.filter(|_| !declared.observe.timeout).map(timeout::Config::nanos);
        let timeout = timeout.map(Duration::from_nanos);
        let advised = Advised::from(curve);
        let limit = match advised {
            Advised::Timeout(length) => Some(length.length),
            _ => timeout.or(curve.watched_until()),
        };
        let hold = limit.map_or(Duration::ZERO, |limit| curve.mean_until(limit));
        Self {
            identity: declared.identity,
            attempts: curve.count(),
            cut_off: curve.cut_off(),
            observed: curve.observed(),
            bands: if curve.count() < ENOUGH { Vec::new() } else { bands::find(curve) },
            timeout,
            cut_by_timeout: timeout.and_then(|timeout| cut_by(curve, timeout)),
            advised,
            rate,
            occupied: sizing::occupied(rate, hold),
            slots: sizing::slots(rate, hold),
            worst_case: WorstCase::of(declared, all),
        }
    }
}

/// What share of attempts a timeout cuts off. Of the one in force it is known how many it has cut off.
pub(crate) fn cut_by(curve: &Curve, timeout: Duration) -> Option<Share> {
    curve.cut_at(timeout).or_else(|| curve.beyond(timeout))
}

impl Advised {
    fn from(curve: &Curve) -> Self {
        let Some(watched_until) = curve.watched_until().filter(|_| curve.count() >= ENOUGH) else {
            return Self::TooFew;
        };
        if let Some(length) = curve.quantile(1.0 - MAY_BE_CUT) {
            return Self::Timeout(Length { length: rounded(length.length), ..length });
        }
        let running = curve.steps().last().map_or(1.0, |(_, beyond, _)| beyond.share);
        Self::Unknown { running, watched_until }
    }
}

/// Up to two figures, as somebody would type it.
fn rounded(length: Duration) -> Duration {
    let nanos = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
    let step = (0..18).map(|power| 10_u64.pow(power)).find(|step| nanos / step < 100).unwrap_or(1);
    Duration::from_nanos(nanos.div_ceil(step).saturating_mul(step))
}
