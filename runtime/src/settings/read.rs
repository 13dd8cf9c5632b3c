//! The readers of the table of keys: from what is written to what is meant, or to a sentence.
//!
//! Invariant: nothing is guessed; what is refused is told what to write.

use super::keys::Wrong;
use super::value::{Force, Raw, Value};
use crate::declaration::limits::{
    LEAST_SHARE, LONGEST, LONGEST_WINDOW, MOST_CALLS, MOST_PER_SECOND, MOST_PROBES, MOST_RETRIES, MOST_SLOTS,
    MOST_THREADS, SHORTEST_INTERVAL, SHORTEST_WINDOW,
};
use crate::declaration::units::{nanos, per_second, share as percentage, tenths, whole};
use crate::strategies::breaker::Window;
use crate::strategies::hedge::After;
use crate::strategies::rate::Figures;
use crate::strategies::retry::Allowance;

type Read = Result<Value, Wrong>;

fn wrong<T>(what: impl Into<String>, instead: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong(what.into(), instead.into()))
}

fn text<'a>(raw: &'a Raw, example: &str) -> Result<&'a str, Wrong> {
    match raw {
        Raw::Text(text) if text.contains(char::is_whitespace) => {
            let closed: String = text.split_whitespace().collect();
            wrong("there is a space in it", format!("write \"{closed}\""))
        }
        Raw::Text(text) => Ok(text),
        Raw::Whole(_) | Raw::Decimal(_) => wrong("a number alone has no unit", format!("write {example}")),
        Raw::Flag(_) | Raw::Other(_) => wrong("that is no text", format!("write {example}")),
    }
}

fn nanos_of(text: &str) -> Result<u64, Wrong> {
    nanos(text, "nothing can finish in no time").map_err(|(what, instead)| Wrong(what, instead))
}

fn number(raw: &Raw, (least, most): (u64, u64), example: &str) -> Result<u32, Wrong> {
    let number = match raw {
        Raw::Whole(number) => u64::try_from(*number).ok(),
        _ => None,
    };
    let fits = number.filter(|number| (least..=most).contains(number)).and_then(|number| u32::try_from(number).ok());
    fits.map_or_else(
        || wrong(format!("it has to be a whole number from {least} to {most}"), format!("write {example}")),
        Ok,
    )
}

pub(super) fn enabled(raw: &Raw) -> Read {
    match raw {
        Raw::Flag(on) => Ok(Value::Enabled(*on)),
        // The habit of environment variables.
        Raw::Whole(on @ (0 | 1)) => Ok(Value::Enabled(*on == 1)),
        _ => wrong("a switch is on or off", "write true or false"),
    }
}

pub(super) fn mode(raw: &Raw) -> Read {
    match raw {
        Raw::Text(text) if text == "observe" => Ok(Value::Observes(true)),
        Raw::Text(text) if text == "enforce" => Ok(Value::Observes(false)),
        _ => wrong("there are two modes", "write \"observe\" or \"enforce\""),
    }
}

pub(super) fn force(raw: &Raw) -> Read {
    match raw {
        Raw::Text(text) if text == "open" => Ok(Value::Force(Force::Open)),
        Raw::Text(text) if text == "closed" => Ok(Value::Force(Force::Closed)),
        _ => wrong("a breaker is held in one of two states", "write \"open\" or \"closed\""),
    }
}

pub(super) fn length(raw: &Raw) -> Read {
    nanos_of(text(raw, "a number and a unit: \"300ms\"")?).map(Value::Length)
}

pub(super) fn retries(raw: &Raw) -> Read {
    if *raw == Raw::Whole(0) {
        return wrong("0 further attempts are none", "write `retry.enabled = false`, or 1 or more");
    }
    number(raw, (1, MOST_RETRIES), "how many further attempts there may be: 2").map(Value::Whole)
}

pub(super) fn slots(raw: &Raw) -> Read {
    if *raw == Raw::Whole(0) {
        let instead = "write how many may run at once, 1 or more; to shut a function off, hold its breaker open";
        return wrong("no call could ever run in 0 slots", instead);
    }
    number(raw, (1, MOST_SLOTS), "how many may run at once: 8").map(Value::Whole)
}

pub(super) fn queue(raw: &Raw) -> Read {
    number(raw, (0, MOST_SLOTS), "how many may wait: 16").map(Value::Whole)
}

pub(super) fn threads(raw: &Raw) -> Read {
    number(raw, (1, MOST_THREADS), "how many may run at once: 4").map(Value::Whole)
}

pub(super) fn calls(raw: &Raw) -> Read {
    number(raw, (1, MOST_CALLS), "how many results it takes to judge: 20").map(Value::Whole)
}

pub(super) fn probes(raw: &Raw) -> Read {
    number(raw, (1, MOST_PROBES), "how many may ask at once: 1").map(Value::Whole)
}

pub(super) fn share(raw: &Raw) -> Read {
    let text = text(raw, "a percentage: \"50%\"")?;
    match percentage(text) {
        Some(share) if (LEAST_SHARE..=1.0).contains(&share) => Ok(Value::Share(share)),
        Some(_) => wrong("a share lies between 0.1 % and 100 %", "write \"50%\""),
        None => wrong("that is no percentage", "write \"50%\""),
    }
}

pub(super) fn window(raw: &Raw) -> Read {
    let Raw::Text(_) = raw else {
        let calls = number(raw, (1, MOST_CALLS), "how many results are judged together: 100, or a time: \"10s\"")?;
        return Ok(Value::Window(Window::Calls(calls)));
    };
    let time = nanos_of(text(raw, "100 or \"10s\"")?)?;
    if (SHORTEST_WINDOW..=LONGEST_WINDOW).contains(&time) {
        return Ok(Value::Window(Window::Time(time)));
    }
    wrong("a window of time is 100ms to 1h long", "write \"10s\", or how many results are judged together: 100")
}

pub(super) fn pauses(raw: &Raw) -> Read {
    let text = text(raw, "the first pause and the longest one: \"50ms..2s\"")?;
    let Some((first, cap)) = text.split_once("..") else {
        return wrong("one length says only half of it", "write the first pause and the longest one: \"50ms..2s\"");
    };
    let (first_nanos, cap_nanos) = (nanos_of(first)?, nanos_of(cap)?);
    if first_nanos > cap_nanos {
        return wrong("the first pause is longer than the longest", format!("write \"{cap}..{first}\""));
    }
    Ok(Value::Pauses { first: first_nanos, cap: cap_nanos })
}

pub(super) fn allowance(raw: &Raw) -> Read {
    const INSTEAD: &str = "write \"10%\" or \"10%+5/s\"";
    let text = text(raw, "\"10%\" or \"10%+5/s\"")?;
    let (part, granted) = text.split_once('+').unwrap_or((text, "1/s"));
    match (percentage(part), per_second(granted)) {
        (Some(part), _) if part > 1.0 => wrong("more than one retry per call is no budget", INSTEAD),
        (Some(_), Some(granted)) if granted > MOST_PER_SECOND => wrong("a million a second is no budget", INSTEAD),
        (Some(0.0), Some(0.0)) => {
            wrong("nothing would ever be retried", "write `retry.enabled = false`, or allow some")
        }
        (Some(per_call), Some(per_second)) => Ok(Value::Allowance(Allowance { per_call, per_second })),
        _ => wrong("that is no share of the calls", INSTEAD),
    }
}

pub(super) fn after(raw: &Raw) -> Read {
    let text = text(raw, "\"p95\" or \"50ms\"")?;
    if let Some(percentile) = text.strip_prefix('p') {
        return match tenths(percentile) {
            Some(tenths @ 500..1_000) => Ok(Value::After(After::Percentile(tenths))),
            _ => wrong("a percentile lies between p50 and p99.9", "write \"p95\", or a time: \"50ms\""),
        };
    }
    match nanos_of(text)? {
        ..1_000_000 => wrong("no timer waits less than a millisecond", "write \"1ms\" or more, or \"p95\""),
        nanos => Ok(Value::After(After::Fixed(nanos))),
    }
}

pub(super) fn rate(raw: &Raw) -> Read {
    const INSTEAD: &str = "write \"100/s\" or \"100/s/burst:10\"";
    let text = text(raw, "\"100/s\"")?;
    let mut parts = text.split('/');
    let count = parts.next().and_then(whole).and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
    let (Some(count), Some(unit)) = (count, parts.next()) else {
        return wrong("it does not say how many in how long", INSTEAD);
    };
    let one = if unit.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "1" };
    let unit = nanos_of(&format!("{one}{unit}"))?;
    let burst = match parts.next() {
        None => count,
        Some(part) => {
            let burst = part.strip_prefix("burst:").and_then(whole).and_then(|burst| u32::try_from(burst).ok());
            let Some(burst) = burst.filter(|burst| *burst > 0) else {
                return wrong(format!("`{part}` is no part of it here"), INSTEAD);
            };
            burst
        }
    };
    if let Some(more) = parts.next() {
        return wrong(format!("`{more}` is one part too many"), INSTEAD);
    }
    let figures = Figures { count, unit, burst };
    let interval = unit / u64::from(count);
    if interval < SHORTEST_INTERVAL {
        return wrong("that is more than a million a second, finer than this can tell apart", INSTEAD);
    }
    if u128::from(interval) * u128::from(burst) > u128::from(LONGEST) {
        return wrong("it would take more than thirty years to fill up", INSTEAD);
    }
    Ok(Value::Rate(figures))
}
