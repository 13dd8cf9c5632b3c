//! Leaving a few attempts running, to learn how long those take that a timeout cuts off.
//!
//! A timeout hides its own evidence. Of an attempt that was cut off at 300 ms all that is known is that it would have
//! taken longer, so a timeout chosen from what was measured gets shorter each time it is chosen, and the question that
//! matters, whether 400 ms would have been enough, has no answer. With `observe = "2%"` two in a hundred of the attempts
//! that reach their limit are not dropped there: the caller gets its answer at the limit as ever, and the body goes on by
//! itself, in a task of its own, until it ends or has run for ten timeouts. Its answer is thrown away. Its length is kept
//! ([`Beyond`](crate::call::beyond::Beyond)), and [`advice`](crate::advice) reads it.
//!
//! ```text
//!                                    limit                                            cap (10 x timeout)
//!   attempt ──────── runs ────────────┤ caller: timed out
//!      │                              │
//!      └─ drawn before it starts? ────┴─ yes, and a place is free ──▶ runs on, detached ──▶ answered: its length
//!         (its body has a box then)       otherwise: dropped                                failed, cap: "longer than"
//! ```
//!
//! **Drawn before it starts.** A future that has been polled cannot be moved, so it cannot be decided at the limit that a
//! body shall live somewhere else. It is decided before: with this share an attempt gets a box for its body, and if it is
//! cut off later, the box is handed on. That is the same draw. Of attempts that are drawn without a look at them, those
//! that are cut off are a fair sample of all that are. All the others stay where they are, allocate nothing and pay for
//! a number that counts down to the next draw ([`decide`]), per thread, so that there is one roll for each attempt that is drawn.
//!
//! **Bounded.** The slot is given back at the limit, since the caller is gone and the compartment is for callers. So the
//! dependency may have a few bodies more to bear than the bulkhead allows: two for each such function, or as many as
//! `runs` says. Two are few beside any compartment, and they are enough: two places that are held for a second each are a hundred
//! ends a minute where everything is cut off, and where little is, they are seldom both taken. Were it a share of the
//! slots, a small compartment would learn nothing and a large one would lean on a dependency that hangs. An attempt that
//! is drawn and finds no place is cut off like any other and counted; since who finds one depends on the others and not
//! on itself, that costs samples and adds no lean within one state of the dependency. (Across two it does: times at which many
//! hang fill the places, and are seen less often than they are. The count of those without a place says how much.)
//!
//! **Ten timeouts.** Somewhere it has to be called a hang. Nobody who wrote 300 ms will write more than three seconds instead,
//! whatever is found, so what lies beyond is of no use; a shorter cap would hide the percentiles that are far from the limit.
//!
//! **Safe.** What runs on may write after its caller was told that it failed. That is so with any timeout (the dependency goes
//! on when we hang up), but not as often, so the word `idempotent` is needed. The body owns what it works with; a borrowed
//! argument would be gone. What belongs to its call is left out of it: breaker, retry budget, fate and latency see an
//! attempt that was cut off, whatever comes of it later. It holds no slot, so a call that it makes into the same bulkhead
//! asks for one like anyone else. When the process begins to stop, all are dropped: they only learn.
//!
//! **The dependency must be let on, too.** Edges tell a database or the next hop when the answer stops being of use, and it
//! would be given up there at the limit. So to the body of an attempt that was drawn the limit is the cap, from its start. The
//! caller's deadline stays what it is while the caller waits, and becomes the cap then. (A call that the body made before was
//! bounded by that deadline and still is; what comes of it is a failure, and a failure is no end.)
//!
//! **Through the body itself.** Whoever drives an attempt knows its body as a future in a place that it may drop, and for
//! every site without this key that is all there should be to it. So a body with a box hands the box on in its own Drop,
//! into a letterbox that is open while a limit has it dropped and for that call alone ([`body::released`]). Dropped for
//! any other reason (the caller left, the other of two hedged attempts won) it is gone like every other.
//!
//! Both limits count: a timeout hides the tail, and a caller's deadline that comes sooner hides it as well.
//!
//! Invariants: what runs on was polled before, is polled by one task, and was drawn before anything was known of it; never
//! more run than `runs`; each ends in exactly one [`ObservedFate`](crate::call::ObservedFate); the caller's answer does not
//! wait for any of it; a site without the key pays nothing.

pub(crate) mod body;
mod config;
mod decide;
mod watch;

use std::sync::atomic::{AtomicU32, Ordering};

use crate::base::lane::{CELLS, Lane};
use crate::base::rng::roll;
pub use config::Config;
pub(crate) use watch::CutOff;

/// A site's draws, and what bounds those that run on.
#[derive(Debug)]
pub struct Tail {
    config: Config,
    /// Per thread: attempts until one is drawn, that one included; 0 where that is still to be rolled.
    left: [AtomicU32; CELLS],
}

impl Tail {
    pub(crate) fn new(config: Config) -> Self {
        Self { config, left: [const { AtomicU32::new(0) }; CELLS] }
    }

    /// How long an attempt may run in all under the timeout in force, in nanoseconds; `None` where that is no longer than the
    /// timeout, which settings can make longer than a cap that was written.
    #[inline]
    pub(crate) fn cap(&self, timeout: Option<u64>) -> Option<u64> {
        timeout.and_then(|timeout| Some(self.config.longest(timeout)).filter(|cap| *cap > timeout))
    }

    /// Whether the attempt about to be made is drawn.
    #[inline]
    fn draws(&self) -> bool {
        // Threads without a lane of their own share a cell; a count that they lose puts the next draw off by one.
        let left = &self.left[Lane::here().cell()];
        let mut now = left.load(Ordering::Relaxed);
        if now == 0 {
            now = decide::draw(self.config.share, roll());
        }
        left.store(now - 1, Ordering::Relaxed);
        now == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_drawn() {
        let tail = Tail::new(Config::new(0.02));
        let drawn = (0..200_000).filter(|_| tail.draws()).count();
        assert!((3_600..4_400).contains(&drawn), "{drawn}, and 4000 are expected");
        let all = Tail::new(Config::new(1.0));
        assert!((0..100).all(|_| all.draws()));
    }

    #[test]
    fn ten_timeouts_and_two_runs_unless_said_otherwise() {
        let plain = Tail::new(Config::new(0.5));
        assert_eq!((plain.config.most(), plain.cap(Some(300)), plain.cap(Some(500))), (2, Some(3_000), Some(5_000)));
        let said = Tail::new(Config::new(0.5).runs(8).cap(700));
        assert_eq!((said.config.most(), said.cap(Some(300))), (8, Some(700)));
        assert_eq!((said.cap(Some(800)), said.cap(None)), (None, None), "there is nothing beyond to see");
    }
}
