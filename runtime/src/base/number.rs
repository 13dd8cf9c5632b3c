//! A key as a number of 128 bits, and as the beginning of its text.
//!
//! The number is made from the key's hash under a secret of the process. It stands for the key, which may be borrowed or large
//! and is kept nowhere. That two keys have one number is as likely as that one of `2^128` things drawn at random is drawn
//! twice: for a billion keys, one in `10^21`. And it cannot be brought about, as long as `SipHash` is what it is taken for,
//! since the secret is unknown to whoever chooses keys.
//!
//! Invariants: equal keys have equal numbers within a process, and no number says anything outside of it; a text never takes
//! more than 68 bytes.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::{Arc, OnceLock};

/// A key's number.
///
/// Two passes of the standard library's keyed hash (`SipHash-1-3`), apart by their first byte: a keyed function that cannot be
/// told from a random one gives two numbers that know nothing of each other.
pub(crate) fn identify<K: Hash + ?Sized>(key: &K) -> u128 {
    static SECRET: OnceLock<RandomState> = OnceLock::new();
    let secret = SECRET.get_or_init(RandomState::new);
    let half = |which: u8| {
        let mut hasher = secret.build_hasher();
        hasher.write_u8(which);
        key.hash(&mut hasher);
        u128::from(hasher.finish())
    };
    (half(0) << 64) | half(1)
}

/// A key as it is shown to people: the beginning of it.
pub(crate) fn beginning(shown: impl fmt::Display) -> Arc<str> {
    const MOST: usize = 64;
    struct Beginning(String);
    impl fmt::Write for Beginning {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let room = MOST - self.0.len();
            if text.len() <= room {
                self.0.push_str(text);
                return Ok(());
            }
            let cut = (0..=room).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            self.0.push_str(&text[..cut]);
            self.0.push('…');
            Err(fmt::Error)
        }
    }
    let mut beginning = Beginning(String::new());
    // An error says that the rest was left out.
    let _ = fmt::Write::write_fmt(&mut beginning, format_args!("{shown}"));
    beginning.0.into()
}
