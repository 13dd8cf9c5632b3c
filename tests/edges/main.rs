//! Deadlines that travel from process to process: over real sockets, in real time.
//!
//! A hop is a server on a port of its own, and what it does is counted on its side: who works, who has stopped, and when. All
//! hops share this process, so that their moments can be compared; nothing but bytes goes from one to the next.
//!
//! How late a machine is when others use it too is measured while a test runs ([`support::Pace`]), and added to what is allowed.
//! The tests of one file run one after another.

mod by_grpc;
mod by_http;
mod by_shutdown;
mod support;
