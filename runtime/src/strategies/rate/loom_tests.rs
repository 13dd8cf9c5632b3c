//! Every interleaving of threads that take, give back and wait.

use std::task::{Context, Waker};

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::*;

const SECOND: u64 = 1_000_000_000;

fn leaked(burst: u32) -> &'static Rate {
    Box::leak(Box::new(Rate::new("api", Figures { count: 1, unit: SECOND, burst })))
}

fn noon() -> Moment {
    Moment::from_raw(0)
}

fn ask(rate: &'static Rate, now: Moment, wait: u64, waker: &Waker) -> Asked {
    rate.ask(None, now, wait, Moment::NEVER, &Context::from_waker(waker))
}

#[test]
fn loom_no_more_tokens_than_there_are() {
    loom::model(|| {
        let rate = leaked(1);
        let spent = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let spent = spent.clone();
                thread::spawn(move || {
                    if let Asked::Token(token) = ask(rate, noon(), 0, Waker::noop()) {
                        token.spend();
                        spent.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(spent.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn loom_a_token_given_back_is_there_once() {
    loom::model(|| {
        let rate = leaked(2);
        let other = thread::spawn(move || drop(ask(rate, noon(), 0, Waker::noop())));
        if let Asked::Token(token) = ask(rate, noon(), 0, Waker::noop()) {
            token.spend();
        }
        other.join().unwrap();
        // One was spent, one given back: one is left.
        let Asked::Token(token) = ask(rate, noon(), 0, Waker::noop()) else { panic!("one is left") };
        token.spend();
        assert!(matches!(ask(rate, noon(), 0, Waker::noop()), Asked::Refused(_)));
    });
}

#[test]
fn loom_a_bucket_that_ran_over_meanwhile_takes_nothing_back() {
    loom::model(|| {
        let rate = leaked(1);
        let Asked::Token(held) = ask(rate, noon(), 0, Waker::noop()) else { panic!("full") };
        let later = noon().plus(SECOND);
        let other = thread::spawn(move || drop(held));
        if let Asked::Token(token) = ask(rate, later, 0, Waker::noop()) {
            token.spend();
        }
        other.join().unwrap();
        assert!(matches!(ask(rate, later, 0, Waker::noop()), Asked::Refused(_)), "one in its second, and no other");
    });
}

/// A waker that counts how often it woke, as the model sees it.
struct Woken(AtomicUsize);

impl std::task::Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn loom_who_joins_while_a_token_comes_back_gets_it_or_is_woken() {
    loom::model(|| {
        let rate = leaked(1);
        let Asked::Token(held) = ask(rate, noon(), 0, Waker::noop()) else { panic!("full") };
        let other = thread::spawn(move || drop(held));
        let woken = std::sync::Arc::new(Woken(AtomicUsize::new(0)));
        let waker = Waker::from(woken.clone());
        let asked = ask(rate, noon(), 2 * SECOND, &waker);
        other.join().unwrap();
        match asked {
            Asked::Token(token) => token.spend(),
            Asked::Waiting(mut place) => {
                assert_eq!(woken.0.load(Ordering::Relaxed), 1, "brought forward, so woken");
                assert!(matches!(place.look(noon(), &Context::from_waker(&waker)), Looked::Token(_)));
            }
            Asked::Refused(_) => panic!("ready to wait"),
        }
    });
}
