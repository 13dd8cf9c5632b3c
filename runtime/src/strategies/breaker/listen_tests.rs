//! Listeners: who is told what, in which order, and what a listener may do.

use std::sync::{Arc, Barrier, Mutex};

use super::{Admission, Breaker, Change, Rules, Sign, State, Window, on_any_change, on_change};
use crate::base::clock::Moment;

const START: Moment = Moment::from_raw(0);
const AFTER: Moment = Moment::from_raw(1_000);
const RULES: Rules =
    Rules { window: Window::Calls(4), failures: 0.5, min_calls: 4, slow: None, cooldown: 1_000, probes: 1 };

type Heard = Arc<Mutex<Vec<Change>>>;

fn new_breaker(name: &'static str) -> &'static Breaker {
    Box::leak(Box::new(Breaker::new(name, RULES)))
}

fn listening(name: &'static str) -> Heard {
    let heard = Heard::default();
    let notes = heard.clone();
    on_change(name, move |change| notes.lock().unwrap().push(*change));
    heard
}

fn states(heard: &Heard) -> Vec<(State, State)> {
    heard.lock().unwrap().iter().map(|change| (change.from, change.to)).collect()
}

fn pass(breaker: &'static Breaker, now: Moment) -> Admission {
    breaker.admit(|| now).expect("let through")
}

fn open(breaker: &'static Breaker) {
    for sign in [Sign::Success, Sign::Success, Sign::Failure, Sign::Failure] {
        pass(breaker, START).settle(sign, 0, || START);
    }
}

#[test]
fn a_listener_hears_every_change_with_its_figures_and_in_order() {
    let heard = listening("listen-order");
    let breaker = new_breaker("listen-order");
    open(breaker);
    pass(breaker, AFTER).settle(Sign::Success, 0, || AFTER);
    breaker.isolate(AFTER);
    breaker.reset(AFTER);
    breaker.reset(AFTER);
    let expected = [
        (State::Closed, State::Open),
        (State::Open, State::HalfOpen),
        (State::HalfOpen, State::Closed),
        (State::Closed, State::Isolated),
        (State::Isolated, State::Closed),
    ];
    assert_eq!(states(&heard), expected);
    let said: Vec<String> = heard.lock().unwrap().iter().map(ToString::to_string).collect();
    let begins = "breaker `listen-order` went from ";
    assert_eq!(
        said.iter().map(|said| said.strip_prefix(begins).unwrap_or(said)).collect::<Vec<_>>(),
        [
            "closed to open: 2 of 4 failed, 0 were slow",
            "open to half-open: the cooldown is over",
            "half-open to closed: the probes succeeded",
            "closed to isolated: by hand",
            "isolated to closed: by hand",
        ]
    );
}

#[test]
fn only_changes_of_the_name_are_heard_unless_all_are_asked_for() {
    let heard = listening("listen-mine");
    let all = Heard::default();
    let notes = all.clone();
    on_any_change(move |change| notes.lock().unwrap().push(*change));
    open(new_breaker("listen-other"));
    open(new_breaker("listen-mine"));
    assert_eq!(heard.lock().unwrap().iter().map(|change| change.name).collect::<Vec<_>>(), ["listen-mine"]);
    let all: Vec<_> = all.lock().unwrap().iter().map(|change| change.name).collect();
    assert!(all.contains(&"listen-other") && all.contains(&"listen-mine"), "{all:?}");
}

#[test]
fn a_listener_may_use_the_breaker_it_hears_about_and_hears_what_it_did_afterwards() {
    let breaker = new_breaker("listen-again");
    let heard = Heard::default();
    let notes = heard.clone();
    on_change("listen-again", move |change| {
        if change.to == State::Open {
            breaker.reset(AFTER);
            assert_eq!(breaker.standing(AFTER).state, State::Closed, "no lock is held");
        }
        notes.lock().unwrap().push(*change);
    });
    open(breaker);
    assert_eq!(states(&heard), [(State::Closed, State::Open), (State::Open, State::Closed)]);
}

#[test]
fn a_listener_that_panics_is_alone_with_it() {
    let breaker = new_breaker("listen-panic");
    on_change("listen-panic", |_| panic!("the listener's"));
    let heard = listening("listen-panic");
    open(breaker);
    breaker.reset(START);
    assert_eq!(states(&heard), [(State::Closed, State::Open), (State::Open, State::Closed)]);
}

#[test]
fn changes_made_while_one_is_being_told_come_after_it_whoever_made_them() {
    let breaker = new_breaker("listen-busy");
    let heard = listening("listen-busy");
    let (inside, on) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let (entered, go_on) = (inside.clone(), on.clone());
    on_change("listen-busy", move |change| {
        if change.to == State::Isolated {
            entered.wait();
            go_on.wait();
        }
    });
    let other = std::thread::spawn(move || breaker.isolate(START));
    inside.wait();
    breaker.reset(START);
    assert_eq!(states(&heard), [(State::Closed, State::Isolated)], "whoever tells that one tells the next");
    on.wait();
    other.join().unwrap();
    assert_eq!(states(&heard).last(), Some(&(State::Isolated, State::Closed)));
}

#[test]
fn with_many_threads_each_change_begins_where_the_one_before_ended() {
    let breaker = new_breaker("listen-many");
    let heard = listening("listen-many");
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(|| {
                for _ in 0..200 {
                    breaker.isolate(START);
                    breaker.reset(START);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let states = states(&heard);
    assert!(states.len() >= 400, "{}", states.len());
    assert!(states.windows(2).all(|pair| pair[0].1 == pair[1].0));
    assert_eq!(breaker.standing(START).transitions.iter().sum::<u64>(), states.len() as u64);
}
