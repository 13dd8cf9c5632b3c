//! # Pages to watch
//!
//! A table after half a minute convinces; seeing the cart stop while nothing is wrong with it convinces sooner. So the outage
//! and the flood can be watched in a browser, and the flood has switches to turn.
//!
//! ```text
//!   board    what the outage's runs look like while they go on        outage, flood   what their pages show, as data
//!   serve    the addresses, the stream                                guard           who may ask, who may turn a switch
//!   page/    markup, style and scripts, as they are served            assets          the same, by name
//! ```
//!
//! The page shows what the server says and works out nothing: state is one JSON document, four times a second.
//!
//! Invariants:
//! * loopback only, and only for loopback names;
//! * nothing is loaded from elsewhere, and what the state says is put on the page as text;
//! * watching changes nothing; a switch is turned by a request that no other site can send.

mod assets;
pub mod board;
pub mod flood;
mod guard;
pub mod outage;
mod serve;

pub use guard::own_site_only;
pub use serve::{Live, Show, serve};
