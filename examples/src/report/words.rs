//! # Numbers as words
//!
//! One way to print a share and one to print a latency, so that two places never show one figure differently.
//!
//! Invariants:
//! * absent is "-";
//! * three digits at most before the unit changes, and no more precision than was measured.

use std::time::Duration;

/// A share in percent.
pub fn share(percent: Option<f64>) -> String {
    match percent {
        None => "-".to_owned(),
        Some(whole) if whole >= 100.0 => "100 %".to_owned(),
        Some(part) => format!("{part:.1} %"),
    }
}

/// A latency.
pub fn latency(took: Option<Duration>) -> String {
    let Some(took) = took else { return "-".to_owned() };
    let millis = took.as_secs_f64() * 1e3;
    match millis {
        short if short < 10.0 => format!("{short:.1} ms"),
        middle if middle < 1_000.0 => format!("{middle:.0} ms"),
        long => format!("{:.2} s", long / 1e3),
    }
}

/// A count, with its thousands kept apart.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{count, latency, share};
    use std::time::Duration;

    #[test]
    fn figures_read_well() {
        assert_eq!(share(None), "-");
        assert_eq!(share(Some(100.0)), "100 %");
        assert_eq!(share(Some(1.3)), "1.3 %");
        assert_eq!(latency(None), "-");
        assert_eq!(latency(Some(Duration::from_micros(1_234))), "1.2 ms");
        assert_eq!(latency(Some(Duration::from_millis(312))), "312 ms");
        assert_eq!(latency(Some(Duration::from_millis(5_004))), "5.00 s");
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }
}
