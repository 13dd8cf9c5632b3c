//! What a `key` is, found by its type: shown by `Display` if it can be, else by `Debug`, else refused with a sentence.
//!
//! `(&&&KeyOf(&value)).key()` finds the trait whose implementation needs the most references first, as the kinds of
//! return types do. A value that can be no key finds the last, whose method asks for a trait that nothing has.
//!
//! Invariant: exactly one of the traits answers for any type.

use std::fmt::{self, Debug, Display};
use std::hash::Hash;

use crate::pipeline::Key;

/// What a key is made of. As `Debug` and `Display` it is what it is made of.
pub struct KeyOf<'a, K: ?Sized>(pub &'a K);

impl<K: Debug + ?Sized> Debug for KeyOf<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<K: Display + ?Sized> Display for KeyOf<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A key that says how it is shown.
pub trait KeyDisplayed {
    /// The key, as the runtime knows it.
    fn key(&self) -> Key<'_>;
}

impl<K: Hash + Eq + Display + ?Sized> KeyDisplayed for &&KeyOf<'_, K> {
    #[inline]
    fn key(&self) -> Key<'_> {
        Key::displayed(self.0, **self)
    }
}

/// A key that is shown as in source code.
pub trait KeyDebugged {
    /// The key, as the runtime knows it.
    fn key(&self) -> Key<'_>;
}

impl<K: Hash + Eq + Debug + ?Sized> KeyDebugged for &KeyOf<'_, K> {
    #[inline]
    fn key(&self) -> Key<'_> {
        Key::debugged(self.0, *self)
    }
}

/// Anything else cannot be a key, and says so.
pub trait KeyOfNothing {
    /// What it is.
    type Of: ?Sized;

    /// Not callable: nothing can be a key that got here.
    fn key(&self) -> Key<'_>
    where
        Self::Of: CanBeKey;
}

impl<K: ?Sized> KeyOfNothing for KeyOf<'_, K> {
    type Of = K;

    fn key(&self) -> Key<'_>
    where
        K: CanBeKey,
    {
        Key::displayed(&0_u8, &"")
    }
}

/// What a key has to be. Nothing has it; it is there for what it says.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a `key`: it is not `Hash + Eq`, or is shown by neither `Display` nor `Debug`",
    label = "callers cannot be told apart by this",
    note = "derive `Hash`, `PartialEq`, `Eq` and `Debug` for it, or write an expression whose value has them: `key = user.id`"
)]
pub trait CanBeKey {}
