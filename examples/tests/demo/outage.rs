use std::time::Duration;

use watertight_examples::live::board::Board;
use watertight_examples::outage::{Outage, Run, Settings, run};
use watertight_examples::pool;
use watertight_examples::progress::Progress;
use watertight_examples::report::{json, story, table};
use watertight_examples::shop::Variant;
use watertight_examples::stop;

const LENGTH: Duration = Duration::from_secs(2);

/// The guard's figures belong to the process, so two runs at a time would read each other's.
static ONE_AT_A_TIME: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

async fn short(variant: Variant) -> (Settings, Run) {
    let _turn = ONE_AT_A_TIME.lock().await;
    let settings = Settings::new(LENGTH, 50);
    let (_stopper, stop) = stop::pair();
    let run = run(variant, &settings, &stop, &Progress::Silent, &Board::default()).await.unwrap();
    assert!(!run.partial);
    (settings, run)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bare_the_cart_starves_and_the_vendor_never_knows() {
    let (settings, run) = short(Variant::Bare).await;
    let success = |route| run.route(route).success().unwrap();
    assert!(success("/health") >= 100.0, "{run:?}");
    assert!(success("/cart") < 30.0, "{run:?}");
    assert!(success("/product") < 10.0, "{run:?}");
    assert!(run.vendor.requests <= u64::from(pool::SIZE), "{run:?}");
    assert_eq!(run.vendor.unanswered, run.vendor.requests);
    assert_eq!((run.idle.low(), run.idle.typical()), (Some(0), Some(0)));
    assert!(run.pool_timeouts > 0 && run.functions.is_empty(), "{run:?}");

    let outage = Outage { settings, runs: vec![run], partial: true };
    let told = story::tell(&outage);
    assert!(told.starts_with("PARTIAL") && told.contains("10 of 10 pooled connections"), "{told}");
    assert!(table::side_by_side(&outage).to_string().contains("bare"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn annotated_everything_stands_with_an_empty_strip() {
    let (settings, run) = short(Variant::Annotated).await;
    for (route, figures) in run.routes {
        assert!(figures.success().unwrap() >= 100.0, "{route}: {run:?}");
    }
    assert!(run.vendor.requests > 8, "{run:?}");
    assert_eq!(run.asking_peak, 8, "{run:?}");
    // The vendor goes on counting a call until the closed socket reaches it: at most once over for every slot.
    assert!((8..=16).contains(&run.vendor.peak), "{run:?}");
    assert_eq!(run.pool_timeouts, 0, "{run:?}");

    let [recs] = run.functions.as_slice() else { panic!("one guarded function: {run:?}") };
    assert_eq!(recs.name, "recommendations");
    assert!(recs.file.ends_with("recs.rs"), "{recs:?}");
    let fates = recs.ok + recs.error + recs.timed_out + recs.refusals() + recs.cancelled + recs.panicked;
    assert_eq!(recs.calls, fates, "{recs:?}");
    assert_eq!(recs.calls, run.route("/product").requests, "{recs:?}");
    assert_eq!(recs.fallback_used, recs.calls, "{recs:?}");
    assert!(recs.timed_out > 8 && recs.refusals() > recs.timed_out, "{recs:?}");

    let outage = Outage { settings, runs: vec![run], partial: false };
    let document = json::document(&outage);
    let function = &document["runs"][0]["functions"][0];
    assert_eq!(function["name"], "recommendations");
    assert!(function["refused"]["full"].as_u64().unwrap() > 0, "{function}");
}
