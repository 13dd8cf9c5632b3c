//! A fleet of a thousand on a paused clock: the real task and the real decisions, in front of the store's rule behind a network
//! that is slow, loses and is cut.
//!
//! `cargo test -p watertight --lib --features redis fleet::tests::simulator -- --nocapture` prints the figures of `docs/fleet.md`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::super::decide::Member;
use super::super::figures::Books;
use super::super::grant::Grants;
use super::super::limits::Limits;
use super::super::store::{Answer, Failure, Store};
use super::super::sync::Sync;
use super::*;
use crate::base::clock::Moment;
use crate::base::share::Share;

const MS: u64 = 1_000_000;
const TICK: u64 = 10;
/// How many ticks a call takes.
const LENGTH: usize = 10;

/// What lies between the processes and their store, and the store.
#[derive(Default)]
struct Network {
    grants: Mutex<Grants>,
    is_down: AtomicBool,
    messages: AtomicU64,
    claims: AtomicU64,
    most_claims: AtomicU64,
}

impl Network {
    fn grants(&self) -> std::sync::MutexGuard<'_, Grants> {
        self.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The way of one process to the store.
struct Way {
    network: Arc<Network>,
    process: Arc<Process>,
}

impl Way {
    /// Half a round trip; for ever behind a partition.
    async fn travel(&self) {
        sleep(Duration::from_micros(fastrand::u64(200..2_000))).await;
        if self.process.is_cut.load(Relaxed) || self.network.is_down.load(Relaxed) || fastrand::u8(..200) == 0 {
            std::future::pending::<()>().await;
        }
    }
}

impl Store for Way {
    async fn sync(&mut self, ask: &Ask) -> Result<Answer, Failure> {
        self.network.messages.fetch_add(1, Relaxed);
        self.network.claims.fetch_add(ask.claims.len() as u64, Relaxed);
        self.network.most_claims.fetch_max(ask.claims.len() as u64, Relaxed);
        self.travel().await;
        let now = Moment::now().since(Moment::from_raw(-1_000_000_000_000)) / MS;
        let answer = self.network.grants().sync(now, ask)?;
        self.travel().await;
        Ok(answer)
    }
}

/// One limit in one process.
#[derive(Default)]
struct Cell {
    share: AtomicU32,
    running: AtomicU32,
    peak: AtomicU32,
    pressed: AtomicBool,
}

/// A process that runs calls, as many as are wanted and its share allows.
#[derive(Default)]
struct Process {
    cell: Cell,
    demand: AtomicU32,
    is_cut: AtomicBool,
    /// Those that end with each of the next ticks.
    ends: Mutex<[u32; LENGTH]>,
}

impl Process {
    /// A tick passes: some calls end, others begin, and some are turned away.
    fn tick(&self, at: usize) -> u32 {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let (cell, demand) = (&self.cell, self.demand.load(Relaxed));
        let mut running = cell.running.load(Relaxed) - std::mem::take(&mut ends[at % LENGTH]);
        let begin = demand.min(cell.share.load(Relaxed)).saturating_sub(running);
        // As many in each tick as end in one, so that they do not end together.
        let begin = begin.min(demand.div_ceil(LENGTH as u32).max(1));
        ends[(at + LENGTH - 1) % LENGTH] += begin;
        running += begin;
        cell.running.store(running, Relaxed);
        cell.peak.fetch_max(running, Relaxed);
        if demand > cell.share.load(Relaxed) {
            cell.pressed.store(true, Relaxed);
        }
        running
    }
}

/// Its limits, for its task.
struct House {
    whole: u32,
    process: Arc<Process>,
}

impl Limits for House {
    fn read(&mut self, _: Moment) -> Vec<Reading> {
        let cell = &self.process.cell;
        let running = cell.running.load(Relaxed);
        vec![Reading {
            limit: "recs".into(),
            whole: self.whole,
            share: cell.share.load(Relaxed),
            running,
            peak: cell.peak.swap(running, Relaxed).max(running),
            pressed: cell.pressed.swap(false, Relaxed),
        }]
    }

    fn give(&mut self, shares: &[(Arc<str>, u32)], replicas: u32, _: Moment) {
        let share = shares.first().map_or(Share::Part(replicas), |(_, share)| Share::Leased(*share));
        self.process.cell.share.store(share.of(self.whole), Relaxed);
    }
}

/// A task for a process.
fn spawn<L: Limits>(name: usize, limits: L, way: Way, replicas: u32) -> JoinHandle<()> {
    let dice = (name as u32).wrapping_mul(618_033) % 1_000_000;
    let mut member = Member::new(format!("p{name}").into(), dice, 1_000 * MS, replicas, Moment::now());
    // They start one after the other, as processes do.
    member.failed(Moment::now(), (name % 5) as f64 / 5.0);
    let books = Arc::new(Books::new("simulated".to_owned(), &member));
    tokio::spawn(Sync { member, store: way, limits, books }.run(Arc::new(Notify::new())))
}

struct Fleet {
    network: Arc<Network>,
    processes: Vec<(Arc<Process>, Option<JoinHandle<()>>)>,
    ticks: usize,
}

impl Fleet {
    fn of(size: usize, whole: u32) -> Self {
        fastrand::seed(7);
        let network = Arc::new(Network::default());
        let processes = (0..size).map(|name| {
            let process = Arc::new(Process::default());
            process.cell.share.store(Share::Part(size as u32).of(whole), Relaxed);
            let way = Way { network: network.clone(), process: process.clone() };
            let task = spawn(name, House { whole, process: process.clone() }, way, size as u32);
            (process, Some(task))
        });
        Self { processes: processes.collect(), network, ticks: 0 }
    }

    fn want(&self, demand: impl Fn(usize) -> u32) {
        self.processes.iter().enumerate().for_each(|(at, (process, _))| process.demand.store(demand(at), Relaxed));
    }

    /// Lets time pass; the most that ran at once.
    async fn run(&mut self, seconds: f64) -> u32 {
        let mut most = 0;
        for _ in 0..(seconds * 1_000.0) as u64 / TICK {
            most = most.max(self.tick().await);
        }
        most
    }

    async fn tick(&mut self) -> u32 {
        sleep(Duration::from_millis(TICK)).await;
        self.ticks += 1;
        self.processes.iter().filter(|(_, task)| task.is_some()).map(|(process, _)| process.tick(self.ticks)).sum()
    }

    /// Until so many run; the milliseconds it took.
    async fn until(&mut self, most: u64, is_so: impl Fn(u32) -> bool) -> u64 {
        let mut passed = 0;
        while !is_so(self.tick().await) {
            passed += TICK;
            assert!(passed < most, "not within {most} ms");
        }
        passed
    }

    fn kill(&mut self, which: std::ops::Range<usize>) {
        for (_, task) in &mut self.processes[which] {
            task.take().expect("it lives").abort();
        }
    }

    fn cut(&self, which: std::ops::Range<usize>, is_cut: bool) {
        self.processes[which].iter().for_each(|(process, _)| process.is_cut.store(is_cut, Relaxed));
    }

    fn running(&self) -> Vec<u32> {
        self.processes.iter().map(|(process, _)| process.cell.running.load(Relaxed)).collect()
    }

    async fn messages_a_second(&mut self, seconds: f64) -> f64 {
        let before = self.network.messages.load(Relaxed);
        self.run(seconds).await;
        (self.network.messages.load(Relaxed) - before) as f64 / seconds
    }
}

/// Jain's index: 1 where all have the same, 1/n where one has all.
fn jain(all: &[f64]) -> f64 {
    let (sum, squares) = (all.iter().sum::<f64>(), all.iter().map(|it| it * it).sum::<f64>());
    sum * sum / (all.len() as f64 * squares)
}

#[tokio::test(start_paused = true)]
async fn messages_grow_with_the_fleet_up_to_a_thousand_a_second() {
    for (size, most) in [(8, 60.0), (50, 350.0), (200, 1_300.0), (500, 1_300.0), (1_000, 1_300.0)] {
        let mut fleet = Fleet::of(size, size as u32 * 8);
        fleet.want(|at| at as u32 % 16);
        fleet.run(7.0).await;
        let steady = fleet.messages_a_second(5.0).await;
        println!("{size} processes: {steady:.0} messages a second");
        assert!(steady < most, "{size} processes: {steady}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_thousand_processes_under_a_load_that_moves_never_run_more_than_the_limit() {
    let mut fleet = Fleet::of(1_000, 5_000);
    fleet.want(|_| 5);
    let mut most = fleet.run(7.0).await;
    for phase in 0..4_usize {
        // A tenth is hot, another tenth each time; the others want little.
        fleet.want(|at| if at % 10 == phase { 60 } else { (at % 3) as u32 });
        most = most.max(fleet.run(8.0).await);
        let running = fleet.running();
        let hot: Vec<f64> =
            running.iter().enumerate().filter(|(at, _)| at % 10 == phase).map(|(_, it)| f64::from(*it)).collect();
        let (used, fair) = (running.iter().sum::<u32>(), jain(&hot));
        println!("phase {phase}: {used} of 5000 run, Jain's index of the hot {fair:.3}, most so far {most}");
        assert!(used > 4_400, "what there is is used: {used}");
        assert!(fair > 0.97, "and evenly: {fair}");
    }
    assert!(most <= 5_000, "{most}");
}

#[tokio::test(start_paused = true)]
async fn the_dead_give_back_within_a_lease() {
    let mut fleet = Fleet::of(8, 64);
    fleet.want(|_| 64);
    fleet.run(3.0).await;
    fleet.kill(0..4);
    let left: u32 = fleet.running()[4..].iter().sum();
    assert!(left <= 34, "half of it: {left}");
    let passed = fleet.until(2_000, |running| running >= 62).await;
    println!("four of eight killed: the other four run all of it after {passed} ms");
    assert!(passed <= 1_000 + 200 + 2 * 100, "a lease, a sync, and the calls to fill it: {passed}");
    let mut large = Fleet::of(1_000, 5_000);
    large.want(|_| 60);
    large.run(15.0).await;
    large.kill(0..500);
    let passed = large.until(12_000, |running| running >= 4_850).await;
    println!("five hundred of a thousand killed: {passed} ms");
    assert!(passed <= 5_000 + 2_000, "a lease of five seconds and two syncs: {passed}");
}

#[tokio::test(start_paused = true)]
async fn a_partition_costs_at_most_a_part_for_each_that_is_cut_off_once_its_calls_have_ended() {
    for (size, whole, lease) in [(8_usize, 64_u32, 1.0), (1_000, 5_000, 5.0)] {
        let mut fleet = Fleet::of(size, whole);
        let (cut, part) = (size / 4, Share::Part(size as u32).of(whole));
        // Those that will be cut off are busy, the others are not, and are then.
        fleet.want(|at| if at < cut { whole } else { 1 });
        fleet.run(lease * 3.0).await;
        let leased: u32 = fleet.running()[..cut].iter().sum();
        fleet.cut(0..cut, true);
        fleet.want(|_| whole);
        let at_first = fleet.run(lease * 2.0).await;
        let later = fleet.run(lease * 2.0).await;
        let parts = part * cut as u32;
        println!(
            "{cut} of {size} cut off with {leased} of {whole} leased: {at_first} at most in the first two leases, {later} after; \
             {parts} are their parts"
        );
        assert!(at_first <= whole + leased.max(parts), "{at_first}");
        assert!(later <= whole + parts, "{later}");
        fleet.cut(0..cut, false);
        let healed = fleet.until(20_000, |running| running <= whole).await;
        let after = fleet.run(lease * 2.0).await;
        let fair = jain(&fleet.running().iter().map(|it| f64::from(*it)).collect::<Vec<_>>());
        println!("healed: within the limit after {healed} ms, then {after} at most, Jain's index {fair:.3}");
        assert!(after <= whole + parts, "{after}");
        let settled = fleet.run(lease).await;
        assert!(settled <= whole && fair > 0.95, "{settled}, {fair}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_store_everybody_has_an_equal_part_and_the_limit_holds() {
    let mut fleet = Fleet::of(100, 800);
    fleet.want(|at| if at < 10 { 80 } else { 4 });
    fleet.run(5.0).await;
    fleet.network.is_down.store(true, Relaxed);
    let while_leased = fleet.run(0.5).await;
    let leased = fleet.running()[..10].iter().filter(|it| **it > 8).count();
    assert!(leased >= 8, "the last share holds to its end: {leased} of ten, some of which have lost a question before");
    let most = fleet.run(9.3).await.max(while_leased);
    assert!(fleet.running()[..10].iter().all(|it| *it == 8), "and then an equal part: {:?}", &fleet.running()[..10]);
    fleet.network.is_down.store(false, Relaxed);
    let back = fleet.until(5_000, |running| running > 600).await;
    let most = fleet.run(5.0).await.max(most);
    println!("a store gone for ten seconds: {most} of 800 at most; shares by demand again after {back} ms");
    assert!(most <= 800, "{most}");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_was_emptied_is_filled_again_without_a_call_too_many() {
    for (size, whole) in [(8_usize, 64_u32), (1_000, 5_000)] {
        let mut fleet = Fleet::of(size, whole);
        fleet.want(|at| if at % 4 == 0 { 40 } else { 2 });
        let mut most = fleet.run(16.0).await;
        for _ in 0..5 {
            *fleet.network.grants() = Grants::default();
            fleet.want(|at| if at % 4 == fastrand::usize(..4) { 40 } else { 2 });
            most = most.max(fleet.run(1.3).await);
        }
        most = most.max(fleet.run(12.0).await);
        let running: u32 = fleet.running().iter().sum();
        println!("{size} processes, emptied five times: {most} of {whole} at most, {running} at the end");
        assert!(most <= whole, "{most}");
    }
}

/// A process with many keys, of which the busiest take part.
struct Tenants {
    keys: HashMap<u32, Cell>,
    local: u32,
    whole: u32,
}

impl Limits for Tenants {
    fn read(&mut self, _: Moment) -> Vec<Reading> {
        let mut busiest: Vec<_> = self.keys.iter().map(|(key, cell)| (cell.running.load(Relaxed), *key)).collect();
        busiest.sort_unstable_by(|one, other| other.cmp(one));
        busiest.truncate(256);
        let reading = |(running, key): (u32, u32)| Reading {
            limit: format!("k:tenants:{key:016x}").into(),
            whole: self.whole,
            share: self.keys[&key].share.load(Relaxed),
            running,
            peak: running,
            pressed: running >= self.keys[&key].share.load(Relaxed),
        };
        busiest.into_iter().map(reading).collect()
    }

    fn give(&mut self, shares: &[(Arc<str>, u32)], replicas: u32, _: Moment) {
        self.local = Share::Part(replicas).of(self.whole);
        let given: HashMap<_, _> = shares.iter().cloned().collect();
        for (key, cell) in &self.keys {
            let share = given.get(&*format!("k:tenants:{key:016x}")).copied().unwrap_or(self.local);
            cell.share.store(share, Relaxed);
            cell.running.store(cell.running.load(Relaxed).min(share), Relaxed);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_hundred_thousand_keys_in_a_thousand_processes() {
    fastrand::seed(11);
    let network = Arc::new(Network::default());
    for name in 0..1_000 {
        let mut keys = HashMap::new();
        // Each process has two hundred of its own in use, and some that all have.
        for key in (0..10).chain((0..200).map(|_| fastrand::u32(10..100_000))) {
            let cell = Cell::default();
            cell.running.store(if key < 10 { 4 } else { 1 }, Relaxed);
            keys.insert(key, cell);
        }
        let way = Way { network: network.clone(), process: Arc::default() };
        drop(spawn(name, Tenants { keys, local: 1, whole: 100 }, way, 1_000));
    }
    sleep(Duration::from_secs(7)).await;
    let before = [network.messages.load(Relaxed), network.claims.load(Relaxed)];
    sleep(Duration::from_secs(3)).await;
    let [messages, claims] = [network.messages.load(Relaxed) - before[0], network.claims.load(Relaxed) - before[1]];
    let (kept, most) = (network.grants().limits(), network.most_claims.load(Relaxed));
    let hot: Vec<i64> = (0..10).map(|key| network.grants().given(&format!("k:tenants:{key:016x}"))).collect();
    println!(
        "{kept} keys in the store: {:.0} messages and {:.0} claims a second, {most} at most in one; the hottest hold {hot:?} of 100",
        messages as f64 / 3.0,
        claims as f64 / 3.0
    );
    assert!(kept > 80_000, "nearly every key: {kept}");
    assert!(most <= 256, "a message is bounded: {most}");
    assert!(hot.iter().all(|given| (90..=100).contains(given)), "{hot:?}");
}
