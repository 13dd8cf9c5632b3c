//! Pools of connections that bulkheads stand in front of, by name and size.
//!
//! A bulkhead in front of a pool protects it as long as there are no more slots than connections. With more, those who
//! have a slot wait in the pool's own queue, first come, first served over all kinds of work: one slow kind makes all
//! others wait again, which is what the bulkhead was for. A pool is somebody else's, made at run time, and often behind
//! several bulkheads in several files, so nobody sees the sum. [`declare_pool`] says what there is; the attribute's
//! `guards` says who goes there; [`check`](crate::check()) adds up.
//!
//! Invariants: nothing here is on the path of a call; saying the same of one pool twice, at the same place or at two, changes
//! nothing.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::OnceLock;

use crate::base::sync::Mutex;
use crate::call::Identity;

/// What was said of a pool: how large it is, and where.
pub(crate) type Said = Vec<(u32, Identity)>;

fn pools() -> &'static Mutex<BTreeMap<&'static str, Said>> {
    static POOLS: OnceLock<Mutex<BTreeMap<&'static str, Said>>> = OnceLock::new();
    POOLS.get_or_init(|| Mutex::new(BTreeMap::new()))
}

/// Says that there is a pool of `size` connections, for [`check`](crate::check()) to hold against the slots of the bulkheads that
/// say `guards = "NAME"`. To be called where the pool is made, before the check.
///
/// ```
/// use watertight::resilient;
///
/// #[resilient(bulkhead = "doc-orders:8/queue:16", guards = "doc-pg")]
/// async fn order(id: u64) -> Result<u64, watertight::Error> {
///     Ok(id)
/// }
///
/// #[resilient(bulkhead = "doc-reports:4", guards = "doc-pg")]
/// async fn report(id: u64) -> Result<u64, watertight::Error> {
///     Ok(id)
/// }
///
/// watertight::declare_pool("doc-pg", 10);
/// let report = watertight::check();
/// let finding = report.findings.iter().find(|finding| finding.name == "doc-pg").expect("12 slots for 10");
/// assert!(finding.remedy.starts_with("12 slots (4 of `doc-reports`, 8 of `doc-orders`) lead to 10 connections"));
/// ```
#[track_caller]
pub fn declare_pool(name: &'static str, size: u32) {
    let at = Location::caller();
    let said = (size, Identity::new(name, "", at.file(), at.line()));
    let mut pools = pools().lock();
    let all = pools.entry(name).or_default();
    if !all.contains(&said) {
        all.push(said);
    }
}

/// All pools that were declared.
pub(crate) fn declared() -> BTreeMap<&'static str, Said> {
    pools().lock().clone()
}
