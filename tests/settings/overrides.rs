//! Overrides of a running process: their end, the record, the way back into the code.

use tokio::time::sleep;
use watertight::settings::{Origin, Override, in_force, patch, record, revert, revert_all};
use watertight::testing::World;
use watertight::{Error, resilient};
use watertight_tests::{bulkhead, ms};

use crate::load;

#[resilient(timeout = "1s", retry = 2, bulkhead = "over_recs:8/queue:16")]
async fn over_recs() -> Result<(), Error> {
    std::future::pending().await
}

fn timeout() -> (String, Origin) {
    let all = in_force();
    let site = all.iter().find(|site| site.identity.name == "over_recs").expect("listed");
    let figure = site.figure("timeout").expect("declared");
    (figure.value.clone(), figure.origin.clone())
}

#[tokio::test(start_paused = true)]
async fn an_override_ends_by_itself_and_leaves_what_was_below_it() {
    let _world = World::open();
    load("below", "[site.over_recs]\ntimeout = \"500ms\"\n").unwrap();
    Override::of("site.over_recs.timeout", "50ms").by("ann").lasting(ms(600_000)).apply().unwrap();
    let (value, origin) = timeout();
    assert_eq!(value, "\"50ms\"");
    let Origin::Live(lease) = origin else { panic!("{origin}") };
    assert_eq!((&*lease.by, lease.remaining()), ("ann", Some(ms(600_000))));
    sleep(ms(599_000)).await;
    assert_eq!(timeout().0, "\"50ms\"", "not before its end");
    sleep(ms(1_010)).await;
    assert_eq!(timeout().0, "\"500ms\"");
    let acts: Vec<_> = record().into_iter().filter(|act| act.what.contains("over_recs\".timeout")).collect();
    let made = acts.iter().find(|act| &*act.by == "ann" && act.what.ends_with("timeout = \"50ms\" for 600s"));
    assert!(made.is_some(), "{acts:?}");
    assert!(acts.iter().any(|act| &*act.by == "the clock" && act.what.ends_with("is over")), "{acts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_later_override_of_the_same_setting_has_its_own_end() {
    let _world = World::open();
    Override::of("bulkhead.over_recs.slots", "4").lasting(ms(1_000)).apply().unwrap();
    sleep(ms(900)).await;
    Override::of("bulkhead.over_recs.slots", "6").lasting(ms(1_000)).apply().unwrap();
    sleep(ms(500)).await;
    assert_eq!(bulkhead("over_recs").slots, 6, "the end of the first is not its end");
    sleep(ms(600)).await;
    assert_eq!(bulkhead("over_recs").slots, 8);
}

#[tokio::test(start_paused = true)]
async fn it_can_be_taken_back_before_its_end() {
    let _world = World::open();
    Override::of("site.over_recs.timeout", "50ms").lasting(ms(1_000)).apply().unwrap();
    assert!(!revert("site.over_recs.deadline", "ann"));
    assert!(revert("site.over_recs.timeout", "ann"), "by the end of its path, as it was made");
    assert_eq!(timeout(), ("\"1s\"".to_owned(), Origin::Code));
    assert_eq!(revert_all("ann"), 0);
}

#[test]
fn one_that_ends_by_itself_needs_a_runtime() {
    let wrong = Override::of("site.over_recs.timeout", "50ms").lasting(ms(1)).apply().unwrap_err().to_string();
    assert!(wrong.contains("needs a tokio runtime"), "{wrong}");
}

#[tokio::test]
async fn live_overrides_are_written_back_as_attributes() {
    let _world = World::open();
    load("unpatched", "[site.over_recs]\ntimeout = \"500ms\"\n").unwrap();
    assert_eq!(patch(), "", "what stands in a file stays there");
    Override::of("site.over_recs.retry.max", "1").apply().unwrap();
    Override::of("bulkhead.over_recs.slots", "12").apply().unwrap();
    let patch = patch();
    let (place, attribute) = patch.split_once('\n').expect("two lines");
    assert!(
        place.starts_with("// ")
            && place.contains("overrides.rs:")
            && place.ends_with("settings::overrides::over_recs"),
        "{place}"
    );
    assert_eq!(attribute, "#[resilient(retry = 1, bulkhead = \"over_recs:12/queue:16\", timeout = \"1s\")]\n");
    let _ = over_recs;
}
