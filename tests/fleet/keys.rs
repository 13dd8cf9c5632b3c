//! A rate, and keys, over eight processes.

use watertight_tests::{Stopwatch, ms};

use crate::harness::{Redis, Vendor, eight};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_processes_begin_as_many_calls_a_second_as_one_rate_allows_them_together() {
    let Some(redis) = Redis::start().await else { return };
    let vendor = Vendor::open().await;
    // One that would have all of it, and seven with little.
    let mut workers = eight(&redis, "api", &vendor, |process| if process == 0 { 40 } else { 1 });
    tokio::time::sleep(ms(4_000)).await;
    let (clock, before) = (Stopwatch::start(), vendor.begun());
    tokio::time::sleep(ms(4_000)).await;
    let (begun, seconds) = (vendor.begun() - before, clock.read().as_secs_f64());
    let shares: Vec<_> = workers.iter_mut().map(|it| it.stands().share).collect();
    println!("{begun} begun in {seconds:.2} s of 200 a second; shares {shares:?}");
    // What calls were on their way when the counting began may be counted as well.
    assert!(begun as f64 <= 200.0 * seconds + 20.0 + 8.0 + 20.0, "{begun}");
    assert!(begun as f64 >= 200.0 * seconds * 0.7, "{begun}");
    assert!(shares[0] > 50.0, "twice an equal part and more: {shares:?}");
    assert!(shares.iter().sum::<f64>() <= 200.5, "{shares:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_of_one_process_has_all_of_its_limit_there_and_one_of_all_processes_no_more_than_it() {
    let Some(redis) = Redis::start().await else { return };
    let vendor = Vendor::open().await;
    let mut workers = eight(&redis, "tenants", &vendor, |process| if process == 0 { 24 } else { 4 });
    tokio::time::sleep(ms(4_000)).await;
    let (mut most, mut sum, mut looks) = ([0, 0], [0, 0], 0);
    let clock = Stopwatch::start();
    while clock.read() < ms(3_000) {
        tokio::time::sleep(ms(5)).await;
        for tenant in [0, 1] {
            most[tenant] = most[tenant].max(vendor.of(tenant));
            sum[tenant] += vendor.of(tenant);
        }
        looks += 1;
    }
    let means = sum.map(|sum| sum as f64 / f64::from(looks));
    println!("of 8 each: most {most:?}, mean {means:?}; {:?}", workers[0].stands());
    assert!(most.iter().all(|most| *most <= 8), "{most:?}");
    assert!(means[1] >= 6.0, "an equal part would be one: {means:?}");
    assert!(means[0] >= 4.0, "and all processes share the other: {means:?}");
}
