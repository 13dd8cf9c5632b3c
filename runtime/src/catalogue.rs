//! Every guarded function of the binary, called or not.
//!
//! "No data" must not look like "no such function". So each attribute leaves an entry in a list that the linker puts
//! together, and the list is there from process start, generic functions included (one entry for all their types). A
//! linker or platform that drops such lists costs an empty row and nothing else: a site also enrols itself at its first
//! call. With the feature `catalogue` off, that is all there is.
//!
//! An entry is written with the macro that the list itself has brought into being, and not with the attribute
//! `#[distributed_slice]`, which is how its users are told to. The attribute is a procedural macro that ends in a call of that
//! same macro; what it adds is a function with two closures in it, by which the compiler is to see that the element is of the
//! list's type. For one entry that is nothing. Here it was paid for by every annotated function, and came to a twentieth of
//! what the attribute costs to compile (`docs/compile-cost.md`), to check a type that never varies: it stands in our own macro,
//! four lines from the element. Section names and platforms remain the library's. The price is that this form is not among what
//! it promises, so the version is pinned to one; a newer one is taken when the tests have seen every site in the list. Where
//! another crate insists on a newer one first, the feature `catalogue` can be left out.
//!
//! Invariants: an entry appears once; reading the catalogue takes no lock that a call needs.

use crate::base::sync::Mutex;
use crate::call::tally::Tally;
#[cfg(feature = "testing")]
use crate::call::world::{Copies, World};
use crate::declaration::Declaration;
use std::sync::OnceLock;

/// What the catalogue knows of a site: its declaration and where its figures are.
#[derive(Clone, Copy)]
pub struct Entry {
    pub(crate) declaration: &'static Declaration,
    pub(crate) tally: &'static Tally,
}

/// The list the linker puts together.
#[cfg(feature = "catalogue")]
#[linkme::distributed_slice]
pub static LINKED: [Entry] = [..];

#[cfg(feature = "catalogue")]
fn linked() -> &'static [Entry] {
    &LINKED
}

#[cfg(not(feature = "catalogue"))]
fn linked() -> &'static [Entry] {
    &[]
}

fn enrolled() -> &'static Mutex<Vec<Entry>> {
    static ENROLLED: OnceLock<Mutex<Vec<Entry>>> = OnceLock::new();
    ENROLLED.get_or_init(|| Mutex::new(Vec::new()))
}

impl Entry {
    /// The entry as the calling code's world has it: the same declaration, and figures of that world.
    pub(crate) fn here(self) -> Self {
        #[cfg(feature = "testing")]
        if let Some(world) = World::here() {
            static COPIES: Copies<Tally> = Copies::new();
            let tally = COPIES.of(world, std::ptr::from_ref(self.tally).addr(), Tally::new);
            return Self { tally, ..self };
        }
        self
    }

    fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self.declaration, other.declaration)
    }
}

/// Adds a site that the linker's list has lost. Once per site.
pub(crate) fn enrol(entry: Entry) {
    if linked().iter().any(|known| known.is(&entry)) {
        return;
    }
    let mut enrolled = enrolled().lock();
    if !enrolled.iter().any(|known| known.is(&entry)) {
        enrolled.push(entry);
    }
}

/// Every site, in the order of module, file and line.
pub(crate) fn entries() -> Vec<Entry> {
    let mut all: Vec<Entry> = linked().to_vec();
    all.extend(enrolled().lock().iter());
    all.sort_by_key(|entry| {
        let identity = &entry.declaration.identity;
        (identity.module, identity.file, identity.line, identity.name)
    });
    all.into_iter().map(Entry::here).collect()
}
