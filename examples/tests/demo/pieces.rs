use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};
use watertight_examples::get::{client, get};
use watertight_examples::load::Load;
use watertight_examples::probe::Probe;
use watertight_examples::stop;
use watertight_examples::tally::Tally;
use watertight_examples::vendor::{Behaviour, Vendor, VendorFigures};

const MS: Duration = Duration::from_millis(1);

#[tokio::test]
async fn the_vendor_books_what_it_answered_and_what_was_left() {
    let vendor = Vendor::start(Behaviour::After(5 * MS)).await.unwrap();
    let http = client();
    for _ in 0..3 {
        assert!(get(&http, &vendor.url(), 1_000 * MS).await.ok);
    }
    assert_eq!(vendor.figures(), VendorFigures { requests: 3, peak: 1, connections: 1, ..VendorFigures::default() });

    vendor.behave(Behaviour::Hang);
    let url = vendor.url();
    let hanging = futures::future::join_all((0..4).map(|_| get(&http, &url, 100 * MS))).await;
    assert!(hanging.iter().all(|answer| !answer.ok && answer.took >= 100 * MS));
    // The vendor learns of it when the closed sockets arrive.
    let noticed = async {
        while vendor.figures().unanswered < 4 {
            sleep(MS).await;
        }
    };
    timeout(1_000 * MS, noticed).await.expect("callers gone, calls dropped");
    let books = vendor.stop().await;
    assert_eq!(
        books,
        VendorFigures { requests: 7, peak: 4, unanswered: 4, closed: 4, aborted: 4, connections: books.connections }
    );
    assert!((4..=5).contains(&books.connections), "{books:?}");
}

#[tokio::test]
async fn a_stopped_server_leaves_no_handler_behind() {
    let vendor = Vendor::start(Behaviour::Hang).await.unwrap();
    let (http, url) = (client(), vendor.url());
    let waiting = tokio::spawn(async move { get(&http, &url, 10_000 * MS).await });
    while vendor.figures().requests == 0 {
        sleep(MS).await;
    }
    let begun = Instant::now();
    assert_eq!(vendor.stop().await.unanswered, 1);
    assert!(!waiting.await.unwrap().ok);
    assert!(begun.elapsed() < 1_000 * MS, "took {:?}", begun.elapsed());
}

#[tokio::test]
async fn the_load_is_closed_and_counts_who_hangs_at_the_end() {
    let vendor = Vendor::start(Behaviour::Hang).await.unwrap();
    let load = Load { clients: 6, length: 200 * MS, pause: MS, patience: 10_000 * MS, grace: 100 * MS };
    let (tally, (_stopper, stop)) = (Tally::default(), stop::pair());
    let url = vendor.url();
    load.run(|_, _| url.clone(), &tally, &stop).await;
    let figures = tally.figures();
    assert_eq!((figures.requests, figures.ok), (6, 0));
    assert!(figures.p50.unwrap() >= 295 * MS, "{figures:?}");
    assert_eq!(vendor.stop().await.peak, 6);
}

#[tokio::test]
async fn a_probe_keeps_its_beat_while_nothing_comes_back() {
    let vendor = Vendor::start(Behaviour::Hang).await.unwrap();
    let probe = Probe { every: 20 * MS, limit: 300 * MS, length: 200 * MS };
    let (tally, (_stopper, stop)) = (Arc::new(Tally::default()), stop::pair());
    probe.run(vendor.url(), &tally, &stop).await;
    let figures = tally.figures();
    assert_eq!((figures.requests, figures.ok), (10, 0));
    assert_eq!(vendor.stop().await.peak, 10);
}

#[tokio::test]
async fn a_stop_ends_load_and_probe_at_once() {
    let vendor = Vendor::start(Behaviour::Hang).await.unwrap();
    let minute = 60_000 * MS;
    let load = Load { clients: 3, length: minute, pause: MS, patience: minute, grace: minute };
    let probe = Probe { every: 20 * MS, limit: minute, length: minute };
    let (tally, (stopper, stop)) = (Arc::new(Tally::default()), stop::pair());
    let url = vendor.url();
    let begun = Instant::now();
    tokio::join!(load.run(|_, _| url.clone(), &tally, &stop), probe.run(url.clone(), &tally, &stop), async {
        sleep(100 * MS).await;
        stopper.stop();
    });
    assert!(begun.elapsed() < 1_000 * MS, "took {:?}", begun.elapsed());
    assert_eq!(tally.figures().requests, 0, "cut requests are neither good nor bad");
}
