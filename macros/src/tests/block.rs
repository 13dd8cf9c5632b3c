//! Attributes on `impl` blocks: what holds for which method, and every mistake.

use super::tokens;
use crate::attribute::expansion;

/// The messages in an expansion, and the rest of it.
fn told(attribute: &str, item: &str) -> (Vec<String>, String) {
    let out = expansion(tokens(attribute), tokens(item));
    let file: syn::File = syn::parse2(out).unwrap_or_else(|error| panic!("{item}: {error}"));
    let (mut messages, mut rest) = (Vec::new(), String::new());
    for item in file.items {
        match item {
            syn::Item::Macro(mac) if mac.mac.path.segments.last().is_some_and(|last| last.ident == "compile_error") => {
                messages.push(mac.mac.parse_body::<syn::LitStr>().expect("a message").value());
            }
            item => rest.push_str(&quote::quote!(#item).to_string()),
        }
    }
    (messages, rest)
}

#[test]
fn one_mistake_is_one_message() {
    let blocks = [
        ("timout = \"1s\"", "async fn a() -> R {} async fn b() -> R {}"),
        ("", "#[resilient(timeout = \"1s\")] async fn a() -> R {}"),
        ("skip", "async fn a() -> R {}"),
        ("timeout = off", "async fn a() -> R {}"),
        ("retry(1, on = [timeout])", "async fn a() -> R {} async fn b() -> R {}"),
        ("timeout = \"1s\"", "fn a() -> R {}"),
        ("timeout = \"1s\"", "#[resilient(skip)] async fn a() -> R {}"),
        ("timeout = \"1s\"", "#[resilient(skip, retry = 2)] async fn a() -> R {} async fn b() -> R {}"),
        ("timeout = \"1s\"", "#[resilient(timeout = off)] async fn a() -> R {} async fn b() -> R {}"),
        ("timeout = \"1s\"", "#[resilient(retry = 1)] #[resilient(breaker)] async fn a() -> R {}"),
        ("timeout = \"1s\"", "#[resilient = 5] async fn a() -> R {}"),
        ("timeout = \"1s\"", "#[resilient(retry = 0)] async fn a() -> R {} async fn b() -> R {}"),
        ("timeout = \"1s\"", "#[resilient(skp)] async fn a() -> R {} async fn b() -> R {}"),
        ("timeout = \"1s\", mode = off", "async fn a() -> R {}"),
        ("mode = observe", "#[resilient(timeout = \"1s\")] async fn a() -> R {}"),
        ("timeout = \"1s\"", "#[resilient(mode(retry = observe))] async fn a() -> R {} async fn b() -> R {}"),
        ("timeout = \"1s\"", "#[resilient(skip, mode = observe)] async fn a() -> R {} async fn b() -> R {}"),
        ("timeout = \"1s\"", "#[cfg_attr(test, resilient(skip))] async fn a() -> R {} async fn b() -> R {}"),
        ("timeout = \"1s\"", "methods! {} async fn b() -> R {}"),
        ("timeout = \"1s\"", "#[resilient(skip)] const N: u8 = 5; async fn b() -> R {}"),
        ("timeout = \"1s\"", "#[resilient(retry = 1)] fn a() -> R {} async fn b() -> R {}"),
        ("timeout = \"1s\"", "async fn a() -> ! {} async fn b() -> R {}"),
    ];
    let mut all = String::new();
    for (attribute, inside) in blocks {
        let (messages, rest) = told(attribute, &format!("impl S {{ {inside} }}"));
        assert_eq!(messages.len(), 1, "{attribute} {inside}: {messages:#?}");
        assert_eq!(messages[0].lines().count(), 2, "{messages:?}");
        assert!(!rest.contains("resilient") || inside.contains("cfg_attr") || inside.contains("const"), "{rest}");
        all.extend(["#[resilient(", attribute, ")] impl S { ", inside, " }\n", &messages[0], "\n\n"]);
    }
    expect_test::expect_file!["../../tests/snapshots/blocks.txt"].assert_eq(&all);
}

#[test]
fn a_method_has_the_last_word_key_by_key() {
    let (messages, rest) = told(
        "timeout = \"1s\", retry = 1, breaker, idempotent",
        "impl S {
            #[resilient(retry = 3)] async fn more() -> R {}
            #[watertight::resilient(breaker = off, idempotent = off, timeout = \"2s\")] async fn less() -> R {}
        }",
    );
    assert_eq!(messages, Vec::<String>::new());
    let (more, less) = rest.split_once("fn less").expect("two methods");
    assert!(more.contains("Timeout (1000000000u64)") && more.contains("Config :: new (3u32)"), "{more}");
    assert!(more.contains("breaker") && more.contains("Setting :: Idempotent"), "{more}");
    assert!(less.contains("Timeout (2000000000u64)") && less.contains("Retries (1u32)"), "{less}");
    assert!(!less.contains("breaker") && !less.contains("Setting :: Idempotent"), "{less}");
}

#[test]
fn names_are_of_the_function_and_the_block() {
    let (_, rest) = told(
        "timeout = \"1s\", name = \"users\"",
        "impl S { async fn get() -> R {} #[resilient(name = \"put.user\")] async fn put() -> R {} }",
    );
    assert!(rest.contains("\"users.get\"") && rest.contains("\"put.user\""), "{rest}");
}

#[test]
fn both_orders_of_async_trait_are_async_methods() {
    let (messages, rest) = told(
        "timeout = \"1s\"",
        "impl T for S { fn get<'async_trait>(&self) -> Pin<Box<dyn Future<Output = R> + 'async_trait>> {
            Box::pin(async move { let __self = self; let __ret: R = { 5 }; __ret })
        } }",
    );
    assert_eq!(messages, Vec::<String>::new());
    assert!(rest.contains("__WT_SITE"), "{rest}");
}

#[test]
fn half_typed_methods_survive() {
    let (messages, rest) = told("timeout = \"1s\"", "impl S { async fn f(&self) -> R { let x = self; vec![x . ] } }");
    assert_eq!(messages, Vec::<String>::new());
    assert!(rest.contains("vec ! [x .]"), "{rest}");
}

#[test]
fn a_blocks_mode_is_a_default_and_a_methods_own_replaces_it_as_a_whole() {
    let (messages, rest) = told(
        "timeout = \"1s\", retry = 1, bulkhead = \"a:1\", mode(bulkhead = observe, retry = observe)",
        "impl S {
            async fn all(&self) -> R {}
            #[resilient(bulkhead = off)] async fn less(&self) -> R {}
            #[resilient(mode = off)] async fn none(&self) -> R {}
            #[resilient(mode(timeout = observe))] async fn own(&self) -> R {}
        }",
    );
    assert!(messages.is_empty(), "{messages:?}");
    let methods: Vec<_> = rest.split("async fn ").skip(1).map(|method| method.replace(' ', "")).collect();
    let observing = |at: usize| {
        let (_, after) = methods[at].split_once("Observing(::watertight::__private::Observe::")?;
        after.split_once(')').map(|(words, _)| words.to_owned())
    };
    assert_eq!(observing(0).as_deref(), Some("NONE.bulkhead("));
    assert!(methods[0].contains("NONE.bulkhead().retry()") && methods[1].contains("NONE.bulkhead().retry()"));
    assert_eq!(observing(2), None);
    assert!(methods[3].contains("Observe::NONE.timeout())") && methods[3].contains("loop"), "{}", methods[3]);
    assert!(!methods[0].contains("loop"), "what only observes retries runs its body once");
}
