//! Which functions can be hedged, when there is nothing to go by yet, and what else they may say.

use super::*;

/// Counts its clones.
#[derive(Debug, Default)]
struct Counted<'a>(Option<&'a AtomicU32>, Cell<u32>);

impl Clone for Counted<'_> {
    fn clone(&self) -> Self {
        if let Some(clones) = self.0 {
            clones.fetch_add(1, Ordering::SeqCst);
        }
        Self(self.0, self.1.clone())
    }
}

#[resilient(hedge = "50ms", idempotent)]
async fn hedge_clones(mut given: Counted<'_>, length: u64) -> Result<u32, AppError> {
    *given.1.get_mut() += 1 + watertight::attempt();
    sleep(ms(length * u64::from(watertight::attempt() == 0))).await;
    Ok(given.1.get())
}

#[tokio::test(start_paused = true)]
async fn the_first_has_a_clone_and_a_second_one_gets_the_argument_itself() {
    let clones = AtomicU32::new(0);
    assert_eq!(hedge_clones(Counted(Some(&clones), Cell::new(5)), 10).await.unwrap(), 6);
    assert_eq!(hedge_clones(Counted(Some(&clones), Cell::new(5)), 99).await.unwrap(), 7, "from the original value");
    assert_eq!(clones.load(Ordering::SeqCst), 2, "one for each call");
}

#[resilient(hedge(after = "p95", floor = "20ms"), idempotent)]
async fn hedge_percentile(length: u64) -> Result<u32, AppError> {
    let length = if watertight::attempt() == 0 { length } else { 30 };
    sleep(ms(length)).await;
    Ok(watertight::attempt())
}

#[tokio::test(start_paused = true)]
async fn a_percentile_is_that_of_the_own_attempts_and_until_it_is_known_there_is_no_hedge() {
    for _ in 0..99 {
        assert_eq!(hedge_percentile(40).await.unwrap(), 0);
    }
    assert_eq!(hedge_percentile(2_000).await.unwrap(), 0, "not known yet");
    let clock = Stopwatch::start();
    assert_eq!(hedge_percentile(2_000).await.unwrap(), 1);
    let took = clock.read();
    assert!(took >= ms(70) && took <= ms(77), "about 40 ms, then 30: {took:?}");
    // Faster than the floor by far: what is due then is due at the floor.
    join_all((0..5_000).map(|_| hedge_percentile(1))).await;
    for _ in 0..3 {
        advance(ms(6_000)).await;
        join_all((0..200).map(|_| hedge_percentile(1))).await;
    }
    advance(ms(1_000)).await;
    let clock = Stopwatch::start();
    assert_eq!(hedge_percentile(2_000).await.unwrap(), 1);
    clock.assert_reads(ms(50));
}

#[resilient(hedge = "50ms", idempotent, fallback = || 9)]
async fn hedge_plain(length: u64) -> u32 {
    yields(1).await;
    sleep(ms(length * u64::from(watertight::attempt() == 0))).await;
    watertight::attempt()
}

struct Client {
    base: u32,
}

impl Client {
    #[resilient(hedge = "50ms", idempotent, fallback = self.none(&name))]
    async fn hedge_method<'a>(&'a self, name: String, text: &'a str) -> Result<(u32, &'a str), AppError> {
        sleep(ms(500 * u64::from(watertight::attempt() == 0))).await;
        if name.is_empty() {
            return Err(DOWN);
        }
        drop(name);
        Ok((self.base + watertight::attempt(), text))
    }

    fn none(&self, name: &str) -> (u32, &'static str) {
        (self.base + u32::try_from(name.len()).unwrap_or(0), "none")
    }
}

fn is_send<T: Send>(_: &T) {}

#[tokio::test(start_paused = true)]
async fn any_function_that_shares_what_it_is_given_can_be_hedged() {
    assert_eq!((hedge_plain(10).await, hedge_plain(100).await), (0, 1));
    let client = Client { base: 10 };
    assert_eq!(client.hedge_method("name".to_owned(), "text").await.unwrap(), (11, "text"));
    assert_eq!(client.hedge_method(String::new(), "text").await.unwrap(), (10, "none"));
    is_send(&client.hedge_method(String::new(), ""));
    is_send(&hedge_clones(Counted::default(), 1));
}

static HANGS: AtomicBool = AtomicBool::new(false);

#[resilient(hedge = "50ms", idempotent, timeout = "100ms", fallback = last_good("60s"))]
async fn hedge_last_good() -> Result<u32, AppError> {
    if watertight::attempt() == 0 || HANGS.load(Ordering::SeqCst) {
        std::future::pending::<()>().await;
    }
    Ok(watertight::attempt())
}

#[tokio::test(start_paused = true)]
async fn the_answer_of_a_second_attempt_is_a_last_good_one_like_any() {
    assert_eq!(hedge_last_good().await.unwrap(), 1);
    HANGS.store(true, Ordering::SeqCst);
    assert_eq!(hedge_last_good().await.unwrap(), 1, "kept from the second attempt of before");
    assert_eq!(site("hedge_last_good").timed_out, 1);
}

#[resilient(hedge = "50ms", idempotent, bulkhead = "hedge_keyed:2", key = tenant, rate = "100/s")]
async fn hedge_keyed(tenant: u32, script: Script<'_>) -> Result<u32, AppError> {
    assert!(tenant == 1 || tenant == 2);
    act(script).await
}

#[tokio::test(start_paused = true)]
async fn a_second_attempt_is_in_the_compartment_of_its_calls_key() {
    let slow: Script<'_> = &[(200, Ok(0)), (30, Ok(1))];
    assert_eq!(hedge_keyed(1, slow).await.unwrap(), 1);
    let mut other = Box::pin(hedge_keyed(1, &[(300, Ok(0)), (300, Ok(1))]));
    assert!(poll!(&mut other).is_pending());
    assert_eq!(hedge_keyed(1, slow).await.unwrap(), 0, "its own key has no slot to spare");
    assert_eq!(hedge_keyed(2, slow).await.unwrap(), 1, "another's has");
    assert_eq!(other.await.unwrap(), 0);
    assert_idle("hedge_keyed");
}

#[resilient(hedge = "50ms", idempotent, timeout = "100ms")]
async fn hedge_struck() -> Result<u32, AppError> {
    Ok(watertight::attempt())
}

#[tokio::test(start_paused = true)]
async fn a_fault_that_a_test_sets_strikes_both_attempts() {
    let hang = watertight::testing::inject("hedge_struck", watertight::testing::Fault::hang()).unwrap();
    assert_eq!(hedge_struck().await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    assert_eq!((hang.struck(), site("hedge_struck").attempts_by(AttemptFate::TimedOut)), (2, 2));
    drop(hang);
    assert_eq!(hedge_struck().await.unwrap(), 0);
}

#[resilient(bulkhead = "hedge_nested:3", idempotent, hedge = "50ms")]
async fn hedge_nested(deep: bool) -> Result<u32, AppError> {
    if deep {
        return Box::pin(hedge_nested(false)).await;
    }
    sleep(ms(500 * u64::from(watertight::attempt() == 0))).await;
    Ok(watertight::attempt())
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_runs_in_the_slot_of_the_attempt_it_belongs_to() {
    hedge_nested(true).await.unwrap();
    let figures = site("hedge_nested");
    assert!(figures.lent >= 1, "{figures:?}");
    assert_idle("hedge_nested");
    assert_free!("hedge_nested", 3);
}
