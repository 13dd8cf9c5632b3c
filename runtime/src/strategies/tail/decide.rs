//! Which attempts are drawn. Pure.

/// How many attempts it takes until one is drawn, that one included, where each is drawn with this share: the geometric
/// distribution, turned around. One roll for many attempts, instead of one for each.
pub(super) fn draw(share: f64, roll: f64) -> u32 {
    if share >= 1.0 {
        return 1;
    }
    // Both logarithms are negative or zero.
    let before = ((-roll).ln_1p() / (-share).ln_1p()).floor();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and 4e9
    let before = before.clamp(0.0, f64::from(u32::MAX - 1)) as u32;
    before + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attempt_is_drawn_with_the_share_whatever_came_before() {
        let mut dice = fastrand::Rng::with_seed(11);
        for share in [0.02, 0.3, 0.75] {
            let gaps: Vec<u32> = (0..100_000).map(|_| draw(share, dice.f64())).collect();
            let mean = gaps.iter().map(|gap| f64::from(*gap)).sum::<f64>() / gaps.len() as f64;
            assert!((mean * share - 1.0).abs() < 0.02, "{share}: {mean}");
            // Without a memory: of those that were not drawn at once, the same share is drawn next.
            let not_at_once = gaps.iter().filter(|gap| **gap > 1).count();
            let next = gaps.iter().filter(|gap| **gap == 2).count() as f64 / not_at_once as f64;
            assert!((next - share).abs() < 0.01, "{share}: {next}");
        }
    }

    #[test]
    fn the_ends_of_both_scales_are_numbers() {
        assert_eq!(draw(1.0, 0.999), 1);
        assert_eq!(draw(0.5, 0.0), 1);
        assert!(draw(1e-12, 1.0 - f64::EPSILON) > 1_000_000);
        assert_eq!(draw(0.0, 0.5), u32::MAX, "a share of nothing is never drawn in a process's life");
    }
}
