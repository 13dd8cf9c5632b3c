//! watertight
