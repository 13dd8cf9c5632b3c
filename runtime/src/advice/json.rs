//! Advice as JSON. Lengths in milliseconds, shares from 0 to 1, `null` for what is not known.

use std::time::Duration;

use serde_json::{Value, json};

use super::curve::ENOUGH as OBSERVED;
use super::{Advice, Advised, Band, Length, Share, SiteAdvice};

pub(crate) fn ms(length: Duration) -> f64 {
    length.as_secs_f64() * 1e3
}

impl Advice {
    /// The advice as JSON: an array of objects, lengths in milliseconds, shares from 0 to 1.
    pub fn to_json(&self) -> String {
        self.sites.iter().map(SiteAdvice::json).collect::<Value>().to_string()
    }
}

impl Share {
    pub(crate) fn json(self) -> Value {
        json!({ "share": self.share, "low": self.low, "high": self.high })
    }
}

impl Length {
    pub(crate) fn json(self) -> Value {
        json!({ "ms": ms(self.length), "low_ms": ms(self.low), "high_ms": self.high.map(ms) })
    }
}

impl Band {
    pub(crate) fn json(self) -> Value {
        json!({ "from_ms": ms(self.from), "to_ms": ms(self.to), "peak_ms": ms(self.peak), "share": self.share })
    }
}

impl SiteAdvice {
    pub(crate) fn json(&self) -> Value {
        let (advised, why) = match self.advised {
            Advised::Timeout(length) => (length.json(), None),
            Advised::Unknown { running, watched_until } => {
                let (running, until) = (running, ms(watched_until));
                let why = json!({ "running": running, "watched_until_ms": until, "observed": self.observed, "needed": OBSERVED });
                (Value::Null, Some(why))
            }
            Advised::TooFew => (Value::Null, Some(json!("too few attempts"))),
        };
        json!({
            "function": self.identity.name,
            "module": self.identity.module,
            "file": self.identity.file,
            "line": self.identity.line,
            "attempts": self.attempts,
            "cut_off": self.cut_off,
            "observed": self.observed,
            "bands": self.bands.iter().map(|band| band.json()).collect::<Vec<_>>(),
            "timeout_ms": self.timeout.map(ms),
            "cut_by_timeout": self.cut_by_timeout.map(Share::json),
            "advised_timeout": advised,
            "unknown": why,
            "attempts_per_second": self.rate,
            "occupied_slots": self.occupied,
            "slots": self.slots,
            "worst_case": self.worst_case.json(),
        })
    }
}
