//! B04. A gap between taking the permit and installing its release: dropped in that gap, the permit was gone for ever.

use futures::poll;
use tokio::time::advance;
use watertight::{AttemptFate, resilient};
use watertight_tests::{AppError, Gate, assert_free, assert_idle, assert_quiet, breaker, ms, site, yields};

macro_rules! dropped_after_every_number_of_polls {
    ($test:ident, $function:ident, $holder:ident, $name:tt, $declared:tt, $errs_first:tt, [$($breaker:tt)*] [$($retry:tt)*]) => {
        #[resilient(bulkhead = $declared, rate = "1000000/h/burst:1000000", breaker(name = $name, $($breaker)*), $($retry)*)]
        async fn $function() -> Result<(), AppError> {
            yields(3).await;
            if $errs_first && watertight::attempt() == 0 { Err(AppError::Broken("first")) } else { Ok(()) }
        }

        #[resilient(bulkhead = $name)]
        async fn $holder(gate: &Gate) -> Result<(), AppError> {
            gate.opened().await;
            Ok(())
        }

        #[tokio::test(start_paused = true)]
        async fn $test() {
            $function().await.unwrap();
            let mut finished = 1;
            for polls in 0..64 {
                for queued_first in [false, true] {
                    let gate = Gate::shut();
                    let mut holders = Vec::new();
                    let mut call = Box::pin($function());
                    if queued_first {
                        for _ in 0..2 {
                            holders.push(Box::pin($holder(&gate)));
                            assert!(poll!(holders.last_mut().unwrap()).is_pending());
                        }
                        assert!(poll!(&mut call).is_pending());
                        gate.open();
                    }
                    for _ in 0..polls {
                        advance(ms(2)).await;
                        if poll!(&mut call).is_ready() {
                            finished += 1;
                            break;
                        }
                        // After its first look at the queue the slots come free: it is granted one, and looks or not.
                        for holder in holders.drain(..) {
                            holder.await.unwrap();
                        }
                    }
                    drop(call);
                    drop(holders);
                    assert_quiet($name, 2);
                    assert_idle(stringify!($function));
                    let figures = site(stringify!($function));
                    let answered = figures.attempts_by(AttemptFate::Ok) + figures.attempts_by(AttemptFate::Error);
                    assert_eq!(breaker($name).calls, answered, "{polls} polls");
                    assert_eq!(figures.ok, finished, "{polls} polls");
                }
            }
            assert!(finished > 100, "most of them finish: {finished}");
            assert!(site(stringify!($function)).cancelled >= 4, "the first few do not");
            assert_free!($name, 2);
        }
    };
}

dropped_after_every_number_of_polls!(
    no_poll_count_loses_a_slot_when_the_body_succeeds,
    b04,
    b04_hold,
    "b04",
    "b04:2/queue:4",
    false,
    [window = 1000, min_calls = 1000][retry(1, backoff = "1ms..10ms", budget = off)]
);
dropped_after_every_number_of_polls!(
    no_poll_count_loses_a_slot_when_the_first_attempt_errs,
    b04_retried,
    b04_retried_hold,
    "b04_retried",
    "b04_retried:2/queue:4",
    true,
    [window = 1000, min_calls = 1000][retry(1, backoff = "1ms..10ms", budget = off)]
);
