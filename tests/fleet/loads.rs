//! A limit of 64 over eight processes, on the good day and on four bad ones.

use watertight_tests::ms;

use crate::harness::{Redis, Vendor, Worker, eight};

const LIMIT: i64 = 64;
/// A lease, a sync, the calls that have to begin, and what a busy machine takes.
const SOON: u64 = 4_000;

/// Until all eight have joined, shares are by demand, and the limit is used.
async fn warmed_up(vendor: &Vendor, workers: &mut [Worker]) {
    vendor.until(ms(20_000), |vendor| vendor.running() >= LIMIT - 6).await;
    for worker in workers {
        for _ in 0..200 {
            let stands = worker.stands();
            if stands.replicas == 8 && stands.source == "leased" {
                break;
            }
            tokio::time::sleep(ms(50)).await;
        }
    }
    tokio::time::sleep(ms(2_000)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_processes_run_as_many_as_the_limit_and_those_that_are_busy_have_what_the_others_do_not_use() {
    let Some(redis) = Redis::start().await else { return };
    let vendor = Vendor::open().await;
    // Two with more than they can have, six with little.
    let mut workers = eight(&redis, "recs", &vendor, |process| if process < 2 { 64 } else { 2 });
    warmed_up(&vendor, &mut workers).await;
    let most = vendor.most_in(ms(3_000)).await;
    let mean = vendor.mean_in(ms(1_000)).await;
    let busy: Vec<_> = workers.iter_mut().map(|it| it.stands().share).collect();
    println!(
        "most {most}, mean {mean:.1} of {LIMIT}; shares {busy:?}; now {:?}",
        (0..8).map(|it| vendor.of(it)).collect::<Vec<_>>()
    );
    assert!(most <= LIMIT, "{most}");
    assert!(most >= LIMIT - 4, "what there is is used: {most}");
    assert!(busy[..2].iter().all(|share| *share >= 20.0), "not the eight of an equal part: {busy:?}");
    assert!(busy.iter().sum::<f64>() <= 64.0, "{busy:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_process_had_is_used_by_the_others_one_lease_later() {
    let Some(redis) = Redis::start().await else { return };
    let vendor = Vendor::open().await;
    let mut workers = eight(&redis, "recs", &vendor, |_| 64);
    warmed_up(&vendor, &mut workers).await;
    let before = vendor.running();
    workers[..4].iter_mut().for_each(Worker::kill);
    vendor.until(ms(1_000), |vendor| vendor.running() <= LIMIT / 2 + 8).await;
    let back = vendor.until(ms(SOON), |vendor| vendor.running() >= LIMIT - 4).await;
    let most = vendor.most_in(ms(2_000)).await;
    println!("{before} ran; four of eight killed: all of it again after {back:?}; most {most}");
    assert!(most <= LIMIT, "{most}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_is_stopped_for_ten_seconds_costs_no_call_more_than_equal_parts_would() {
    let Some(redis) = Redis::start().await else { return };
    let vendor = Vendor::open().await;
    let mut workers = eight(&redis, "recs", &vendor, |process| if process < 2 { 64 } else { 10 });
    warmed_up(&vendor, &mut workers).await;
    for worker in &mut workers {
        drop(worker.stands());
    }
    redis.signal("STOP");
    // Until every lease has ended, and its calls.
    let at_first = vendor.most_in(ms(2_000)).await;
    let later = vendor.most_in(ms(7_000)).await;
    let stand: Vec<_> = workers.iter_mut().map(Worker::stands).collect();
    let mean = vendor.mean_in(ms(1_000)).await;
    redis.signal("CONT");
    let again = vendor.most_in(ms(4_000)).await;
    let after: Vec<_> = workers.iter_mut().map(Worker::stands).collect();
    let longest = stand.iter().chain(&after).map(|it| it.longest).max().unwrap_or(0);
    println!(
        "most {at_first} while leases end, {later} stopped, {again} after; longest call {longest} ms; {:?}",
        stand[0]
    );
    assert!(at_first.max(later).max(again) <= LIMIT, "{at_first}, {later}, {again}");
    assert!(mean >= 56.0, "equal parts are used: {mean:.1}");
    assert!(
        stand.iter().all(|it| it.source == "equal_part" && (it.share - 8.0).abs() < 1e-9 && it.failures > 0),
        "{stand:?}"
    );
    assert!(longest < 2_000, "the vendor's 200 ms and a busy machine, not the ten seconds: {longest} ms");
    assert!(after.iter().all(|it| it.source == "leased"), "{after:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_is_emptied_under_load_is_filled_again_and_no_call_is_too_many() {
    let Some(redis) = Redis::start().await else { return };
    let vendor = Vendor::open().await;
    let mut workers = eight(&redis, "recs", &vendor, |process| if process < 2 { 64 } else { 10 });
    warmed_up(&vendor, &mut workers).await;
    let mut most = 0;
    for _ in 0..3 {
        redis.flush().await;
        most = most.max(vendor.most_in(ms(1_500)).await);
    }
    most = most.max(vendor.most_in(ms(3_000)).await);
    let after: Vec<_> = workers.iter_mut().map(Worker::stands).collect();
    println!("emptied three times: most {most}; {:?}", after[0]);
    assert!(most <= LIMIT, "{most}");
    assert!(after.iter().all(|it| it.source == "leased" && it.replicas == 8), "{after:?}");
    assert!(after.iter().map(|it| it.share).sum::<f64>() >= 58.0, "and by demand again: {after:?}");
}
