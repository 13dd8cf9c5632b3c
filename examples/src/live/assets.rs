//! # The pages' parts
//!
//! As they are served: nothing is built, and nothing is fetched from elsewhere.
//!
//! Invariants:
//! * what is not listed here is not served.

/// Text, and what it is.
type Part = (&'static str, &'static str);

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// A part by its name.
pub(super) fn find(name: &str) -> Option<Part> {
    Some(match name {
        "style.css" => ("text/css; charset=utf-8", include_str!("page/style.css")),
        "icon.svg" => ("image/svg+xml", include_str!("page/icon.svg")),
        "common.js" => (SCRIPT, include_str!("page/common.js")),
        "flood.js" => (SCRIPT, include_str!("page/flood.js")),
        "outage.js" => (SCRIPT, include_str!("page/outage.js")),
        _ => return None,
    })
}
