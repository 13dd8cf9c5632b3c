//! How large a guarded future is beside the bare one: at most a kibibyte more.
//!
//! `cargo test -p watertight-tests --test cost sizes -- --nocapture` prints the table. The bodies hold something over an
//! await, or the compiler would leave nothing to compare.

// By value is what is measured.
#![allow(clippy::large_types_passed_by_value)]

use std::fmt::Write as _;
use std::time::Duration;

use watertight::{Error, Guard, resilient};

async fn work() -> Result<u32, Error> {
    tokio::task::yield_now().await;
    Ok(1)
}

/// Pairs of a bare and a guarded function with one body: name, parameters, arguments, body, and the keys to compare.
macro_rules! shapes {
    ($($name:ident $parameters:tt $arguments:tt $body:tt: { $($keys:tt)+ })*) => {
        fn table() -> Vec<(String, usize, usize)> {
            let mut table = Vec::new();
            $({
                async fn bare $parameters -> Result<u32, Error> $body
                let bare = size_of_val(&bare $arguments);
                $({
                    shapes!(guarded $name $parameters $body $keys);
                    table.push((shapes!(words $name $keys), bare, size_of_val(&$name $arguments)));
                })+
            })*
            table
        }
    };
    (guarded $name:ident $parameters:tt $body:tt [$($keys:tt)*]) => {
        #[resilient($($keys)*)]
        async fn $name $parameters -> Result<u32, Error> $body
    };
    (words $name:ident [$($keys:tt)*]) => {
        format!("{}: {}", stringify!($name), stringify!($($keys)*).split_whitespace().collect::<Vec<_>>().join(" "))
    };
}

shapes! {
    small() () { work().await }: {
        [timeout = "1s"]
        [deadline = "1s"]
        [bulkhead = "size_small:8/queue:16"]
        [rate = "100/s"]
        [breaker]
        [retry = 2]
        [timeout = "1s", fallback = || 0]
        [timeout = "1s", bulkhead = "size_small:8/queue:16", breaker, retry = 2]
        [timeout = "1s", deadline = "2s", bulkhead = "size_small:8/queue:16", breaker, retry = 2, fallback = || 0]
    }
    arguments(id: u64, name: String, tags: Vec<String>) (1, String::new(), Vec::new()) {
        let answer = work().await?;
        Ok(answer + u32::try_from(id).unwrap_or(0) + u32::try_from(name.len() + tags.len()).unwrap_or(0))
    }: {
        [timeout = "1s"]
        [timeout = "1s", bulkhead = "size_arguments:8/queue:16", breaker, retry = 2]
        [timeout = "1s", deadline = "2s", bulkhead = "size_arguments:8/queue:16", breaker, retry = 2, fallback = || 0]
    }
    borrows(name: &str, numbers: &[u64]) ("", &[]) {
        let answer = work().await?;
        Ok(answer + u32::try_from(name.len() + numbers.len()).unwrap_or(0))
    }: {
        [timeout = "1s"]
        [timeout = "1s", bulkhead = "size_borrows:8/queue:16", breaker, retry = 2]
    }
    holds_8_kib() () {
        let page = [1_u8; 8192];
        let answer = work().await?;
        Ok(answer + u32::from(page[answer as usize]))
    }: {
        [timeout = "1s"]
        [timeout = "1s", bulkhead = "size_page:8/queue:16", breaker, retry = 2]
        [timeout = "1s", deadline = "2s", bulkhead = "size_page:8/queue:16", breaker, retry = 2, fallback = || 0]
    }
    given_8_kib(page: [u8; 8192]) ([1; 8192]) {
        let answer = work().await?;
        Ok(answer + u32::from(page[answer as usize]))
    }: {
        [timeout = "1s"]
        [timeout = "1s", deadline = "2s", bulkhead = "size_given:8/queue:16", breaker, fallback = || 0]
    }
}

#[test]
fn a_guarded_future_is_at_most_a_kibibyte_larger_than_the_bare_one() {
    let table = table();
    let mut shown = format!("{:>7} {:>7} {:>7}\n", "bare", "guarded", "more");
    for (name, bare, guarded) in &table {
        let more = guarded.saturating_sub(*bare);
        let _ = writeln!(shown, "{bare:>7} {guarded:>7} {more:>7}  {name}");
    }
    println!("{shown}");
    assert!(table.iter().all(|(_, bare, guarded)| guarded > bare), "something is stored:\n{shown}");
    assert!(table.iter().all(|(_, bare, guarded)| *guarded <= bare + 1024), "too large:\n{shown}");
}

#[resilient(timeout = "1s", bulkhead = "size_again:8/queue:16", breaker, retry = 2)]
async fn given_again(page: [u8; 8192]) -> Result<u32, Error> {
    let answer = work().await?;
    Ok(answer + u32::from(page[answer as usize]))
}

async fn given_bare(page: [u8; 8192]) -> Result<u32, Error> {
    let answer = work().await?;
    Ok(answer + u32::from(page[answer as usize]))
}

#[test]
fn an_argument_under_retry_is_stored_for_the_next_attempt_and_no_more_often_than_that() {
    let (bare, guarded) = (size_of_val(&given_bare([1; 8192])), size_of_val(&given_again([1; 8192])));
    println!("an 8 KiB argument under retry: {bare} bare, {guarded} guarded");
    // One more than the bare future stores: the one kept for the next attempt.
    assert!(guarded <= bare + 8192 + 1024, "{bare} bare, {guarded} guarded");
}

#[test]
fn a_guards_future_stores_its_closure_and_the_closures_future_once() {
    let guard = Guard::named("size_guard").timeout(Duration::from_secs(1)).retry(2).build().unwrap();
    let page = [1_u8; 8192];
    let bare = size_of_val(&given_bare(page));
    let closure = move || given_bare(page);
    let (held, guarded) = (size_of_val(&closure), size_of_val(&guard.run(closure)));
    println!("a closure of {held} bytes, whose future has {bare}: {guarded} guarded");
    assert!(guarded <= held + bare + 1024, "{held} held, {bare} bare, {guarded} guarded");
}

/// Ten guarded functions inside one another, each holding a page over its await.
macro_rules! nest {
    ($($outer:ident calls $inner:ident;)*) => {
        $(#[resilient(timeout = "60s", bulkhead = "nest:1000", breaker, retry = 1)]
        async fn $outer(page: [u8; 1024]) -> Result<u32, Error> {
            let deeper = $inner(page).await?;
            Ok(deeper + u32::from(page[deeper as usize]))
        })*
    };
}

nest! {
    nest_0 calls nest_1; nest_1 calls nest_2; nest_2 calls nest_3; nest_3 calls nest_4; nest_4 calls nest_5;
    nest_5 calls nest_6; nest_6 calls nest_7; nest_7 calls nest_8; nest_8 calls nest_9; nest_9 calls innermost;
}

async fn innermost(page: [u8; 1024]) -> Result<u32, Error> {
    tokio::task::yield_now().await;
    Ok(u32::from(page[0]))
}

#[test]
fn b40_ten_guarded_functions_inside_one_another_fit_a_thread_of_two_mebibytes() {
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
    let nested = thread.spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        println!("ten deep: {} bytes", size_of_val(&nest_0([0; 1024])));
        runtime.block_on(nest_0([0; 1024]))
    });
    assert_eq!(nested.expect("a thread").join().expect("no overflow").unwrap(), 0);
}
