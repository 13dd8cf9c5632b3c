//! # How the guarded calls ended
//!
//! The runtime counts since the process began, and an experiment wants its own part. So the counts are read before and
//! after and subtracted. The last column of the report comes from here, and from nowhere else: the guard's own figures
//! stand beside those of the load, the probes and the vendor, and must agree with them.
//!
//! Invariants:
//! * fates exclude one another: the calls of a function are the sum over its fates;
//! * what the fallback did is counted across the fates, not as one of them.

use watertight::Refusal;
use watertight::metrics::SiteFigures;

/// How the calls of one guarded function ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fates {
    /// The function.
    pub name: &'static str,
    /// Where it stands.
    pub file: &'static str,
    /// On which line.
    pub line: u32,
    /// Calls that ended.
    pub calls: u64,
    /// The body's value.
    pub ok: u64,
    /// The body's error.
    pub error: u64,
    /// Cut short.
    pub timed_out: u64,
    /// Never run, by reason.
    pub refused: Vec<(&'static str, u64)>,
    /// Dropped by the caller.
    pub cancelled: u64,
    /// Panicked.
    pub panicked: u64,
    /// Answered by the fallback.
    pub fallback_used: u64,
    /// Failed by the fallback too.
    pub fallback_failed: u64,
}

impl Fates {
    /// Refused for any reason.
    pub fn refusals(&self) -> u64 {
        self.refused.iter().map(|(_, calls)| calls).sum()
    }

    fn since(self, before: &Self) -> Self {
        let earlier = |reason| before.refused.iter().find(|(name, _)| *name == reason).map_or(0, |(_, calls)| *calls);
        Self {
            calls: self.calls - before.calls,
            ok: self.ok - before.ok,
            error: self.error - before.error,
            timed_out: self.timed_out - before.timed_out,
            refused: self.refused.iter().map(|&(reason, calls)| (reason, calls - earlier(reason))).collect(),
            cancelled: self.cancelled - before.cancelled,
            panicked: self.panicked - before.panicked,
            fallback_used: self.fallback_used - before.fallback_used,
            fallback_failed: self.fallback_failed - before.fallback_failed,
            ..self
        }
    }
}

/// Every guarded function of this process, since it began.
pub fn now() -> Vec<Fates> {
    watertight::snapshot().sites.iter().map(read).collect()
}

fn read(site: &SiteFigures) -> Fates {
    Fates {
        name: site.name,
        file: site.file,
        line: site.line,
        calls: site.calls,
        ok: site.ok,
        error: site.error,
        timed_out: site.timed_out,
        refused: Refusal::ALL.map(|reason| (reason.as_str(), site.refused_for(reason))).into(),
        cancelled: site.cancelled,
        panicked: site.panicked,
        fallback_used: site.fallback_used,
        fallback_failed: site.fallback_failed,
    }
}

/// Those that were called since `before`, and how those calls ended.
pub fn since(before: &[Fates]) -> Vec<Fates> {
    let part =
        |fates: Fates| match before.iter().find(|b| (b.file, b.line, b.name) == (fates.file, fates.line, fates.name)) {
            Some(before) => fates.since(before),
            None => fates,
        };
    now().into_iter().map(part).filter(|fates| fates.calls > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::Fates;

    #[test]
    fn an_experiment_gets_its_own_part() {
        let before = Fates { calls: 3, ok: 1, refused: vec![("full", 2)], fallback_used: 2, ..Fates::default() };
        let refused = vec![("full", 5), ("waited", 1)];
        let after = Fates { calls: 10, ok: 2, timed_out: 2, refused, fallback_used: 8, ..Fates::default() };
        let part = after.since(&before);
        assert_eq!((part.calls, part.ok, part.timed_out, part.fallback_used), (7, 1, 2, 6));
        assert_eq!(part.refused, [("full", 3), ("waited", 1)]);
        assert_eq!(part.refusals(), 4);
    }
}
