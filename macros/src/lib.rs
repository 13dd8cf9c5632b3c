//! The attribute of watertight.
