//! The dashboard, asked over real sockets as a browser would, and drawn by one.
//!
//! | module | what it holds |
//! |---|---|
//! | `figures` | what the panels say is what the runtime counted |
//! | `access` | loopback, names, tokens, policy; text stays text |
//! | `viewers` | streams end with their viewer, are bounded, and delay nobody |
//! | `control` | figures changed from the page, with an end, a name and a line in the record |
//! | `ask`, `chromium` | what they share, and what `tests/hours` has in common with them |
//! | `browser` | the page in headless Chromium: drawn, without errors, names with markup as text |

mod access;
mod ask;
mod browser;
mod chromium;
mod control;
mod figures;
mod viewers;

use ask::{json, panels, row, served, until};
