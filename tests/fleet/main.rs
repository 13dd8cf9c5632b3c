//! Eight processes, a vendor that counts what reaches it, and a Redis of the test's own.
//!
//! The processes are this binary again: the test `worker` does nothing unless it is told to be one. Running calls are counted at
//! the vendor's side, over sockets, so that what is measured is what the vendor would see.

mod harness;
mod keys;
mod loads;
mod worker;
