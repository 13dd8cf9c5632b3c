//! What a guarded function is called and where it stands in the source.

use std::fmt;

/// The identity of one guarded function, or of a [`Guard`](crate::Guard).
///
/// Two functions of one name in different modules or `impl` blocks differ in `module` or `line`; a generic function is
/// one site for all its types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Identity {
    /// The function's own name, or what the attribute's `name` key says.
    pub name: &'static str,
    /// The module path it was written in; empty for a guard, which knows its file and line alone.
    pub module: &'static str,
    /// The source file, as the compiler names it.
    pub file: &'static str,
    /// The line of the function's name.
    pub line: u32,
}

impl Identity {
    pub(crate) const fn new(name: &'static str, module: &'static str, file: &'static str, line: u32) -> Self {
        Self { name, module, file, line }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.module.is_empty() { "" } else { "::" };
        write!(f, "{}{path}{} ({}:{})", self.module, self.name, self.file, self.line)
    }
}
