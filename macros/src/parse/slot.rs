//! A value that can be given once.
//!
//! "Already set" is the check that gets pasted: one branch per key, and sooner or later a branch that looks at another
//! key than the one it sets. Here it exists once. A slot also remembers *that* its key was written when the value was
//! wrong, so that one mistake stays one message: a bad `timeout` must not bring "this attribute protects nothing" with
//! it.
//!
//! On a method of an annotated `impl` block a key can also be taken away again (`retry = off`): written, and yet not
//! there. [`Slot::over`] is the one place where a method's word and its block's default meet.
//!
//! Invariants
//! - The first value stays; a second one is a mistake at the second key.
//! - `written` is true from the first mention on, whatever became of the value; a key that is off counts as absent once
//!   it has met its default.

use proc_macro2::{Ident, Span};

use crate::diag::Errors;

/// One key's value and the place where the key was written.
#[derive(Clone)]
pub(crate) struct Slot<T> {
    key: Option<Span>,
    value: Option<T>,
    off: bool,
    inherited: bool,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self { key: None, value: None, off: false, inherited: false }
    }
}

impl<T> Slot<T> {
    /// Takes the value read after `key`; `None` stands for one that was wrong and has been reported.
    pub(crate) fn set(&mut self, key: &Ident, value: Option<T>, errors: &mut Errors) {
        if self.key.is_some() {
            errors.at(
                key.span(),
                format!("`{key}` is given twice, and only one of the two could hold"),
                "keep one and remove the other",
            );
            return;
        }
        self.key = Some(key.span());
        self.value = value;
    }

    /// Takes `key = off`.
    pub(crate) fn set_off(&mut self, key: &Ident, errors: &mut Errors) {
        self.set(key, None, errors);
        self.off = self.value.is_none();
    }

    /// What holds for a method: its own word, or the default.
    pub(crate) fn over(self, default: &Self) -> Self
    where
        T: Clone,
    {
        match (self.key, self.off) {
            (Some(_), false) => self,
            (Some(_), true) => Self::default(),
            (None, _) => Self { inherited: true, ..default.clone() },
        }
    }

    /// The place of `key = off`.
    pub(crate) fn off(&self) -> Option<Span> {
        self.key.filter(|_| self.off)
    }

    /// Whether the key was mentioned at all.
    pub(crate) fn written(&self) -> bool {
        self.key.is_some()
    }

    /// The key's place.
    pub(crate) fn span(&self) -> Option<Span> {
        self.key
    }

    /// The place to blame for what the key does to one function: the key, or `function` where the key stands on the
    /// whole block.
    pub(crate) fn blame(&self, function: Span) -> Option<Span> {
        self.key.map(|key| if self.inherited { function } else { key })
    }

    /// The value, if it was written and right.
    pub(crate) fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }

    /// Whether this is the word of the block around.
    pub(crate) fn is_inherited(&self) -> bool {
        self.inherited
    }

    /// Gives the value away.
    pub(crate) fn take(self) -> Option<T> {
        self.value
    }
}
