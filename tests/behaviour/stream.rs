//! Streams that keep what the function they were made in had.

use std::pin::Pin;
use std::time::Duration;

use futures::{FutureExt, Stream, StreamExt, stream};
use tokio::time::sleep;
use watertight::stream::keep;
use watertight::{Error, ErrorKind, deadline, resilient};
use watertight_tests::{AppError, Gate, Stopwatch, assert_free, assert_quiet, ms, occupancy, site};

type Rows = Pin<Box<dyn Stream<Item = Result<u32, Error>> + Send>>;

/// So many rows, so long apart.
fn rows(number: u32, apart: Duration) -> impl Stream<Item = Result<u32, Error>> + Send {
    stream::iter(0..number).then(move |row| async move {
        sleep(apart).await;
        Ok(row)
    })
}

async fn last_error(rows: Rows) -> Option<ErrorKind> {
    rows.filter_map(|row| async { row.err() }).map(|error| error.kind()).collect::<Vec<_>>().await.pop()
}

#[resilient(bulkhead = "stream_kept:1", timeout = "350ms")]
async fn stream_kept(number: u32) -> Result<Rows, Error> {
    Ok(Box::pin(keep(rows(number, ms(100)))))
}

#[tokio::test(start_paused = true)]
async fn the_slot_is_kept_until_the_stream_ends_is_cut_off_or_is_dropped() {
    let clock = Stopwatch::start();
    let ended = stream_kept(2).await.unwrap();
    assert_eq!(stream_kept(1).await.err().map(|error| error.kind()), Some(ErrorKind::BulkheadFull));
    assert_eq!(last_error(ended).await, None);
    assert_eq!(occupancy("stream_kept"), (0, 0), "it has ended");

    let cut_off = stream_kept(9).await.unwrap();
    assert_eq!(last_error(cut_off).await, Some(ErrorKind::TimedOut));
    assert!(clock.read() >= ms(550) && clock.read() <= ms(560), "{:?}", clock.read());

    let dropped = stream_kept(9).await.unwrap();
    assert_eq!(occupancy("stream_kept"), (1, 0));
    drop(dropped);
    assert_free!("stream_kept", 1);
    assert_eq!((site("stream_kept").ok, site("stream_kept").timed_out), (3, 0), "the calls had their ends");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_around_the_function_is_kept_too_and_read_inside_the_stream() {
    #[resilient(bulkhead = "stream_deadline:1")]
    async fn stream_deadline() -> Result<Rows, Error> {
        let left = stream::iter(0..9).then(|_| async {
            sleep(ms(100)).await;
            let left = deadline::remaining().expect("the scope's");
            Ok(u32::try_from(left.as_millis()).expect("less than a second"))
        });
        Ok(Box::pin(keep(left)))
    }
    let made = deadline::within(ms(250), stream_deadline()).await.unwrap().unwrap();
    let read: Vec<_> = made.map(|row| row.map_err(|error| error.kind())).collect().await;
    assert_eq!(read, [Ok(150), Ok(50), Err(ErrorKind::Deadline)]);
    assert_free!("stream_deadline", 1);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_always_has_an_item_ends_at_the_limit_all_the_same() {
    #[resilient(timeout = "50ms", bulkhead = "stream_always:1")]
    async fn stream_always() -> Result<Rows, Error> {
        Ok(Box::pin(keep(stream::repeat(7).map(Ok))))
    }
    let mut rows = stream_always().await.unwrap();
    assert_eq!(rows.next().await.unwrap().unwrap(), 7);
    sleep(ms(60)).await;
    assert_eq!(rows.next().await.unwrap().unwrap_err().kind(), ErrorKind::TimedOut);
    assert!(rows.next().await.is_none() && rows.next().await.is_none());
    assert_free!("stream_always", 1);
}

#[tokio::test(start_paused = true)]
async fn a_stream_may_end_before_its_function_does_here_or_in_another_task() {
    #[resilient(bulkhead = "stream_early:1/queue:1")]
    async fn stream_early(how: u32) -> Result<(), AppError> {
        let kept = keep(rows(3, ms(10)));
        match how {
            0 => drop(kept),
            1 => assert_eq!(kept.count().await, 3),
            2 => assert_eq!(tokio::spawn(kept.count()).await.unwrap(), 3),
            _ => return Err(AppError::Broken("with a stream in hand")),
        }
        Ok(())
    }
    for how in 0..4 {
        assert_eq!(stream_early(how).await.is_err(), how == 3);
        assert_quiet("stream_early", 1);
    }
    assert_free!("stream_early", 1);
}

#[tokio::test(start_paused = true)]
async fn calls_back_into_the_same_bulkhead_run_in_the_slot_that_the_stream_keeps() {
    #[resilient(bulkhead = "stream_nested:1/queue:4/wait:1s")]
    async fn stream_nested_row(row: u32) -> Result<u32, Error> {
        sleep(ms(10)).await;
        Ok(row)
    }
    #[resilient(bulkhead = "stream_nested")]
    async fn stream_nested() -> Result<Rows, Error> {
        Ok(Box::pin(keep(stream::iter(0..3).then(stream_nested_row))))
    }
    let mut rows = stream_nested().await.unwrap();
    let clock = Stopwatch::start();
    assert_eq!(rows.next().await.unwrap().unwrap(), 0);
    // Dropped with a nested call half way.
    assert!(rows.next().now_or_never().is_none());
    assert!(clock.read() <= ms(15), "nobody waited: {:?}", clock.read());
    drop(rows);
    assert_eq!(site("stream_nested_row").lent, 2);
    assert_free!("stream_nested", 1);
}

#[tokio::test(start_paused = true)]
async fn a_slot_that_the_function_had_borrowed_goes_back_to_its_lender() {
    #[resilient(bulkhead = "stream_borrowed")]
    async fn stream_borrowed_inner() -> Result<Rows, Error> {
        Ok(Box::pin(keep(rows(3, ms(10)))))
    }
    #[resilient(bulkhead = "stream_borrowed:1")]
    async fn stream_borrowed(moved: bool) -> Result<Option<Rows>, Error> {
        let kept = stream_borrowed_inner().await?;
        if moved {
            return Ok(Some(kept));
        }
        assert_eq!(kept.count().await, 3);
        Ok(None)
    }
    assert!(stream_borrowed(false).await.unwrap().is_none());
    assert_quiet("stream_borrowed", 1);
    let moved = stream_borrowed(true).await.unwrap().expect("a stream");
    assert_eq!(occupancy("stream_borrowed"), (1, 0), "it has the lender's slot");
    assert_eq!(moved.count().await, 3);
    assert_free!("stream_borrowed", 1);
}

#[tokio::test(start_paused = true)]
async fn the_slot_of_a_key_is_kept_and_its_compartment_with_it() {
    #[resilient(bulkhead = "stream_keyed:1", key = key)]
    async fn stream_keyed(key: u32) -> Result<Rows, Error> {
        let _ = key;
        Ok(Box::pin(keep(rows(2, ms(10)))))
    }
    // The last of so many that, as they are forgotten again, whatever nobody uses is moved.
    let mut others = Vec::new();
    for other in 1_000..9_000 {
        others.push(stream_keyed(other).await.unwrap());
    }
    let kept = stream_keyed(7).await.unwrap();
    drop(others);
    for other in 10_000..18_000 {
        drop(stream_keyed(other).await.unwrap());
    }
    assert_eq!(stream_keyed(7).await.err().map(|error| error.kind()), Some(ErrorKind::BulkheadFull));
    assert_eq!(kept.count().await, 2);
    assert_eq!(stream_keyed(7).await.unwrap().count().await, 2);
    assert_eq!(occupancy("stream_keyed").0, 0);
}

#[tokio::test(start_paused = true)]
async fn outside_of_every_function_it_keeps_the_scope_alone() {
    let free = keep(rows(3, ms(10)));
    assert_eq!(free.count().await, 3);
    let scoped = deadline::within(ms(25), async { keep(rows(9, ms(10))) }).await.unwrap();
    let read: Vec<_> = scoped.map(|row| row.map_err(|error| error.kind())).collect().await;
    assert_eq!(read, [Ok(0), Ok(1), Err(ErrorKind::Deadline)]);
}

#[test]
fn a_runtime_that_goes_with_a_stream_half_read_gives_the_slot_back() {
    #[resilient(bulkhead = "stream_runtime:2", timeout = "1m")]
    async fn stream_runtime() -> Result<Rows, Error> {
        Ok(Box::pin(keep(rows(9, ms(10_000)))))
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let both = Gate::shut();
        for _ in 0..2 {
            let rows = stream_runtime().await.unwrap();
            tokio::spawn(async move { rows.count().await });
        }
        both.open();
        tokio::task::yield_now().await;
    });
    assert_eq!(occupancy("stream_runtime"), (2, 0));
    drop(runtime);
    assert_quiet("stream_runtime", 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_when_streams_end_in_other_threads_than_their_functions() {
    #[resilient(bulkhead = "stream_race:4/queue:64", timeout = "30s")]
    async fn stream_race(early: bool) -> Result<Option<Rows>, Error> {
        let kept: Rows = Box::pin(keep(rows(1, Duration::ZERO)));
        if early {
            drop(tokio::spawn(kept.count()));
            tokio::task::yield_now().await;
            return Ok(None);
        }
        Ok(Some(kept))
    }
    let mut tasks = tokio::task::JoinSet::new();
    for turn in 0..400 {
        tasks.spawn(async move {
            if let Ok(Some(kept)) = stream_race(turn % 2 == 0).await {
                tokio::spawn(kept.count()).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    while occupancy("stream_race").0 > 0 {
        tokio::task::yield_now().await;
    }
    assert_free!("stream_race", 4);
}
