//! What is kept of one interval.
//!
//! Counts are exact. Of the lengths of attempts two things are kept: the quantiles, worked out from the full bands while
//! they are at hand, and one byte for each half of a doubling, on a logarithmic scale, which is all that a shade of grey can
//! show.
//!
//! Invariants: a frame is of fixed size; a quantile that nobody has seen is no number.

use super::marks::Marks;
use super::outcome::CLASSES;
use crate::base::histogram::{BUCKETS, Bands, lower_bound};

/// Cells of a column of the heat map: halves of a doubling, and the two open ends in the first and the last.
pub(crate) const CELLS: usize = (BUCKETS - 2) / PER_CELL;
/// Bands in a cell.
const PER_CELL: usize = 8;
/// The quantiles that are kept.
pub(crate) const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// What one function did in one interval.
#[derive(Clone, Debug)]
pub(crate) struct SiteFrame {
    pub(crate) outcomes: [u32; CLASSES.len()],
    pub(crate) attempts: u32,
    pub(crate) retries: u32,
    pub(crate) in_flight: u32,
    /// In milliseconds; NaN where nobody has seen it.
    pub(crate) quantiles: [f32; QUANTILES.len()],
    /// The 50th and the 99th of how long was waited for a slot, in milliseconds.
    pub(crate) waits: [f32; 2],
    /// Completed attempts, those too that ran on beyond their limit.
    pub(crate) heat: [u8; CELLS],
    /// Attempts that were cut off, by how long they had run.
    pub(crate) cut: [u8; CELLS],
}

impl SiteFrame {
    /// What happened between two readings, and what stands at the later one.
    pub(crate) fn between(before: &Marks, now: &Marks) -> Self {
        let since = now.since(before);
        let ms = |nanos: std::time::Duration| nanos.as_secs_f32() * 1e3;
        let quantiles = if since.lengths.count() == 0 {
            [f32::NAN; QUANTILES.len()]
        } else {
            let curve = since.curve();
            QUANTILES.map(|share| curve.quantile(share).map_or(f32::NAN, |it| ms(it.length)))
        };
        let mut completed = since.lengths.completed.clone();
        if let Some(observed) = &since.observed {
            completed.merge(&observed.answered);
        }
        Self {
            outcomes: since.outcomes.map(clamp),
            attempts: clamp(since.attempts),
            retries: clamp(since.rungs.iter().skip(1).map(|(begun, _)| begun).sum()),
            in_flight: clamp(now.in_flight),
            quantiles,
            waits: [50.0, 99.0].map(|percent| since.waits.percentile(percent).map_or(f32::NAN, ms)),
            heat: shades(&completed),
            cut: shades(&since.lengths.cut_off),
        }
    }
}

/// How a bulkhead, or a set of threads, stood in one interval.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BulkheadFrame {
    pub(crate) slots: u32,
    pub(crate) running: u32,
    pub(crate) queued: u32,
    /// The most at once.
    pub(crate) peak_running: u32,
    pub(crate) peak_queued: u32,
}

impl BulkheadFrame {
    /// Several intervals as one.
    pub(crate) fn joined<'a>(frames: impl Iterator<Item = &'a Self>) -> Self {
        frames.fold(Self::default(), |all, it| Self {
            peak_running: all.peak_running.max(it.peak_running),
            peak_queued: all.peak_queued.max(it.peak_queued),
            ..*it
        })
    }
}

fn clamp(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn shades(bands: &Bands) -> [u8; CELLS] {
    let mut shades = [0; CELLS];
    for (cell, shade) in shades.iter_mut().enumerate() {
        let from = if cell == 0 { 0 } else { 1 + cell * PER_CELL };
        let to = if cell + 1 == CELLS { BUCKETS } else { 1 + (cell + 1) * PER_CELL };
        *shade = shaded((from..to).map(|band| bands.in_band(band)).sum());
    }
    shades
}

/// Eight steps a doubling: 0 for none, 8 for one.
fn shaded(count: u64) -> u8 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive; saturates above
    let shade = (8.0 * (count as f64 + 1.0).log2()).round() as u8;
    shade
}

/// The lower ends of the cells, in milliseconds, and the upper end of the last.
pub(crate) fn cell_bounds() -> Vec<f64> {
    (0..=CELLS).map(|cell| lower_bound(1 + cell * PER_CELL) as f64 / 1e6).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_band_is_in_one_cell() {
        let mut bands = Bands::default();
        for band in 0..BUCKETS {
            bands.record(lower_bound(band));
        }
        let shades = shades(&bands);
        assert_eq!(CELLS, 54);
        assert_eq!((shades[0], shades[CELLS - 1]), (shaded(9), shaded(9)), "with the open ends");
        assert!(shades[1..CELLS - 1].iter().all(|shade| *shade == shaded(8)));
        assert_eq!((shaded(0), shaded(1), shaded(u64::MAX)), (0, 8, 255));
        assert_eq!(cell_bounds().len(), CELLS + 1);
        assert!(cell_bounds().windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn a_frame_is_small() {
        assert!(size_of::<SiteFrame>() <= 256, "{}", size_of::<SiteFrame>());
    }
}
