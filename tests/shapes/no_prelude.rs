//! A crate without the standard prelude (B41): every name an expansion uses is spelt from its root.

#![no_implicit_prelude]

use ::watertight::{Error, resilient};

enum Trouble {
    Refused,
    Own,
}

impl ::core::convert::From<Error> for Trouble {
    fn from(_: Error) -> Self {
        Trouble::Refused
    }
}

type Outcome<T> = ::core::result::Result<T, Trouble>;

#[resilient(timeout = "1s", deadline = "2s", bulkhead = "bare:2/queue:2", breaker, retry = 1, name = "bare")]
async fn shape(text: ::std::string::String, mut more: ::std::vec::Vec<u8>) -> Outcome<usize> {
    more.push(1);
    Outcome::Ok(text.len() + more.len())
}

#[resilient(timeout = "1s", fallback = spare(&text))]
async fn with_call(text: ::std::string::String) -> Outcome<usize> {
    if text.is_empty() { Outcome::Err(Trouble::Own) } else { Outcome::Ok(text.len()) }
}

fn spare(text: &str) -> usize {
    text.len() + 9
}

#[resilient(hedge = "50ms", idempotent)]
async fn hedged(text: ::std::string::String) -> Outcome<usize> {
    Outcome::Ok(text.len())
}

struct Client;

#[resilient(timeout = "1s", fallback = |failure| match failure {
    ::watertight::Failure::Refused(_) => 1,
    ::watertight::Failure::Failed(Trouble::Refused) => 2,
    ::watertight::Failure::Failed(Trouble::Own) => 3,
})]
impl Client {
    async fn get(&self) -> Outcome<u8> {
        Outcome::Err(Trouble::Own)
    }
}

#[test]
fn expansions_need_no_prelude() {
    let runtime = ::tokio::runtime::Builder::new_current_thread().enable_time().build();
    let ::core::result::Result::Ok(runtime) = runtime else { ::core::unreachable!() };
    runtime.block_on(async {
        let sum = shape(::std::string::ToString::to_string("text"), ::std::vec![1]).await;
        ::core::assert!(::core::matches!(sum, Outcome::Ok(6)));
        ::core::assert!(::core::matches!(with_call(::std::string::String::new()).await, Outcome::Ok(9)));
        ::core::assert!(::core::matches!(hedged(::std::string::String::new()).await, Outcome::Ok(0)));
        ::core::assert!(::core::matches!(Client.get().await, Outcome::Ok(3)));
    });
}
