//! What has changed: breakers by themselves, and anything by hand.
//!
//! Invariant: a bounded list, the newest of which are kept.

use std::collections::VecDeque;
use std::sync::{Mutex, Once, PoisonError};

use crate::base::clock::Moment;
use crate::strategies::breaker::{Change, on_any_change};

/// How many are kept.
const MOST: usize = 200;

/// One line of the list.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    pub(crate) at: Moment,
    /// The breaker, where it is one's.
    pub(crate) breaker: Option<Change>,
    pub(crate) text: String,
}

static NOTED: Mutex<VecDeque<Noted>> = Mutex::new(VecDeque::new());

/// Begins to note what breakers do; once in a process, since a listener cannot be taken away.
pub(super) fn listen() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        on_any_change(|change| note(Some(*change), change.to_string()));
    });
}

/// Notes something.
pub(crate) fn note(breaker: Option<Change>, text: String) {
    let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
    if noted.len() == MOST {
        noted.pop_front();
    }
    noted.push_back(Noted { at: Moment::now(), breaker, text });
}

/// The newest first.
pub(crate) fn all() -> Vec<Noted> {
    NOTED.lock().unwrap_or_else(PoisonError::into_inner).iter().rev().cloned().collect()
}
