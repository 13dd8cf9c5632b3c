//! `hedge` under load: what it buys, and what it may cost at most.
//!
//! Lengths and gaps are drawn from seeds and the clock is paused, so each run is the same to the millisecond.

use std::sync::Mutex;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::time::{Instant, sleep};
use watertight::{AttemptFate, HedgeFate, resilient};
use watertight_tests::{AppError, ms, site};

/// Draws numbers below a bound, the same ones for the same seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// A usual answer, or one in thirty-three that takes long: what a pause of one machine of many looks like.
    fn length(&mut self) -> u64 {
        if self.below(33) == 0 { 400 + self.below(400) } else { 20 + self.below(20) }
    }
}

/// How long an attempt takes is drawn anew for each, as it is when another machine is asked.
async fn replica(draw: &Mutex<Draw>) -> Result<u32, AppError> {
    let length = draw.lock().unwrap().length();
    sleep(ms(length)).await;
    Ok(watertight::attempt())
}

#[resilient(idempotent, timeout = "2s")]
async fn load_alone(draw: &Mutex<Draw>) -> Result<u32, AppError> {
    replica(draw).await
}

#[resilient(hedge = "p95", idempotent, timeout = "2s")]
async fn load_hedged(draw: &Mutex<Draw>) -> Result<u32, AppError> {
    replica(draw).await
}

/// What so many calls took, ten milliseconds apart, in order of length. The first thousand are not measured.
macro_rules! measure {
    ($function:ident, $calls:literal) => {{
        let draw = Mutex::new(Draw(7));
        let mut under_way = FuturesUnordered::new();
        let mut took = Vec::new();
        for n in 0..$calls {
            let draw = &draw;
            under_way.push(async move {
                let begun = Instant::now();
                $function(draw).await.expect("an answer");
                (n, begun.elapsed())
            });
            let pause = sleep(ms(10));
            tokio::pin!(pause);
            loop {
                tokio::select! {
                    Some(ended) = under_way.next() => took.push(ended),
                    () = &mut pause => break,
                }
            }
        }
        while let Some(ended) = under_way.next().await {
            took.push(ended);
        }
        let mut took: Vec<Duration> = took.into_iter().filter(|(n, _)| *n >= 1_000).map(|(_, took)| took).collect();
        took.sort_unstable();
        took
    }};
}

#[tokio::test(start_paused = true)]
async fn the_tail_is_cut_for_a_few_per_cent_more_attempts() {
    let percentile = |took: &[Duration], permille: usize| took[took.len() * permille / 1_000];
    let alone = measure!(load_alone, 20_000);
    let hedged = measure!(load_hedged, 20_000);
    let extra = site("load_hedged").hedges() as f64 / 20_000.0;
    println!(
        "alone:  p50 {:?} p99 {:?} p99.9 {:?}",
        percentile(&alone, 500),
        percentile(&alone, 990),
        percentile(&alone, 999)
    );
    println!(
        "hedged: p50 {:?} p99 {:?} p99.9 {:?}",
        percentile(&hedged, 500),
        percentile(&hedged, 990),
        percentile(&hedged, 999)
    );
    println!("attempts more: {:.2} %, won: {}", extra * 100.0, site("load_hedged").hedges_by(HedgeFate::Won));
    assert!(percentile(&alone, 990) > ms(600), "{:?}", percentile(&alone, 990));
    assert!(percentile(&hedged, 990) < ms(90), "{:?}", percentile(&hedged, 990));
    assert!(percentile(&hedged, 500) <= percentile(&alone, 500) + ms(1), "the usual call pays nothing");
    assert!(extra > 0.02 && extra < 0.07, "{extra}");
    let figures = site("load_hedged");
    assert_eq!(figures.attempts_by(AttemptFate::Lost), figures.hedges(), "of each pair one was dropped");
    assert_eq!(figures.ok, 20_000);
}

/// When the body of each attempt began, and whether it was the first of its call.
type Begun = Mutex<Vec<(Instant, bool)>>;

#[resilient(hedge = "20ms", retry(2, backoff = "1ms..5ms"), bulkhead = "load_worst:400", timeout = "100ms", idempotent)]
async fn load_worst(begun: &Begun, draw: &Mutex<Draw>) -> Result<(), AppError> {
    begun.lock().unwrap().push((Instant::now(), watertight::attempt() == 0));
    let (length, fails) = {
        let mut draw = draw.lock().unwrap();
        (draw.below(150), draw.below(3) == 0)
    };
    sleep(ms(length)).await;
    if fails { Err(AppError::Broken("down")) } else { Ok(()) }
}

#[tokio::test(start_paused = true)]
async fn hedges_and_retries_together_never_exceed_the_budget_of_any_ten_seconds() {
    for seed in 0..4 {
        let (begun, draw) = (Begun::default(), Mutex::new(Draw(seed)));
        let mut under_way = FuturesUnordered::new();
        for _ in 0..1_000 {
            under_way.push(load_worst(&begun, &draw));
            // From a trickle to a flood and back.
            let gap = {
                let mut draw = draw.lock().unwrap();
                if draw.below(4) == 0 { 0 } else { draw.below(40) }
            };
            let pause = sleep(ms(gap));
            tokio::pin!(pause);
            loop {
                tokio::select! {
                    Some(_) = under_way.next() => {}
                    () = &mut pause => break,
                }
            }
        }
        while under_way.next().await.is_some() {}
        drop(under_way);
        let begun = begun.into_inner().unwrap();
        let times = |first: bool| begun.iter().filter(|(_, is_first)| *is_first == first).map(|(at, _)| *at).collect();
        let (firsts, extras): (Vec<Instant>, Vec<Instant>) = (times(true), times(false));
        // Both are in order of time.
        let within = |all: &[Instant], end: Instant, seconds: u64| {
            let before = |limit: Instant| all.partition_point(|at| *at <= limit);
            before(end) - end.checked_sub(Duration::from_secs(seconds)).map_or(0, before)
        };
        let mut most = 0;
        for at in &extras {
            // The window counts by whole seconds, so the first attempts of up to one more may have paid.
            let (extra, firsts) = (within(&extras, *at, 9), within(&firsts, *at, 11));
            assert!(extra as f64 <= 10.0 + 0.2 * firsts as f64, "seed {seed}: {extra} beside {firsts}");
            most = most.max(extra);
        }
        assert!(most > 50, "the budget was put to the test: {most}");
        // The next seed starts with a full window.
        tokio::time::advance(Duration::from_secs(20)).await;
    }
    let figures = site("load_worst");
    let hedges: u64 = HedgeFate::ALL.into_iter().map(|fate| figures.hedges_by(fate)).sum();
    assert!(
        figures.hedges_by(HedgeFate::NoBudget) > 0 && hedges <= figures.calls + figures.retries,
        "one for each attempt"
    );
    assert_eq!((figures.calls, figures.in_flight), (4_000, 0));
    assert_eq!(figures.attempts(), figures.calls + figures.retries + figures.hedges(), "and nothing else ran");
    watertight_tests::assert_quiet("load_worst", 400);
}
