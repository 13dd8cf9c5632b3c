//! A length of time as it is written in a header, read and written.
//!
//! What comes in was written by anybody. So a value is nothing but what the protocol says it is, and everything else counts as
//! not said; more than can be counted is as long as can be. The functions here are pure and import nothing, since a fuzzer is
//! built from this file as well (`fuzz/`).
//!
//! Invariants: no value panics or overflows; what is written can be read again, and is never more than it was.

pub(super) const MILLI: u64 = 1_000_000;

/// Whole milliseconds, written in digits; in nanoseconds. More than can be counted is as long as can be.
#[cfg(any(feature = "http", feature = "reqwest"))]
pub(in super::super) fn read_millis(value: &[u8]) -> Option<u64> {
    digits(value).map(|millis| millis.saturating_mul(MILLI))
}

/// What is left, in whole milliseconds.
#[cfg(feature = "reqwest")]
pub(in super::super) fn write_millis(nanos: u64) -> String {
    (nanos / MILLI).to_string()
}

/// A number of nothing but digits.
fn digits(value: &[u8]) -> Option<u64> {
    let are_digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| are_digits)?;
    Some(text.parse().unwrap_or(u64::MAX))
}

/// The units of gRPC, the finest first, and how many nanoseconds each is.
#[cfg(feature = "tonic")]
const UNITS: [(u8, u64); 6] =
    [(b'n', 1), (b'u', 1_000), (b'm', MILLI), (b'S', 1_000 * MILLI), (b'M', 60_000 * MILLI), (b'H', 3_600_000 * MILLI)];
/// How many digits gRPC allows in front of the unit.
#[cfg(feature = "tonic")]
const DIGITS: usize = 8;

/// A length as gRPC writes it: at most eight digits and a unit; in nanoseconds.
#[cfg(feature = "tonic")]
pub(in super::super) fn read_grpc(value: &[u8]) -> Option<u64> {
    let (letter, number) = value.split_last()?;
    let (_, nanos) = UNITS.into_iter().find(|(unit, _)| unit == letter)?;
    let number = digits(number).filter(|_| number.len() <= DIGITS)?;
    Some(number.saturating_mul(nanos))
}

/// The same the other way: in the finest unit whose number is short enough, and never more than it is.
#[cfg(feature = "tonic")]
pub(in super::super) fn write_grpc(nanos: u64) -> String {
    const MOST: u64 = 99_999_999;
    let fits = UNITS.into_iter().find(|(_, unit)| nanos / unit <= MOST);
    let (letter, unit) = fits.unwrap_or(UNITS[UNITS.len() - 1]);
    format!("{}{}", (nanos / unit).min(MOST), char::from(letter))
}

#[cfg(all(test, feature = "http", feature = "reqwest", feature = "tonic"))]
#[path = "../../../../fuzz/src/headers.rs"]
mod corpus;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_nothing_but_digits() {
        for nothing in ["", " 5", "5 ", "-5", "+5", "5ms", "1.5", "0x10", "5,6", "\u{665}"] {
            assert_eq!(digits(nothing.as_bytes()), None, "{nothing:?}");
        }
        assert_eq!((digits(b"1500"), digits(b"0"), digits(b"007")), (Some(1_500), Some(0), Some(7)));
        assert_eq!(digits("9".repeat(40).as_bytes()), Some(u64::MAX), "longer than anything");
    }

    #[cfg(feature = "tonic")]
    #[test]
    fn grpc_lengths_are_read_in_all_units_and_bad_ones_are_not_said() {
        for (written, nanos) in [
            ("7n", 7),
            ("7u", 7_000),
            ("7m", 7_000_000),
            ("7S", 7_000_000_000),
            ("7M", 420_000_000_000),
            ("7H", 25_200_000_000_000),
            ("99999999H", u64::MAX),
            ("00000001S", 1_000_000_000),
        ] {
            assert_eq!(read_grpc(written.as_bytes()), Some(nanos), "{written}");
        }
        for bad in ["", "S", "7", "7s", "7 S", "-7S", "7.5S", "100000000m", "000000001S", "7Sm", "\u{b5}7u"] {
            assert_eq!(read_grpc(bad.as_bytes()), None, "{bad:?}");
        }
    }

    #[cfg(feature = "tonic")]
    #[test]
    fn grpc_lengths_are_written_in_the_finest_unit_with_at_most_eight_digits() {
        for (nanos, written) in [
            (0, "0n"),
            (99_999_999, "99999999n"),
            (100_000_000, "100000u"),
            (1_999_999_999, "1999999u"),
            (99_999_999_999, "99999999u"),
            (100_000_000_000, "100000m"),
            (u64::MAX, "5124095H"),
        ] {
            assert_eq!(write_grpc(nanos), written);
            assert!(read_grpc(written.as_bytes()).is_some_and(|read| read <= nanos), "{written} is never more");
        }
    }
}
