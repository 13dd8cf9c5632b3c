//! The pieces over real sockets, the experiment in short, and the program as a user runs it.
//!
//! Real time on purpose: sockets and database threads do not follow a paused clock. One binary, whose tests run side by
//! side, so that all of it takes about as long as its longest one.

mod by_hand;
mod outage;
mod pieces;
mod program;
