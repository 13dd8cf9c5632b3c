//! Memory: what is allocated now, to the byte, and what the process holds of the machine.
//!
//! Invariant: read at rest, what is allocated depends on what is kept alone.

use std::alloc::System;

use cap::Cap;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Bytes allocated and not freed.
pub(crate) fn allocated() -> usize {
    ALLOCATOR.allocated()
}

/// Bytes of the machine's memory, where the system says.
pub(crate) fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: usize = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}
