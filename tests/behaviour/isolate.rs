//! `isolate` on async functions: the body on a thread of its own, its caller free to go.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::time::{Instant, sleep};
use watertight::{AttemptFate, ErrorKind, Fate, Refusal, WaitFate, deadline, resilient};
use watertight_tests::threads::{Jam, block_for, isolate, taken, until};
use watertight_tests::{AppError, Stopwatch, assert_idle, caught, ms, panic_quietly, site};

fn thread() -> String {
    std::thread::current().name().unwrap_or_default().to_owned()
}

#[resilient(isolate = "isolate-where:2", timeout = "5s")]
async fn somewhere(text: String) -> Result<(String, String), AppError> {
    Ok((text, thread()))
}

#[tokio::test]
async fn the_body_runs_on_a_thread_named_after_the_compartment() {
    let (text, on) = somewhere("argument".to_owned()).await.expect("free");
    assert_eq!((text.as_str(), on.as_str()), ("argument", "isolate-where-1"));
    let figures = isolate("isolate-where");
    assert_eq!((figures.threads, figures.started, figures.running, figures.peak_running), (2, 1, 0, 1));
    assert_eq!(site("somewhere").ok, 1);
}

#[resilient(isolate = "isolate-blocks:1", timeout = "100ms")]
async fn blocks(jam: Arc<Jam>) -> Result<(), AppError> {
    jam.block();
    Ok(())
}

#[tokio::test]
async fn code_that_blocks_is_cut_off_in_time_and_its_thread_stays_taken_until_it_comes_back() {
    let jam = Arc::<Jam>::default();
    let begun = Instant::now();
    let error = blocks(Arc::clone(&jam)).await.unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::TimedOut));
    assert!(begun.elapsed() >= ms(100) && begun.elapsed() < ms(5_000), "at its timeout, not at the body's end");
    assert_idle("blocks");
    assert_eq!(taken("isolate-blocks"), (1, 1, 0));
    // Every thread hangs: refused at once, and told why.
    let error = blocks(Arc::clone(&jam)).await.unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::IsolateFull));
    let refused = error.refused();
    assert_eq!((refused.strategy(), refused.name()), ("isolate", Some("isolate-blocks")));
    assert_eq!(
        refused.to_string(),
        "blocks: isolate `isolate-blocks` is full (1 threads taken, 1 of them by abandoned work, 0 of 0 queued)"
    );
    sleep(ms(10)).await;
    jam.clear();
    until(|| taken("isolate-blocks") == (0, 0, 0));
    let figures = isolate("isolate-blocks");
    assert_eq!((figures.abandoned, figures.overran.count(), figures.started), (1, 1, 1));
    assert!(figures.overran.sum() >= ms(10));
    blocks(jam).await.expect("free again");
    let site = site("blocks");
    assert_eq!((site.calls, site.ok, site.timed_out), (3, 1, 1));
    assert_eq!(site.fate(Fate::Refused(Refusal::Full)), 1);
}

#[resilient(isolate = "isolate-drops:1", timeout = "10s")]
async fn rests(held: Arc<()>) -> Result<(), AppError> {
    std::future::pending::<()>().await;
    drop(held);
    Ok(())
}

#[tokio::test]
async fn a_caller_that_goes_has_the_body_dropped_at_its_await() {
    let held = Arc::new(());
    for round in 1..=5 {
        let mut call = Box::pin(rests(Arc::clone(&held)));
        assert!(futures::poll!(&mut call).is_pending());
        assert_eq!(Arc::strong_count(&held), 2);
        drop(call);
        until(|| Arc::strong_count(&held) == 1 && taken("isolate-drops") == (0, 0, 0));
        assert_eq!(site("rests").cancelled, round);
    }
}

#[resilient(isolate = "isolate-queue:1/queue:2/wait:10s", timeout = "10s")]
async fn queues(jam: Arc<Jam>, order: Arc<std::sync::Mutex<Vec<u32>>>, own: u32) -> Result<(), AppError> {
    jam.block();
    order.lock().expect("never poisoned").push(own);
    Ok(())
}

#[tokio::test]
async fn the_queue_is_strict_bounded_and_left_at_once() {
    let (jam, order) = (Arc::<Jam>::default(), Arc::default());
    let call = |own| Box::pin(queues(Arc::clone(&jam), Arc::clone(&order), own));
    let mut first = call(1);
    assert!(futures::poll!(&mut first).is_pending());
    let (mut second, mut third) = (call(2), call(3));
    assert!(futures::poll!(&mut second).is_pending() && futures::poll!(&mut third).is_pending());
    assert_eq!(taken("isolate-queue"), (1, 0, 2));
    assert_eq!(call(4).await.unwrap_err().kind(), Some(ErrorKind::IsolateFull));
    drop(second);
    assert_eq!(taken("isolate-queue"), (1, 0, 1), "it has left");
    let mut fifth = call(5);
    assert!(futures::poll!(&mut fifth).is_pending());
    jam.clear();
    let (first, third, fifth) = tokio::join!(first, third, fifth);
    first.and(third).and(fifth).expect("all of them");
    assert_eq!(*order.lock().expect("never poisoned"), [1, 3, 5]);
    assert_eq!(site("queues").waits(WaitFate::Cancelled).count(), 1);
}

#[tokio::test]
async fn whoever_waits_in_vain_is_told_so_and_nobody_waits_for_threads_that_are_lost() {
    #[resilient(isolate = "isolate-vain:1/queue:2/wait:600ms", timeout = "100ms")]
    async fn waits_in_vain(jam: Arc<Jam>) -> Result<(), AppError> {
        jam.block();
        Ok(())
    }
    let jam = Arc::<Jam>::default();
    assert_eq!(waits_in_vain(Arc::clone(&jam)).await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    // It may come back within the time a caller would wait, so the next one waits.
    let error = waits_in_vain(Arc::clone(&jam)).await.unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::IsolateWait));
    assert!(error.to_string().contains("for one of the 1 threads of isolate `isolate-vain`"), "{error}");
    // It has not.
    let error = waits_in_vain(Arc::clone(&jam)).await.unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::IsolateFull));
    assert_eq!(site("waits_in_vain").waits(WaitFate::Expired).count(), 1, "nobody else has waited");
    jam.clear();
    until(|| taken("isolate-vain") == (0, 0, 0));
    waits_in_vain(jam).await.expect("back");
}

#[tokio::test]
async fn the_context_goes_along() {
    #[resilient(isolate = "isolate-context:1", retry(1, backoff = "1ms..1ms"))]
    async fn in_context(ids: Arc<std::sync::Mutex<Vec<String>>>) -> Result<u32, AppError> {
        let id = watertight::call_id().expect("inside a call").to_string();
        ids.lock().expect("never poisoned").push(id);
        assert!(deadline::remaining().expect("a deadline") <= ms(9_000));
        match watertight::attempt() {
            0 => Err(AppError::Broken("once more")),
            attempt => Ok(attempt),
        }
    }
    let ids = Arc::default();
    let answer = deadline::within(ms(9_000), in_context(Arc::clone(&ids))).await.expect("in time");
    assert_eq!(answer.expect("the second"), 1);
    let ids = ids.lock().expect("never poisoned").clone();
    assert_eq!((ids.len(), &ids[0]), (2, &ids[1]));
    assert_eq!((site("in_context").retries, isolate("isolate-context").started), (1, 1));
}

#[tokio::test]
async fn a_fallback_that_names_an_argument_gets_it() {
    #[resilient(isolate = "isolate-fallback:1", timeout = "5ms", fallback = || format!("stale {user}"))]
    async fn answers_late(user: String) -> String {
        sleep(ms(5_000)).await;
        user
    }
    assert_eq!(answers_late("ada".to_owned()).await, "stale ada");
    assert_eq!(site("answers_late").fallback_used, 1);
}

#[resilient(isolate = "isolate-nested:1", timeout = "5s")]
async fn outermost() -> Result<[String; 3], AppError> {
    let [second, third] = middle().await?;
    tokio::task::yield_now().await;
    Ok([thread(), second, third])
}

#[resilient(isolate = "isolate-nested", timeout = "5s")]
async fn middle() -> Result<[String; 2], AppError> {
    tokio::task::yield_now().await;
    Ok([thread(), innermost().await?])
}

#[resilient(isolate = "isolate-nested", timeout = "5s")]
async fn innermost() -> Result<String, AppError> {
    tokio::task::yield_now().await;
    Ok(thread())
}

#[tokio::test]
async fn a_call_back_into_the_same_compartment_runs_in_place() {
    assert_eq!(outermost().await.expect("no waiting for itself"), ["isolate-nested-1"; 3]);
    assert_eq!((site("outermost").lent, site("middle").lent, site("innermost").lent), (0, 1, 1));
    assert_eq!(taken("isolate-nested"), (0, 0, 0));
    assert_eq!(isolate("isolate-nested").peak_running, 1);
}

#[tokio::test]
async fn a_panic_is_the_bodys_own_and_its_thread_lives() {
    #[resilient(isolate = "isolate-panics:1", retry = 2)]
    async fn panics(well: bool) -> Result<String, AppError> {
        if !well {
            panic_quietly();
        }
        Ok(thread())
    }
    caught(panics(false)).await.map(|_| ()).expect_err("it surfaces");
    let figures = site("panics");
    assert_eq!((figures.panicked, figures.attempts_by(AttemptFate::Panicked), figures.retries), (1, 1, 0));
    assert_eq!(taken("isolate-panics"), (0, 0, 0));
    assert_eq!(panics(true).await.expect("it works"), "isolate-panics-1");
}

#[tokio::test]
async fn a_breaker_counts_and_a_refusal_is_none_of_its_business() {
    #[resilient(
        isolate = "isolate-breaker:1",
        timeout = "10ms",
        breaker(name = "isolate-breaker", window = 2, failures = "100%")
    )]
    async fn behind_a_breaker(jam: Arc<Jam>) -> Result<(), AppError> {
        jam.block();
        Ok(())
    }
    let jam = Arc::<Jam>::default();
    let kinds = [ErrorKind::TimedOut, ErrorKind::IsolateFull, ErrorKind::IsolateFull];
    for kind in kinds {
        assert_eq!(behind_a_breaker(Arc::clone(&jam)).await.unwrap_err().kind(), Some(kind));
    }
    let figures = watertight_tests::breaker("isolate-breaker");
    assert_eq!((figures.calls, figures.failures), (1, 1));
    jam.clear();
}

#[tokio::test]
async fn a_refusal_is_tried_again_where_a_word_says_so() {
    #[resilient(isolate = "isolate-again:1", timeout = "1s", retry(3, on = [full], backoff = "20ms..20ms", budget = off))]
    async fn asks_again(jam: Arc<Jam>, asked: Arc<AtomicU32>) -> Result<(), AppError> {
        asked.fetch_add(1, Ordering::SeqCst);
        jam.block();
        Ok(())
    }
    let (jam, asked) = (Arc::<Jam>::default(), Arc::<AtomicU32>::default());
    let call = || asks_again(Arc::clone(&jam), Arc::clone(&asked));
    let mut holder = Box::pin(call());
    assert!(futures::poll!(&mut holder).is_pending());
    let clears = async {
        sleep(ms(10)).await;
        jam.clear();
    };
    let (held, second, ()) = tokio::join!(holder, call(), clears);
    held.and(second).expect("after another try");
    assert!(site("asks_again").retries >= 1);
    assert_eq!(asked.load(Ordering::SeqCst), 2, "a refused attempt runs nothing");
}

struct Shop {
    name: String,
}

impl Shop {
    #[resilient(isolate = "isolate-shop:2", timeout = "5s")]
    async fn label(self: Arc<Self>, mut prefix: String, (left, _): (u8, u8)) -> Result<String, AppError> {
        prefix.push_str(&self.name);
        Ok(format!("{prefix}{left}"))
    }

    #[resilient(isolate = "isolate-shop", timeout = "5s")]
    async fn name(self) -> Result<String, AppError> {
        Ok(self.name)
    }
}

#[async_trait::async_trait]
trait Labels {
    async fn first(self: Arc<Self>, prefix: String) -> Result<String, AppError>;
}

#[async_trait::async_trait]
impl Labels for Shop {
    #[resilient(isolate = "isolate-shop", timeout = "5s")]
    async fn first(self: Arc<Self>, prefix: String) -> Result<String, AppError> {
        Ok(format!("{prefix}{}", self.name))
    }
}

#[resilient(isolate = "isolate-generic:1", timeout = "5s", retry = 1)]
async fn generic<T: ToString + Clone + Send + 'static>(value: T, times: [u8; 2]) -> Result<String, AppError> {
    Ok(value.to_string().repeat(times.len()))
}

#[tokio::test]
async fn methods_that_own_their_receiver_traits_and_generics() {
    let shop = Arc::new(Shop { name: "shop".to_owned() });
    assert_eq!(Arc::clone(&shop).label("the ".to_owned(), (1, 2)).await.expect("free"), "the shop1");
    assert_eq!(generic(12, [0, 0]).await.expect("free"), "1212");
    assert_eq!(Arc::clone(&shop).first("my ".to_owned()).await.expect("free"), "my shop");
    assert_eq!(Arc::into_inner(shop).expect("not kept").name().await.expect("free"), "shop");
}

#[resilient(isolate = "isolate-paused:1", timeout = "300ms")]
async fn paused(sleeps: u64, computes: u64) -> Result<(), AppError> {
    for _ in 0..3 {
        block_for(ms(computes));
        sleep(ms(sleeps)).await;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_paused_clock_stands_while_the_body_computes_and_runs_while_it_sleeps() {
    let watch = Stopwatch::start();
    paused(50, 5).await.expect("150 ms of sleep, and no time for what it computes");
    watch.assert_reads(ms(150));
    let error = paused(200, 5).await.unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::TimedOut));
    watch.assert_reads(ms(150 + 300));
    until(|| taken("isolate-paused") == (0, 0, 0));
}

#[tokio::test]
async fn a_deadline_around_cuts_it_off_and_a_spent_one_takes_no_thread() {
    #[resilient(isolate = "isolate-deadline:1")]
    async fn bounded(jam: Arc<Jam>) -> Result<(), AppError> {
        jam.block();
        Ok(())
    }
    let jam = Arc::<Jam>::default();
    let outer = deadline::within(ms(20), async {
        let error = bounded(Arc::clone(&jam)).await.unwrap_err();
        assert_eq!(error.kind(), Some(ErrorKind::Deadline));
        let error = bounded(Arc::clone(&jam)).await.unwrap_err();
        assert!(error.refused().is_refusal());
    });
    outer.await.expect("it says so itself, both times");
    assert_eq!(isolate("isolate-deadline").started, 1);
    jam.clear();
}

#[test]
fn sixty_four_callers_share_four_threads_and_lose_nothing() {
    #[resilient(isolate = "isolate-crowd:4/queue:64/wait:10s", timeout = "10s")]
    async fn one_of_many(own: u32, inside: Arc<watertight_tests::Peak>) -> Result<u32, AppError> {
        let _inside = inside.enter();
        std::thread::yield_now();
        Ok(own)
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build();
    let inside = Arc::<watertight_tests::Peak>::default();
    let sum = runtime.expect("a runtime").block_on(async {
        let callers: Vec<_> = (0..64)
            .map(|caller| {
                let inside = Arc::clone(&inside);
                tokio::spawn(async move {
                    let mut sum = 0;
                    for turn in 0..50 {
                        sum += one_of_many(caller * 50 + turn, Arc::clone(&inside)).await.expect("room");
                    }
                    sum
                })
            })
            .collect();
        let mut sum = 0;
        for caller in callers {
            sum += caller.await.expect("no panic");
        }
        sum
    });
    assert_eq!(sum, (0..64 * 50).sum::<u32>());
    assert!(inside.most() <= 4);
    let figures = isolate("isolate-crowd");
    assert_eq!((figures.running, figures.queued, figures.abandoned), (0, 0, 0));
    assert!(figures.started <= 4 && figures.peak_running <= 4);
}
