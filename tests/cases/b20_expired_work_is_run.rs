//! B20. Deadline and queue disagreed: waiters got their slot just as their time ran out, did work, and were killed, so
//! that under load nearly everything finished too late.
//!
//! The second half runs twenty seconds of one and a half times the capacity through `8/queue:16` and counts the calls
//! that ended well: at least nine tenths of what eight slots can do, for every length of body below the limit, up to 250 ms. It is
//! run under `timeout = "300ms"` (each attempt from its slot on) and under `deadline = "300ms"` (from the entry), with
//! arrivals evenly spaced and at random; then, under the deadline, with bodies whose length varies by a quarter either
//! way, as those of real ones do. `cargo test -p watertight-tests --test cases b20 -- --nocapture` shows the figures.

use std::sync::atomic::{AtomicU32, Ordering};

use futures::poll;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};
use watertight::{Error, ErrorKind, Refusal, WaitFate, resilient};
use watertight_tests::{Stopwatch, assert_free, assert_idle, ms, site};

static RAN: AtomicU32 = AtomicU32::new(0);

#[resilient(deadline = "300ms", bulkhead = "b20:1/queue:64/wait:1s")]
async fn b20() -> Result<(), Error> {
    RAN.fetch_add(1, Ordering::SeqCst);
    sleep(ms(250)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_second_is_cut_at_its_deadline_and_the_third_never_runs() {
    let clock = Stopwatch::start();
    let (mut a, mut b, mut c) = (Box::pin(b20()), Box::pin(b20()), Box::pin(b20()));
    assert!(poll!(&mut a).is_pending() && poll!(&mut b).is_pending() && poll!(&mut c).is_pending());
    let (a, b, c) = tokio::join!(a, b, c);
    clock.assert_reads(ms(300));
    a.unwrap();
    let b = b.unwrap_err();
    assert_eq!((b.kind(), b.is_refusal()), (ErrorKind::Deadline, false), "{b}");
    let c = c.unwrap_err();
    assert_eq!((c.kind(), c.is_refusal()), (ErrorKind::Deadline, true), "{c}");
    assert!(c.to_string().contains("in the queue"), "{c}");
    assert_eq!(RAN.load(Ordering::SeqCst), 2, "the third body never ran");
    let figures = site("b20");
    assert_eq!((figures.timed_out, figures.refused_for(Refusal::Deadline)), (1, 1));
    assert_eq!(figures.waits(WaitFate::Ran).count(), 1);
    assert_eq!(figures.waits(WaitFate::Expired).count(), 1);
    assert_idle("b20");
    assert_free!("b20", 1);
}

/// How the calls arrive.
#[derive(Clone, Copy, Debug)]
enum Arrivals {
    Even,
    Random,
}

/// A small generator, seeded, so that a failing run is the same run again.
struct Draw(u64);

impl Draw {
    /// Exponentially distributed with mean one.
    fn gap(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let even = ((self.0 >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
        -even.ln()
    }
}

/// Twenty seconds of load: how many calls of how many ended well in time, and which share of the capacity that is.
async fn load<F, Call>(arrivals: Arrivals, body: u64, call: Call) -> f64
where
    F: Future<Output = Result<(), Error>> + Send + 'static,
    Call: Fn() -> F,
{
    const SPAN: u64 = 20_000;
    let capacity = (8 * SPAN) as f64 / body as f64;
    let gap = SPAN as f64 / (1.5 * capacity);
    let (start, mut at, mut draw) = (Instant::now(), 0.0, Draw(body));
    let end = start + ms(SPAN);
    let mut calls = JoinSet::new();
    while at < SPAN as f64 {
        sleep_until(start + ms(1).mul_f64(at)).await;
        let call = call();
        calls.spawn(async move { call.await.is_ok() && Instant::now() <= end });
        at += gap
            * match arrivals {
                Arrivals::Even => 1.0,
                Arrivals::Random => draw.gap(),
            };
    }
    let asked = calls.len();
    let well = calls.join_all().await.into_iter().filter(|well| *well).count();
    let share = well as f64 / capacity;
    println!("  {arrivals:?}, body {body} ms: {asked} asked, {well} ended well, {:.1} % of capacity", share * 100.0);
    share
}

/// From three quarters of a length to five quarters, in a fixed disorder.
fn about(length: u64) -> u64 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let part = u64::from(NEXT.fetch_add(1, Ordering::SeqCst)) * 2_654_435_761 % (length / 2);
    length - length / 4 + part
}

macro_rules! under_load {
    ($($test:ident, $function:ident, $key:ident, $name:tt, $declared:tt, $body:tt $(, $varied:ident)?);* $(;)?) => {
        $(#[resilient($key = "300ms", bulkhead = $declared)]
        async fn $function() -> Result<(), Error> {
            let length = $body;
            $(let length = $varied(length);)?
            sleep(ms(length)).await;
            Ok(())
        }

        #[tokio::test(start_paused = true)]
        async fn $test() {
            let shares =
                [load(Arrivals::Even, $body, $function).await, load(Arrivals::Random, $body, $function).await];
            let figures = site(stringify!($function));
            println!(
                "  {} = 300ms, body {} ms: {} ok, {} cut off, {} full, {} waited, {} too late, {} doomed, {} probes",
                stringify!($key), $body, figures.ok, figures.timed_out, figures.refused_for(Refusal::Full),
                figures.refused_for(Refusal::Waited), figures.refused_for(Refusal::Deadline),
                figures.refused_for(Refusal::Doomed), figures.doomed_probes,
            );
            assert_idle(stringify!($function));
            assert_free!($name, 8);
            assert!(shares.iter().all(|share| *share > 0.9), "even, random: {shares:.3?} of the capacity");
        })*
    };
}

under_load! {
    under_a_timeout_bodies_of_60_ms_use_the_capacity, b20_t60, timeout, "b20_t60", "b20_t60:8/queue:16", 60;
    under_a_timeout_bodies_of_100_ms_use_the_capacity, b20_t100, timeout, "b20_t100", "b20_t100:8/queue:16", 100;
    under_a_timeout_bodies_of_120_ms_use_the_capacity, b20_t120, timeout, "b20_t120", "b20_t120:8/queue:16", 120;
    under_a_timeout_bodies_of_150_ms_use_the_capacity, b20_t150, timeout, "b20_t150", "b20_t150:8/queue:16", 150;
    under_a_deadline_bodies_of_60_ms_use_the_capacity, b20_d60, deadline, "b20_d60", "b20_d60:8/queue:16", 60;
    under_a_deadline_bodies_of_100_ms_use_the_capacity, b20_d100, deadline, "b20_d100", "b20_d100:8/queue:16", 100;
    under_a_deadline_bodies_of_120_ms_use_the_capacity, b20_d120, deadline, "b20_d120", "b20_d120:8/queue:16", 120;
    under_a_deadline_bodies_of_150_ms_use_the_capacity, b20_d150, deadline, "b20_d150", "b20_d150:8/queue:16", 150;
    under_a_deadline_bodies_of_200_ms_use_the_capacity, b20_d200, deadline, "b20_d200", "b20_d200:8/queue:16", 200;
    under_a_deadline_bodies_of_250_ms_use_the_capacity, b20_d250, deadline, "b20_d250", "b20_d250:8/queue:16", 250;
    under_a_timeout_bodies_of_250_ms_use_the_capacity, b20_t250, timeout, "b20_t250", "b20_t250:8/queue:16", 250;
    under_a_deadline_bodies_of_about_100_ms_use_the_capacity, b20_v100, deadline, "b20_v100", "b20_v100:8/queue:16", 100, about;
    under_a_deadline_bodies_of_about_120_ms_use_the_capacity, b20_v120, deadline, "b20_v120", "b20_v120:8/queue:16", 120, about;
    under_a_deadline_bodies_of_about_150_ms_use_the_capacity, b20_v150, deadline, "b20_v150", "b20_v150:8/queue:16", 150, about;
}
