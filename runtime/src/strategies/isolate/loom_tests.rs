//! The steps of one job and the books, under every interleaving of caller and thread.

use loom::sync::Arc;
use loom::thread;

use super::books::Books;
use super::decide::{Left, Progress};
use crate::base::clock::Moment;

/// What the thread does with a body that rests `rests` times before it ends; true when it takes it for abandoned.
fn run(progress: &Progress, rests: usize) -> bool {
    for _ in 0..rests {
        if !progress.begin() {
            progress.end();
            return false;
        }
        if !progress.pause() {
            return progress.end();
        }
    }
    if !progress.begin() {
        progress.end();
        return false;
    }
    progress.end()
}

#[test]
fn loom_both_sides_agree_on_what_was_abandoned() {
    for rests in 0..3 {
        loom::model(move || {
            let progress = Arc::new(Progress::new());
            let theirs = Arc::clone(&progress);
            let thread = thread::spawn(move || run(&theirs, rests));
            let left = progress.leave();
            let abandoned = thread.join().unwrap();
            assert_eq!(left == Left::Running, abandoned);
        });
    }
}

#[test]
fn loom_a_job_is_not_begun_again_once_its_caller_has_gone() {
    loom::model(|| {
        let progress = Arc::new(Progress::new());
        let theirs = Arc::clone(&progress);
        let thread = thread::spawn(move || if theirs.begin() && theirs.pause() { Some(theirs.begin()) } else { None });
        let left = progress.leave();
        let again = thread.join().unwrap();
        // Told while it rested in between, or before: the next beginning knows.
        if again == Some(true) {
            assert_eq!(left, Left::Running, "it was told after it had begun again");
        }
        if left == Left::Resting {
            assert_ne!(again, Some(true));
        }
    });
}

#[test]
fn loom_the_gauge_is_back_at_zero_whoever_books_first() {
    loom::model(|| {
        let shared = Arc::new((Progress::new(), Books::new()));
        let theirs = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let (progress, books) = &*theirs;
            if run(progress, 1) {
                books.came_back(0);
            }
        });
        let (progress, books) = &*shared;
        if progress.leave() == Left::Running {
            books.abandoned(Moment::from_raw(1));
        }
        assert!(books.at_large() <= 1);
        thread.join().unwrap();
        assert_eq!(books.at_large(), 0);
    });
}
