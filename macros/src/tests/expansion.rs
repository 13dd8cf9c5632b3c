//! The output, one file per shape of function.
//!
//! The files are read like code in review: what a user would have had to write by hand.

use expect_test::expect_file;

use super::tokens;
use crate::attribute::expansion;

macro_rules! shapes {
    ($($name:ident: $attribute:literal $item:literal)+) => {
        $(#[test]
        fn $name() {
            let file = pretty($attribute, $item);
            expect_file![concat!("../../tests/snapshots/", stringify!($name), ".rs")].assert_eq(&file);
        })+
    };
}

shapes! {
    plain:
        r#"timeout = "300ms""#
        "pub async fn get(id: u64) -> Result<Vec<u8>, AppError> { load(id).await }"
    full:
        r#"timeout = "300ms", bulkhead = "recs:8/queue:16", retry = 2, fallback = empty_vec"#
        "/// Documented.
        pub async fn recommendations(user: UserId) -> Result<Vec<Rec>, AppError> { fetch(user).await }"
    every_key:
        r#"timeout = "300ms", deadline = "2s", bulkhead = "recs:8/queue:16/wait:100ms", idempotent, name = "recs",
        breaker(name = "recs", window = 50, failures = "20%", min_calls = 10, cooldown = "5s", probes = 2, on = is_outage),
        retry(3, backoff = "50ms..2s", on = [|e| e.is_transient(), timeout, full], budget = "10%+5/s"),
        fallback = |failure| Cached::of(failure), crate = crate::facade::watertight"#
        "async fn f() -> Result<Vec<u8>, AppError> { load().await }"
    nothing_refuses:
        "retry(1, budget = off)"
        "async fn f() { step().await }"
    joins:
        r#"breaker = "recs", bulkhead = "recs""#
        "async fn f() -> Result<(), AppError> { step().await }"
    shared_by_all_processes:
        r#"bulkhead = "recs:64/queue:16/fleet", rate = "vendor:1000/s/fleet""#
        "async fn f() -> Result<(), AppError> { step().await }"
    isolated:
        r#"isolate = "reports:4/queue:8", timeout = "2s""#
        "async fn render(id: u64, mut name: String) -> Result<String, AppError> { load(id, name).await }"
    isolated_again:
        r#"isolate = "reports", retry = 1, fallback = |failure| format!("{name}: {failure}")"#
        "async fn render(id: u64, mut name: String) -> Result<String, AppError> { load(id, name).await }"
    isolated_plain:
        r#"isolate = "reports:4", timeout = "2s""#
        "pub fn render(id: u64) -> Result<String, AppError> { load(id) }"
    observed:
        r#"timeout = "300ms", idempotent, observe = "2%/runs:4""#
        "async fn quote(id: u64, mut name: String) -> Result<String, AppError> { load(id, name).await }"
    observed_again:
        r#"timeout = "300ms", retry = 1, idempotent, observe = "2%", fallback = |failure| format!("{name}: {failure}")"#
        "async fn quote(id: u64, mut name: String) -> Result<String, AppError> { load(id, name).await }"
    observed_beside:
        r#"timeout = "300ms", hedge = "50ms", idempotent, observe = "2%""#
        "async fn quote(id: u64, mut name: String) -> Result<String, AppError> { load(id, name).await }"
    mut_self:
        "retry = 1, breaker"
        "async fn push(&mut self, mut item: Item, (a, mut b): (u8, &mut u8), #[cfg(test)] c: u8) -> Result<(), AppError> { self.0.push(item) }"
    arguments:
        "retry = 1, breaker"
        "async fn f(Json(x): Json<T>, Foo { y, .. }: Foo, _: u8, [c, d]: [u8; 2], ref z: String, mut rest: &[u8], buf: &mut Vec<u8>, Unit: Unit, r#type: u8) -> Result<(), AppError> { go().await }"
    hidden_types:
        r#"timeout = "1s""#
        "async fn f() -> Result<Vec<impl Iterator<Item = impl Display>>, AppError> { go().await }"
    inner_attributes:
        r#"timeout = "1s""#
        "async fn f() -> Result<(), AppError> { #![allow(unused)] go().await }"
    half_typed:
        r#"timeout = "1s""#
        "async fn f(a: String) -> Result<(), AppError> { vec![a . ] ; }"
    by_async_trait:
        "retry = 1, breaker"
        "fn get<'life0, 'async_trait>(&'life0 mut self, id: String, __arg2: Json<String>) -> ::core::pin::Pin<Box<dyn ::core::future::Future<Output = Result<String, AppError>> + ::core::marker::Send + 'async_trait>> where 'life0: 'async_trait {
            Box::pin(async move {
                if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<Result<String, AppError>> {
                    #[allow(unreachable_code)]
                    return __ret;
                }
                let mut __self = self;
                let mut id = id;
                let Json(x) = { let __arg2 = __arg2; __arg2 };
                let __ret: Result<String, AppError> = { __self.get(id, x).await };
                #[allow(unreachable_code)]
                __ret
            })
        }"
    fallback_call:
        r#"timeout = "300ms", fallback = stale(&name, page)"#
        "async fn get(name: String, mut page: u32, #[cfg(test)] mut other: Body) -> Result<Vec<u8>, AppError> { load(&name, page).await }"
    last_good:
        r#"timeout = "300ms", fallback = last_good("60s", shared)"#
        "async fn rates(base: Currency) -> Result<Vec<Rate>, AppError> { load(base).await }"
    fallback_call_retried:
        "retry = 1, fallback = |failure| stale(&name, failure)"
        "async fn get(name: String, mut other: Body) -> Result<Vec<u8>, AppError> { load(name).await }"
    impl_block:
        r#"timeout = "1s", retry = 1, name = "users""#
        "impl<T> Users<T> { #![allow(unused)] const N: u8 = 5; /// Documented.
        #[resilient(retry = off, timeout = \"5s\")] #[must_use] pub async fn put(&mut self) -> Result<(), AppError> { self.put_row().await }
        async fn get(&self, id: u8) -> Result<u8, AppError> { load(id).await }
        fn sync(&self) -> u8 { 5 }
        #[resilient(skip)] async fn bare(&self) {} }"
    hedged:
        r#"hedge(after = "p95", floor = "10ms"), retry = 1, idempotent, fallback = stale(&name)"#
        "async fn get(&self, name: String, mut page: u32, text: &str) -> Result<Vec<u8>, AppError> { self.load(name, page).await }"
    returns_a_future:
        r#"timeout = "1s""#
        "fn get(a: &str) -> BoxFuture<'static, Result<String, AppError>> { let a = a.to_owned(); async move { load(a).await }.boxed() }"
}

/// A renamed runtime is the only one that is named.
#[test]
fn the_runtime_is_named_as_it_is_said_to_be() {
    let attribute = r#"timeout = "1s", deadline = "2s", bulkhead = "a:1", breaker(on = f), retry(1, on = g), fallback = h,
        crate = ::renamed"#;
    let out = expansion(tokens(attribute), tokens("async fn f(a: u8) -> Result<u8, E> { g(a).await }")).to_string();
    assert!(out.contains(":: renamed :: __private :: Site") && !out.contains("watertight"), "{out}");
}

fn pretty(attribute: &str, item: &str) -> String {
    let out = expansion(tokens(attribute), tokens(item));
    // A method is a method only inside of an `impl`.
    let method = item.starts_with("fn get<'life0") || item.contains("(&mut self, mut") || item.contains("(&self, name");
    let out = if method { quote::quote!(impl Guarded { #out }) } else { out };
    match syn::parse2(out.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        Err(error) => panic!("{error}: {out}"),
    }
}
