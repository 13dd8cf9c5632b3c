//! A key as a number of 128 bits, and as the beginning of its text.
//!
//! The number is made from the key's hash under a secret of the process. It stands for the key, which may be borrowed or large
//! and is kept nowhere. That two keys have one number is as likely as that one of `2^128` things drawn at random is drawn
//! twice: for a billion keys, one in `10^21`. And it cannot be brought about, as long as `SipHash` is what it is taken for,
//! since the secret is unknown to whoever chooses keys.
//!
//! What several processes have to agree on cannot be made with a secret of one of them, nor from a hash that the next release of
//! a compiler may compute otherwise: it is made from the key's text ([`widely`]). Whoever chooses texts can bring it about that
//! two have one number, and gains that those two share what each would have had.
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

/// What a key is known by in all processes of a service, whoever built them: 64 bits of its whole text, never 0.
///
/// FNV-1a, and then the mixing steps of `SplitMix64`, since the former leaves the upper bits of short texts alike.
pub(crate) fn widely(shown: impl fmt::Display) -> u64 {
    struct Text(u64);
    impl fmt::Write for Text {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 = text.bytes().fold(self.0, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            Ok(())
        }
    }
    let mut text = Text(0xcbf2_9ce4_8422_2325);
    // Its own errors are the key's affair; what was written until then is its text.
    let _ = fmt::Write::write_fmt(&mut text, format_args!("{shown}"));
    let mixed = (text.0 ^ (text.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)).max(1)
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
