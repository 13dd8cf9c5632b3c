//! # The recs outage, and the pieces it is made of
//!
//! A claim about failing dependencies is worth what its measurement is worth. So nothing in here is simulated: the shop
//! and its vendor are HTTP servers on loopback, the pool is a real one over a real database, visitors are real clients,
//! and the clock is the one on the wall. What is small is the stage, never the physics.
//!
//! The pieces stand alone, because the next experiment needs other numbers and the same pieces:
//!
//! ```text
//!   load ──► shop ──► vendor        meter, server   what both ends count, how both ends listen
//!   probe ─►   │                    tally, get      one request's result, and many requests' figures
//!              ▼                    stop            how everything ends early
//!            pool                   outage          puts the pieces together, once per variant
//!                                   progress, report   shows it while it runs, and after
//!                                   live     the outage and the flood as pages to watch
//!                                   lab      the published experiments, each bare and guarded
//!                                   top      a dashboard in the terminal, of whatever process serves one
//! ```
//!
//! Invariants:
//! * loopback only, every port chosen by the system, nothing written to disk but the files asked for;
//! * every wait has an end, except the one on show: the shop's call to its vendor;
//! * two runs share nothing: fresh vendor, fresh pool, fresh shop, fresh clients.

pub mod fates;
pub mod get;
pub mod lab;
pub mod live;
pub mod load;
pub mod meter;
pub mod outage;
pub mod pool;
pub mod probe;
pub mod progress;
pub mod report;
pub mod server;
pub mod shop;
pub mod stop;
pub mod tally;
pub mod top;
pub mod vendor;
