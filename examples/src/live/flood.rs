//! # What the flood's page shows
//!
//! The stage's own counts, three dependencies side by side, and one sentence on top that is chosen by them. The two switches are
//! the stage's.
//!
//! Invariants:
//! * no figure in here that the stage, a dependency or the runtime did not count;
//! * who is stalled is decided by the stage, never by how the switches stand.

use serde_json::{Value, json};
use watertight::Snapshot;

use super::Show;
use crate::lab::flood::recent::window;
use crate::lab::flood::room::{Ended, OWN_PLACES, OWN_WORKERS, PLACES, SITES, SOURCE, WORKERS};
use crate::lab::flood::stage::{EVERY, FAST, NAMES, Now, SHARES, SLOW, Stage, Switches};
use crate::lab::frame::attribute;

impl Show for Stage {
    const MARKUP: &'static str = include_str!("page/flood.html");

    fn state(&self) -> Value {
        let (switches, snapshot) = (self.switches(), watertight::snapshot());
        let all = [0, 1, 2].map(|at| self.now(at));
        let dependencies: Vec<_> = all.iter().enumerate().map(|(at, now)| one(at, now, switches, &snapshot)).collect();
        json!({
            "headline": headline(&all, switches),
            "alarm": all.iter().any(|now| now.stalled),
            "switches": { "bulkheads": switches.bulkheads, "recs_slow": switches.recs_slow },
            "calls_a_second": 1.0 / EVERY.as_secs_f64(),
            "window_seconds": window().as_secs_f64(),
            "common_room": { "workers": WORKERS, "places": PLACES },
            "own_room": { "workers": OWN_WORKERS, "places": OWN_PLACES },
            "dependencies": dependencies,
        })
    }

    fn turn(&self, asked: &Value) -> Result<(), &'static str> {
        let mut switches = self.switches();
        let known = ["bulkheads", "recs_slow"];
        let asked = asked.as_object().filter(|asked| asked.keys().all(|key| known.contains(&key.as_str())));
        let wrong = "send {\"bulkheads\": true} or {\"recs_slow\": true}, or both, with true or false";
        let asked = asked.filter(|asked| !asked.is_empty()).ok_or(wrong)?;
        for (key, value) in asked {
            let value = value.as_bool().ok_or(wrong)?;
            match key.as_str() {
                "bulkheads" => switches.bulkheads = value,
                _ => switches.recs_slow = value,
            }
        }
        Stage::turn(self, switches);
        Ok(())
    }
}

fn one(at: usize, now: &Now, switches: Switches, snapshot: &Snapshot) -> Value {
    let counts = |ended: Ended| json!({ "came": ended.came, "served": ended.served, "refused": ended.refused, "failed": ended.failed });
    let slow = at == 0 && switches.recs_slow;
    let site = snapshot.site(SITES[at]);
    json!({
        "name": NAMES[at],
        "share_percent": SHARES[at],
        "answers_after_ms": if slow { SLOW } else { FAST }.as_millis(),
        "attribute": attribute(SOURCE, SITES[at]),
        "common_room": { "working": now.in_common.0, "waiting": now.in_common.1, "ended": counts(now.common) },
        "own_room": { "working": now.in_own.0, "waiting": now.in_own.1, "ended": counts(now.own) },
        "all": counts(now.common.and(now.own)),
        "window": counts(now.window),
        "served_a_second": now.history,
        "stalled": now.stalled,
        "runtime": site.map(|site| json!({ "calls": site.calls, "ok": site.ok, "refused": site.refused })),
        "dependency": {
            "requests": now.vendor.requests,
            "peak": now.vendor.peak,
            "connections": now.vendor.connections,
            "closed": now.vendor.closed,
            "aborted": now.vendor.aborted,
        },
    })
}

fn headline(all: &[Now; 3], switches: Switches) -> String {
    let stalled: Vec<_> = NAMES.iter().zip(all).filter(|(_, now)| now.stalled).map(|(name, _)| *name).collect();
    let held = |of: fn(&Now) -> (u64, u64)| all.iter().map(|now| of(now).0).sum::<u64>();
    let (common, recs) = (held(|now| now.in_common), all[0].in_common.0);
    let listed = match stalled.as_slice() {
        [] if all.iter().all(|now| now.window.came == 0) => return "Nobody comes.".to_owned(),
        [] => return "All three are served.".to_owned(),
        [one] => format!("{one} is stalled"),
        [rest @ .., last] => format!("{} and {last} are stalled", rest.join(", ")),
    };
    if switches.bulkheads && stalled == ["recs"] {
        return format!("{listed}, in a room of its own; search and payments go on.");
    }
    if common > 0 {
        return format!("{listed}: recs holds {recs} of the {WORKERS} workers that all three share.");
    }
    format!("{listed}.")
}
