//! Patterns, `mut`, references and hidden types in arguments (B37, B43, B64).

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::support::{Outcome, same, step, thrice};

struct Json<T>(T);

#[derive(Clone)]
struct Foo {
    y: u8,
    z: String,
}

impl<T: Clone> Clone for Json<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

macro_rules! shapes {
    ($name:ident, $guard:meta) => {
        mod $name {
            use super::*;

            #[allow(clippy::too_many_arguments, clippy::toplevel_ref_arg)]
            #[$guard]
            pub(super) async fn patterns(
                Json(x): Json<String>,
                (a, b): (u8, u8),
                Foo { y, z: renamed }: Foo,
                _: u8,
                [c, .., d]: [u8; 3],
                ref e: String,
                &f: &u8,
                (g @ 1..=9 | g): u8,
                r#type: u8,
            ) -> Outcome<String> {
                step().await?;
                Ok(format!("{x}{a}{b}{y}{renamed}{c}{d}{e}{f}{g}{type}"))
            }

            #[$guard]
            pub(super) async fn mutated(
                mut a: Vec<u8>,
                mut it: impl Iterator<Item = u8> + Clone + Send,
                (mut b, c): (u8, u8),
                mut rest: &[u8],
            ) -> Outcome<Vec<u8>> {
                a.extend(it.by_ref());
                b += c;
                a.push(b);
                rest = &rest[1..];
                a.extend(rest);
                step().await?;
                Ok(a)
            }

            #[$guard]
            pub(super) async fn consumed(
                vec: Vec<u8>,
                text: String,
                shared: Arc<u8>,
            ) -> Outcome<(Vec<u8>, Vec<u8>, u8)> {
                step().await?;
                Ok((vec, text.into_bytes(), *shared))
            }

            #[$guard]
            pub(super) async fn lent(buf: &mut Vec<u8>, seen: &[u8]) -> Outcome<usize> {
                buf.clear();
                buf.extend(seen);
                step().await?;
                Ok(buf.len())
            }

            #[$guard]
            pub(super) async fn hidden(
                text: impl AsRef<str> + Send + Clone,
                call: Option<impl Fn() -> u8 + Send + Clone>,
                key: &(dyn Fn(u8) -> u8 + Sync),
            ) -> Outcome<String> {
                step().await?;
                Ok(format!("{}{}", text.as_ref(), call.map_or(0, |call| key(call()))))
            }

            /// `Send` and not `Sync`: the body has to own it.
            #[$guard]
            pub(super) async fn thread_bound(cell: Cell<u8>, lines: RefCell<String>) -> Outcome<String> {
                step().await?;
                lines.borrow_mut().push('!');
                Ok(format!("{}{}", cell.get(), lines.into_inner()))
            }

            #[$guard]
            pub(super) async fn conditional(a: u8, #[cfg(test)] b: u8, #[cfg(not(test))] c: Missing) -> Outcome<u8> {
                step().await?;
                Ok(a + b)
            }

            #[$guard]
            pub(super) async fn long_lived<'a>(text: &'a str, _other: &str) -> Outcome<&'a str> {
                step().await?;
                Ok(&text[1..])
            }

            #[$guard]
            pub(super) async fn returned(buf: &mut [u8]) -> Outcome<u8> {
                step().await?;
                buf[0] += 1;
                return Ok(buf[0]);
            }
        }
    };
}

thrice!(shapes);

#[tokio::test(start_paused = true)]
async fn patterns_bind_what_they_bind() {
    let foo = || Foo { y: 4, z: "z".into() };
    same!(bare, once, again: patterns(Json("x".into()), (1, 2), foo(), 0, [5, 6, 7], "e".into(), &8, 9, 10));
}

#[tokio::test(start_paused = true)]
async fn each_attempt_starts_from_the_original_values() {
    same!(bare, once, again: mutated(vec![1], [2, 3].into_iter(), (4, 5), &[6, 7]));
    assert_eq!(bare::mutated(vec![1], [2, 3].into_iter(), (4, 5), &[6, 7]).await, Ok(vec![1, 2, 3, 9, 7]));
}

#[tokio::test(start_paused = true)]
async fn values_are_there_in_full_for_each_attempt() {
    same!(bare, once, again: consumed(vec![1, 2], "three".into(), Arc::new(4)));
}

#[tokio::test(start_paused = true)]
async fn references_are_lent_again() {
    same!(bare, once, again: lent(&mut vec![9], &[1, 2, 3]));
    same!(bare, once, again: long_lived("abc", "d"));
    let (mut one, mut two) = ([1], [1]);
    assert_eq!(bare::returned(&mut one).await, again::returned(&mut two).await);
    assert_eq!((one, two, once::returned(&mut one).await), ([2], [2], Ok(3)));
}

#[tokio::test(start_paused = true)]
async fn hidden_types_and_thread_bound_values() {
    same!(bare, once, again: hidden("text", Some(|| 5), &|byte| byte + 1));
    same!(bare, once, again: thread_bound(Cell::new(1), RefCell::new("two".into())));
    same!(bare, once, again: conditional(1, 2));
}
