//! The bands of a latency distribution: a cache's answers, the dependency's, its slow path's. Pure.
//!
//! A service's latency is seldom one hill. A timeout between two of them cuts off a whole kind of work, one within a hill
//! cuts off whoever was unlucky, and which of the two it does is what whoever sets it should know. So the distribution is
//! cut at its valleys, on the logarithmic scale on which both hills are hills: a valley counts when it is at most half as
//! high as the lower of the hills beside it and both hold enough attempts to be more than noise.
//!
//! Invariants: the shares of the bands sum to what has completed; bands are in order and do not overlap; a distribution
//! with one hill is one band.

use std::time::Duration;

use super::curve::Curve;

/// One hill of the distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Band {
    /// Where it begins.
    pub from: Duration,
    /// Where it ends.
    pub to: Duration,
    /// Where it is highest.
    pub peak: Duration,
    /// The share of all attempts that complete in it.
    pub share: f64,
}

/// A hill has at least so many attempts, and this share of all.
const LEAST: f64 = 20.0;
const LEAST_SHARE: f64 = 0.002;
/// A valley is at most this high, measured by the lower of its hills.
const VALLEY: f64 = 0.5;
/// Bands of a sixteenth of a doubling are noisy, so each is averaged with so many on either side.
const AROUND: usize = 3;

/// The bands in which attempts complete, from the fastest on.
pub(super) fn find(curve: &Curve) -> Vec<Band> {
    let steps: Vec<_> = curve.steps().map(|(until, _, within)| (until, within)).collect();
    let raw: Vec<f64> = steps.iter().map(|(_, within)| *within).collect();
    let smooth = smooth(&density(&steps));
    let least = (LEAST / curve.count().max(1) as f64).max(LEAST_SHARE);
    let mut cuts = vec![0];
    let (mut hill, mut valley) = (0, None::<usize>);
    for at in 0..smooth.len() {
        // Up again, twice as high as the lowest point since the hill, which was twice as high itself.
        let low =
            valley.filter(|&low| smooth[low] <= VALLEY * smooth[at].min(smooth[hill]) && smooth[low] < smooth[at]);
        let begun = cuts[cuts.len() - 1];
        if let Some(low) = low.filter(|&low| is_hill(&raw[begun..low], least) && is_hill(&raw[low..], least)) {
            cuts.push(low);
            (hill, valley) = (at, None);
        }
        if smooth[at] >= smooth[hill] {
            (hill, valley) = (at, None);
        } else if valley.is_none_or(|low| smooth[at] < smooth[low]) {
            valley = Some(at);
        }
    }
    cuts.push(smooth.len());
    cuts.windows(2).filter_map(|ends| band(&steps, &smooth, ends[0], ends[1])).collect()
}

/// The height of the hill: what completes in a band, by the band's width on the logarithmic scale. (Within a doubling the
/// bands are equally long, so the first is twice as wide there as the last.)
fn density(steps: &[(u64, f64)]) -> Vec<f64> {
    let mut from = 512.0_f64;
    let height = |&(until, within): &(u64, f64)| {
        let width = (until as f64 / from).ln();
        from = until as f64;
        within / width.max(1e-9)
    };
    steps.iter().map(height).collect()
}

fn smooth(raw: &[f64]) -> Vec<f64> {
    let window = |at: usize| &raw[at.saturating_sub(AROUND)..(at + AROUND + 1).min(raw.len())];
    (0..raw.len()).map(|at| window(at).iter().sum::<f64>() / window(at).len() as f64).collect()
}

fn is_hill(raw: &[f64], least: f64) -> bool {
    raw.iter().sum::<f64>() >= least
}

fn band(steps: &[(u64, f64)], smooth: &[f64], from: usize, to: usize) -> Option<Band> {
    let inside = || (from..to).filter(|&at| steps[at].1 > 0.0);
    let (first, last) = (inside().next()?, inside().next_back()?);
    let peak = (first..=last).max_by(|&one, &other| smooth[one].total_cmp(&smooth[other]))?;
    let begin = if first == 0 { 0 } else { steps[first - 1].0 };
    let share = steps[from..to].iter().map(|(_, within)| within).sum();
    let at = Duration::from_nanos;
    Some(Band { from: at(begin), to: at(steps[last].0), peak: at(steps[peak].0), share })
}
