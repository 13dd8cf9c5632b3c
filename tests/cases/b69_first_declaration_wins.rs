//! B69. Asking twice for one name with different settings silently gave the first one's settings; elsewhere the second
//! ask failed although it was equal.
//!
//! The stricter declaration holds, whoever ran first; equal ones share.

use futures::future::join_all;
use futures::poll;
use watertight::check::Problem;
use watertight::{Error, ErrorKind, check, resilient};
use watertight_tests::{Gate, assert_free, assert_idle, bulkhead, occupancy};

macro_rules! two_declarations {
    ($test:ident, $name:tt, $loose:ident $loose_declared:tt, $strict:ident $strict_declared:tt, first: $first:ident) => {
        #[resilient(bulkhead = $loose_declared)]
        async fn $loose(gate: &Gate) -> Result<(), Error> {
            gate.opened().await;
            Ok(())
        }

        #[resilient(bulkhead = $strict_declared)]
        async fn $strict(gate: &Gate) -> Result<(), Error> {
            gate.opened().await;
            Ok(())
        }

        #[tokio::test(start_paused = true)]
        async fn $test() {
            let gate = Gate::shut();
            let mut first = Box::pin($first(&gate));
            assert!(poll!(&mut first).is_pending());
            let declared = bulkhead($name);
            assert_eq!((declared.slots, declared.queue), (4, 0), "the stricter of both, figure by figure");
            let mut others: Vec<_> = (0..3).map(|_| Box::pin($loose(&gate))).collect();
            for other in &mut others {
                assert!(poll!(other).is_pending());
            }
            assert_eq!($loose(&gate).await.unwrap_err().kind(), ErrorKind::BulkheadFull);
            assert_eq!($strict(&gate).await.unwrap_err().kind(), ErrorKind::BulkheadFull);
            gate.open();
            first.await.unwrap();
            assert!(join_all(others).await.iter().all(Result::is_ok));
            let report = check();
            let finding = report.findings.iter().find(|finding| finding.name == $name).expect("reported");
            assert_eq!((finding.problem, finding.strategy), (Problem::Conflict, "bulkhead"));
            let named: Vec<_> = finding.sites.iter().map(|site| site.name).collect();
            assert_eq!(named, [stringify!($loose), stringify!($strict)], "both places");
            assert!(finding.to_string().contains("b69_first_declaration_wins.rs:"), "with their lines: {finding}");
            assert!(report.deny().is_err(), "and a start-up that asks for it fails");
            assert_idle(stringify!($loose));
            assert_idle(stringify!($strict));
            assert_free!($name, 4);
        }
    };
}

two_declarations!(
    the_stricter_holds_when_the_looser_ran_first,
    "b69",
    b69_loose "b69:8/queue:16",
    b69_strict "b69:4/queue:0",
    first: b69_loose
);
two_declarations!(
    the_stricter_holds_when_it_ran_first,
    "b69_swapped",
    b69_swapped_loose "b69_swapped:8/queue:16",
    b69_swapped_strict "b69_swapped:4/queue:0",
    first: b69_swapped_strict
);
two_declarations!(
    the_stricter_figures_of_both_hold_when_neither_is_stricter_throughout,
    "b69_crossed",
    b69_crossed_few "b69_crossed:4/queue:16",
    b69_crossed_many "b69_crossed:8/queue:0",
    first: b69_crossed_few
);

#[resilient(bulkhead = "b69_same:8/queue:16")]
async fn b69_same_a(gate: &Gate) -> Result<(), Error> {
    gate.opened().await;
    Ok(())
}

#[resilient(bulkhead = "b69_same:8/queue:16")]
async fn b69_same_c(gate: &Gate) -> Result<(), Error> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn equal_declarations_share_their_slots_and_their_queue() {
    let gate = Gate::shut();
    let mut a: Vec<_> = (0..12).map(|_| Box::pin(b69_same_a(&gate))).collect();
    let mut c: Vec<_> = (0..12).map(|_| Box::pin(b69_same_c(&gate))).collect();
    for call in &mut a {
        assert!(poll!(call).is_pending());
    }
    for call in &mut c {
        assert!(poll!(call).is_pending());
    }
    assert_eq!(occupancy("b69_same"), (8, 16));
    assert!(b69_same_a(&gate).await.is_err());
    assert!(b69_same_c(&gate).await.is_err());
    gate.open();
    let (a, c) = tokio::join!(join_all(a), join_all(c));
    assert!(a.iter().chain(&c).all(Result::is_ok));
    assert!(check().findings.iter().all(|finding| finding.name != "b69_same"), "equal ones are no finding");
    assert_idle("b69_same_a");
    assert_idle("b69_same_c");
    assert_free!("b69_same", 8);
}
