//! # Getting up again
//!
//! The claim, from field reports: a dependency that was down for seconds comes back and is kept down for hours by those who
//! waited. Each retries, the line in front of the dependency grows longer than anybody's patience, it works for callers who
//! have gone and come back as new ones, and nothing in the system makes it stop.
//!
//! Measured at the dependency: requests over time, before, during and after; and on the callers: the share of calls served
//! that began three seconds after it was up again. The dependency can carry twice what normally arrives, works through its
//! line in order, and does not notice that a caller has left.
//!
//! Scaled from 1,000 clients and 200 a second: 400 clients and 80 a second, so that the sockets of both ends stay below a
//! common 1,024. The clients are tasks that call the function, bare or guarded; its call to the dependency is a real one.
//!
//! Invariants:
//! * the same clients with the same pauses in both;
//! * the bare function does what most hand-written retries do: a limit of a second, a pause of a second, and again.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use watertight::resilient;

use super::frame::{Bench, Experiment, Variant};
use super::outcome::{Cell, Outcome, Plot, Series, Table};
use super::pool::Pool;
use super::service::{Desk, Done};
use crate::report::words;
use crate::tally::percent;
use crate::vendor::{Behaviour, Vendor};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "recovery",
    question: "When a dependency comes back, do those who waited keep it down?",
    setup: "400 clients, each calling every ten seconds or so: 40 calls a second to a dependency that can carry 80, works in \
            order and does not notice who left. It is down for a while, then up. Bare, each call is tried again after a \
            second until it succeeds; guarded, with a breaker, jitter and a budget.",
    meaning: "What arrives after an outage is your normal load plus everybody who is still trying. If that exceeds capacity \
              and waiting costs capacity, you do not come back by yourself. Bound the retries of all, not of each.",
    run: |bench| Box::pin(run(bench)),
};

async fn recovery_bare(desk: &Desk) -> Done {
    loop {
        if let Ok(done @ Ok(())) = timeout(Duration::from_secs(1), desk.ask()).await {
            return done;
        }
        sleep(Duration::from_secs(1)).await;
    }
}

#[resilient(timeout = "1s", retry = 2, breaker(window = "2s", min_calls = 10, cooldown = "500ms"), idempotent)]
async fn recovery(desk: &Desk) -> Done {
    desk.ask().await
}

const SOURCE: &str = include_str!("recovery.rs");
const VARIANTS: [Variant; 2] = [
    Variant::bare("bare, retried by hand", |desk| Box::pin(recovery_bare(desk))),
    Variant::guarded("guarded", SOURCE, "recovery", |desk| Box::pin(recovery(desk))),
];
const CLIENTS: usize = 400;
const BUSY: Behaviour = Behaviour::Busy { at_once: 8, each: Duration::from_millis(100) };
const EVERY: Duration = Duration::from_secs(10);
const SAMPLE: Duration = Duration::from_millis(250);
/// When the callers are asked how it goes.
const SETTLED: Duration = Duration::from_secs(3);

#[derive(Clone, Copy)]
struct Times {
    down: Duration,
    up: Duration,
    end: Duration,
}

/// What one variant did.
struct Story {
    /// Requests a second at the dependency, by time.
    rates: Vec<(Duration, f64)>,
    /// Calls: when they began and ended, and whether they were served before the end.
    calls: Vec<(Duration, Duration, bool)>,
}

async fn run(bench: &Bench) -> anyhow::Result<Outcome> {
    let down = bench.seconds(6.0, 2.5);
    // As long in a quick run: with a shorter outage fewer wait, and whether they keep it down is a toss-up.
    let up = down + Duration::from_secs(5);
    let times = Times { down, up, end: up + bench.seconds(15.0, 7.0) };
    let mut outcome = Outcome { lines: VARIANTS.iter().map(Variant::line).collect(), ..Outcome::default() };
    outcome.set("clients", CLIENTS);
    outcome.set("each_calls_every_seconds", EVERY.as_secs());
    outcome.set("dependency_carries_a_second", 80);
    outcome.set("down_at_seconds", down.as_secs_f64());
    outcome.set("up_at_seconds", up.as_secs_f64());
    outcome.set("end_at_seconds", times.end.as_secs_f64());
    let both = join_all(VARIANTS.map(|variant| play(bench, variant, times)));
    let stories = tokio::select! {
        stories = both => stories.into_iter().collect::<anyhow::Result<Vec<_>>>()?,
        () = bench.live.follow("calm, down, up", times.end, String::new) => return Ok(outcome),
    };
    let heads = [
        "",
        "requests a second when calm",
        "most after it was up",
        "against calm",
        "calls open or begun from 3 s after",
        "served",
    ];
    let mut table = Table::new("Down, and up again", &heads);
    for (variant, story) in VARIANTS.iter().zip(&stories) {
        let (calls, served) = story.late(times);
        table.row([
            variant.name.into(),
            format!("{:.0}", story.calm(times)).into(),
            format!("{:.0}", story.peak(times)).into(),
            Cell::Ratio(Some(story.peak(times) / story.calm(times).max(1.0))),
            calls.into(),
            Cell::Share(percent(served, calls)),
        ]);
    }
    outcome.tables.push(table);
    outcome.plots.push(plot(&stories));
    let scaled = "Scaled from 1,000 clients and 200 requests a second, so that the sockets of both ends stay below a common 1,024.";
    outcome.remarks.push(scaled.to_owned());
    judge(&stories, times, &mut outcome);
    Ok(outcome)
}

async fn play(bench: &Bench, variant: Variant, times: Times) -> anyhow::Result<Story> {
    let vendor = Vendor::start(BUSY).await?;
    let desk = Desk::new(Pool::open(None).await?, vendor.url());
    let begun = Instant::now();
    let calls = Mutex::new(Vec::new());
    let clients =
        join_all((0..CLIENTS).map(|client| visit(client, begun, times.end, &calls, || (variant.work)(&desk))));
    let mut rates = Vec::new();
    tokio::select! {
        // To the end of both: a call that is still open then is one that was not served.
        _ = async { tokio::join!(clients, watch(&vendor, begun, times, &mut rates)) } => {}
        () = bench.stop.clone().stopped() => {}
    }
    vendor.stop().await;
    desk.pool().close().await;
    Ok(Story { rates, calls: calls.into_inner().unwrap_or_else(PoisonError::into_inner) })
}

/// One client: its beat is even and each begins at a place of its own, so that calm is calm.
async fn visit<'desk>(
    client: usize,
    begun: Instant,
    end: Duration,
    calls: &Mutex<Vec<(Duration, Duration, bool)>>,
    call: impl Fn() -> BoxFuture<'desk, Done>,
) {
    // 149 has no factor in common with 400: neighbours do not follow each other.
    let mut next = EVERY.mul_f64((client * 149 % CLIENTS) as f64 / CLIENTS as f64);
    while next < end {
        tokio::time::sleep_until(begun + next).await;
        let at = begun.elapsed();
        let served = matches!(timeout(end.saturating_sub(at), call()).await, Ok(Ok(())));
        calls.lock().unwrap_or_else(PoisonError::into_inner).push((at, begun.elapsed(), served));
        while next <= begun.elapsed() {
            next += EVERY;
        }
    }
}

async fn watch(vendor: &Vendor, begun: Instant, times: Times, rates: &mut Vec<(Duration, f64)>) {
    let mut beat = interval(SAMPLE);
    // A beat that was late must not be followed by one a moment later, which would make a rate of nothing.
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut before, mut last) = (vendor.figures().requests, begun.elapsed());
    loop {
        beat.tick().await;
        let now = begun.elapsed();
        vendor.behave(if (times.down..times.up).contains(&now) { Behaviour::Fail } else { BUSY });
        let requests = vendor.figures().requests;
        if now > last {
            rates.push((now, (requests - before) as f64 / now.saturating_sub(last).as_secs_f64()));
        }
        (before, last) = (requests, now);
        if now >= times.end {
            return;
        }
    }
}

impl Story {
    /// Requests a second before it went down.
    fn calm(&self, times: Times) -> f64 {
        let calm: Vec<_> = self.rates.iter().filter(|(at, _)| *at < times.down).map(|(_, rate)| rate).collect();
        calm.iter().copied().sum::<f64>() / (calm.len() as f64).max(1.0)
    }

    /// The most in half a second after it was up again.
    fn peak(&self, times: Times) -> f64 {
        let after: Vec<_> =
            self.rates.iter().filter(|(at, _)| *at > times.up + SAMPLE).map(|(_, rate)| *rate).collect();
        after.windows(2).map(|pair| f64::midpoint(pair[0], pair[1])).fold(0.0, f64::max)
    }

    /// Calls under way or begun once it should be well again, with time to end, and those of them served. Who began before
    /// and still tries counts: by hand, everybody may.
    fn late(&self, times: Times) -> (u64, u64) {
        let (from, to) = (times.up + SETTLED, times.end.saturating_sub(Duration::from_secs(1)));
        let calls = self.calls.iter().filter(|(began, ended, _)| *began < to && *ended > from);
        calls.fold((0, 0), |(calls, served), (.., ok)| (calls + 1, served + u64::from(*ok)))
    }
}

fn plot(stories: &[Story]) -> Plot {
    let line = |(variant, story): (&Variant, &Story)| Series {
        name: variant.name.to_owned(),
        points: story.rates.iter().map(|(at, rate)| (at.as_secs_f64(), *rate)).collect(),
    };
    let caption = "Requests a second at the dependency: calm, down, up again".to_owned();
    Plot {
        caption,
        x: "seconds",
        y: "requests a second",
        log_x: false,
        series: VARIANTS.iter().zip(stories).map(line).collect(),
    }
}

fn judge(stories: &[Story], times: Times, outcome: &mut Outcome) {
    let [bare, guarded] = stories else { return };
    let against = |story: &Story| story.peak(times) / story.calm(times).max(1.0);
    let served = |story: &Story| {
        let (calls, served) = story.late(times);
        percent(served, calls)
    };
    let bare_peak = format!("{:.1}x", against(bare));
    outcome.claim(
        "Guarded, the most that comes after is at most three times the calm mean",
        against(guarded) <= 3.0,
        format!("{:.1}x", against(guarded)),
    );
    outcome.claim(
        "Guarded, 95 % of the calls open or begun from three seconds after are served",
        served(guarded) >= Some(95.0),
        words::share(served(guarded)),
    );
    outcome.claim("By hand, more comes than guarded", against(bare) > against(guarded), &*bare_peak);
    outcome.claim("By hand, fewer are served", served(bare) < served(guarded), words::share(served(bare)));
    let watched = times.end.saturating_sub(times.up);
    outcome.beside(
        "after the dependency is back, retried by hand",
        "hours of lockstep overload",
        format!("{bare_peak} the calm load, {} served", words::share(served(bare))),
        format!("Watched for {} s after it was up again; whether it would last for hours was not.", watched.as_secs()),
    );
}
