//! The static behind one guarded function: its declaration, its figures, and its pipeline once it has been called.
//!
//! It is built in a `const`, so a function that is never called costs its static and nothing else; the pipeline is
//! resolved at the first call and never again.

use std::sync::OnceLock;

use crate::call::Identity;
use crate::call::intake::Intake;
use crate::call::tally::Tally;
#[cfg(feature = "testing")]
use crate::call::world::{Copies, World};
use crate::catalogue::{self, Entry};
use crate::declaration::{Declaration, Setting};
use crate::pipeline::{Call, Pipeline, Start};

/// One guarded function.
pub struct Site {
    declaration: Declaration,
    tally: Tally,
    pipeline: OnceLock<Pipeline>,
}

impl Site {
    /// The site of a declaration.
    #[allow(clippy::large_types_passed_by_value)] // it stays, in a static or a guard
    pub(crate) const fn new(declaration: Declaration) -> Self {
        // Evaluated once, and not for every annotated function.
        Self { declaration, tally: const { Tally::new() }, pipeline: const { OnceLock::new() } }
    }

    /// The site of what an attribute says: of whom, where, and which settings.
    pub const fn of<const N: usize>(
        name: &'static str,
        module: &'static str,
        file: &'static str,
        line: u32,
        settings: [Setting; N],
    ) -> Self {
        Self::new(Declaration::of((name, module), (file, line), settings))
    }

    /// Its entry in the catalogue.
    pub const fn entry(&'static self) -> Entry {
        Entry { declaration: &self.declaration, tally: &self.tally }
    }

    /// What it is called and where it stands.
    pub(crate) const fn identity(&'static self) -> &'static Identity {
        &self.declaration.identity
    }

    /// What was declared.
    pub(crate) const fn declaration(&'static self) -> &'static Declaration {
        &self.declaration
    }

    fn start(&'static self) -> Start {
        #[cfg(feature = "testing")]
        if let Some(world) = World::here() {
            static COPIES: Copies<Pipeline> = Copies::new();
            return Start::of(COPIES.of(world, std::ptr::from_ref(self).addr(), || self.resolve()).enrolled());
        }
        match self.pipeline.get() {
            Some(pipeline) => Start::of(pipeline),
            None => Start::of(self.first()),
        }
    }

    /// Resolves its names, at its first call.
    #[cold]
    fn first(&'static self) -> &'static Pipeline {
        self.pipeline.get_or_init(|| self.resolve()).enrolled()
    }

    /// Resolves its names now and not at its first call, so that figures declared at run time hold from here on.
    pub(crate) fn ready(&'static self) {
        self.first();
    }

    #[cold]
    fn resolve(&'static self) -> Pipeline {
        catalogue::enrol(self.entry());
        let entry = self.entry().here();
        // One that was not listed when stopping began.
        entry.tally.intake.advance(Intake::here().stage.read());
        Pipeline::build(entry)
    }
}

impl Call {
    /// Begins a call of a site.
    #[allow(clippy::inline_always)] // see `Call::from_start`
    #[inline(always)]
    pub fn begin(site: &'static Site) -> Self {
        Self::from_start(site.start())
    }
}
