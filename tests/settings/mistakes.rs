//! What is refused: where it stands, what is wrong, what to write; and that nothing is changed by it.

use watertight::settings::{Override, in_force, rejected};
use watertight::testing::World;
use watertight::{Error, resilient};
use watertight_tests::{AppError, bulkhead};

use crate::{load, load_with};

#[resilient(timeout = "300ms", bulkhead = "mist_recs:8/queue:16", breaker = "mist_vendor")]
async fn mist_recommendations() -> Result<(), Error> {
    Ok(())
}

#[resilient(breaker(name = "mist_vendor", window = 50), retry(1, budget = "mist_budget:10%"), fallback = nothing)]
async fn mist_declares() -> Result<(), AppError> {
    Ok(())
}

async fn nothing() -> Result<(), AppError> {
    Ok(())
}

#[resilient(retry = 2)]
async fn mist_retries() -> Result<(), AppError> {
    Ok(())
}

#[resilient(bulkhead = "mist_tenants:2/total:4", key = tenant)]
async fn mist_keyed(tenant: u32) -> Result<(), Error> {
    let _ = tenant;
    Ok(())
}

#[resilient(bulkhead = "mist_auto:auto")]
async fn mist_auto() -> Result<(), Error> {
    Ok(())
}

#[resilient(timeout = "1s", mode = observe)]
async fn mist_observes() -> u32 {
    3
}

mod twins {
    use super::*;

    pub(super) mod one {
        use super::*;

        #[resilient(timeout = "1s")]
        pub(in super::super) async fn mist_twin() -> Result<(), Error> {
            Ok(())
        }
    }

    pub(super) mod two {
        use super::*;

        #[resilient(timeout = "1s")]
        pub(in super::super) async fn mist_twin() -> Result<(), Error> {
            Ok(())
        }
    }
}

/// What is written, and the sentence, less the file's folder. `@` stands for the place of a function.
const ROWS: &[(&str, &str)] = &[
    // Values.
    (
        "[site.mist_recommendations]\ntimeout = \"250\"\n",
        "2: `site.mist_recommendations.timeout = \"250\"`: the unit is missing, and seconds and milliseconds are a thousand apart; write \"250ms\" or \"250s\"",
    ),
    (
        "[site.mist_recommendations]\ntimeout = 250\n",
        "2: `site.mist_recommendations.timeout = 250`: a number alone has no unit; write a number and a unit: \"300ms\"",
    ),
    (
        "[bulkhead.mist_recs]\nslots = 0\n",
        "2: `bulkhead.mist_recs.slots = 0`: no call could ever run in 0 slots; write how many may run at once, 1 or more; to shut a function off, hold its breaker open",
    ),
    (
        "[bulkhead]\nmist_recs = \"8/wait:1s\"\n",
        "2: `bulkhead.mist_recs = \"8/wait:1s\"`: how long a call waits is its function's figure, not the name's; write `bulkhead.wait` of the function",
    ),
    (
        "[site.mist_retries]\nretry = 0\n",
        "2: `site.mist_retries.retry = 0`: 0 further attempts are none; write `retry.enabled = false`, or 1 or more",
    ),
    (
        "[site.mist_retries.retry]\nbackoff = \"2s..50ms\"\n",
        "2: `site.mist_retries.retry.backoff = \"2s..50ms\"`: the first pause is longer than the longest; write \"50ms..2s\"",
    ),
    (
        "[breaker.mist_vendor]\nfailures = \"150%\"\n",
        "2: `breaker.mist_vendor.failures = \"150%\"`: a share lies between 0.1 % and 100 %; write \"50%\"",
    ),
    ("kill_switch = \"yes\"\n", "1: `kill_switch = \"yes\"`: a switch is on or off; write true or false"),
    (
        "[site.mist_recommendations.breaker]\nmode = \"watch\"\n",
        "2: `site.mist_recommendations.breaker.mode = \"watch\"`: there are two modes; write \"observe\" or \"enforce\"",
    ),
    // Names and keys.
    (
        "[site.mist_recomendations]\ntimeout = \"1s\"\n",
        "2: `site.mist_recomendations.timeout = \"1s\"`: there is no guarded function of this name; did you mean `settings::mistakes::mist_recommendations`?",
    ),
    (
        "[site.mist_twin]\ntimeout = \"1s\"\n",
        "2: `site.mist_twin.timeout = \"1s\"`: several functions have this name; write one of `settings::mistakes::twins::one::mist_twin`, `settings::mistakes::twins::two::mist_twin`",
    ),
    (
        "[site.mist_recommendations]\ntimout = \"1s\"\n",
        "2: `site.mist_recommendations.timout = \"1s\"`: `timout` is no key of `site`; did you mean `timeout = \"300ms\"`?",
    ),
    (
        "[bulkhead.mist_rcs]\nslots = 3\n",
        "2: `bulkhead.mist_rcs.slots = 3`: nothing declares a bulkhead of this name; did you mean `mist_recs`?",
    ),
    (
        "[module.\"settings::mistaks\"]\ntimeout = \"1s\"\n",
        "2: `module.\"settings::mistaks\".timeout = \"1s\"`: there is no guarded function in a module of this name; did you mean `settings::mistakes`?",
    ),
    ("[sites.x]\ntimeout = \"1s\"\n", "1: `sites`: `sites` is nothing that has settings; did you mean `site`?"),
    ("defaults = 3\n", "1: `defaults`: `defaults` is a table; write `[defaults]` and its keys below"),
    ("[site.mist_retries]\ntimeout = \n", "2: this is no TOML: "),
    // What a function does not have.
    (
        "[site.mist_recommendations]\nretry = 1\n",
        "2: `site.mist_recommendations.retry = 1`: the function at @ has no `retry`; add `retry` to its attribute first, settings can then change it",
    ),
    (
        "[site.mist_retries]\ntimeout = \"1s\"\n",
        "2: `site.mist_retries.timeout = \"1s\"`: the function at @ has no `timeout`, and no place for the refusal that one would bring; add `timeout` to its attribute first, settings can then change it",
    ),
    // What is a name's.
    (
        "[site.mist_recommendations.breaker]\ncooldown = \"1s\"\n",
        "2: `site.mist_recommendations.breaker.cooldown = \"1s\"`: the breaker of the function at @ is shared by name, and so are its figures; write `breaker.mist_vendor.cooldown`",
    ),
    (
        "[site.mist_declares.retry]\nbudget = \"20%\"\n",
        "2: `site.mist_declares.retry.budget = \"20%\"`: the budget of the function at @ is shared by name, and so are its figures; write `budget.mist_budget.value`",
    ),
    // What cannot be without harm.
    (
        "[site.mist_declares.fallback]\nenabled = false\n",
        "2: `site.mist_declares.fallback.enabled = false`: the fallback at @ answers for everything, and without it there would be no answer; leave it on, or narrow it in the attribute with `on = [..]` or `limit`",
    ),
    (
        "[site.mist_keyed.bulkhead]\nmode = \"observe\"\n",
        "2: `site.mist_keyed.bulkhead.mode = \"observe\"`: the bulkhead at @ has a `key`, and its mode cannot change while calls hold a key's compartment; write `mode(bulkhead = observe)` in the attribute, or switch it off: `bulkhead.enabled = false`",
    ),
    (
        "[site.mist_observes.timeout]\nmode = \"enforce\"\n",
        "2: `site.mist_observes.timeout.mode = \"enforce\"`: the attribute at @ says `observe`, so the function may have no place for a refusal; take `mode` out of the attribute first",
    ),
    (
        "[bulkhead.mist_auto]\nslots = 3\n",
        "2: `bulkhead.mist_auto.slots = 3`: the slots of this bulkhead are found by measuring; write them in the attribute, instead of `auto`",
    ),
    // What is fine alone.
    (
        "[bulkhead.mist_recs]\nslots = 600000\nqueue = 600000\n",
        "2: `bulkhead.mist_recs.slots = 600000`: slots and queue together come to more than a million; write smaller numbers",
    ),
    (
        "[bulkhead.mist_tenants]\nslots = 5\n",
        "2: `bulkhead.mist_tenants.slots = 5`: the total over all keys leaves no key all of its slots; write fewer slots for each key, or a larger `total` in the attribute",
    ),
    (
        "[breaker.mist_vendor]\nmin_calls = 60\n",
        "2: `breaker.mist_vendor.min_calls = 60`: a window of 50 never holds 60 results; write a larger window, or a smaller `min_calls`",
    ),
    (
        "[site.mist_recommendations]\ntimeout = \"1s\"\n[site.\"settings::mistakes::mist_recommendations\"]\ntimeout = \"2s\"\n",
        "4: `site.\"settings::mistakes::mist_recommendations\".timeout = \"2s\"`: this is set at settings-mistakes.toml:2 already; keep one of the two",
    ),
];

/// A sentence without folders, and without the places of functions, which move with this file.
fn bare(sentence: &str) -> String {
    let folder = format!("{}/", env!("CARGO_TARGET_TMPDIR"));
    let mut bare = sentence.replace(&folder, "");
    while let Some(start) = bare.find("tests/settings/mistakes.rs:") {
        let digits = bare[start + 27..].find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        bare.replace_range(start..start + 27 + digits, "@");
    }
    while let Some(start) = bare.find("settings/mistakes.rs:") {
        let digits = bare[start + 21..].find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        bare.replace_range(start..start + 21 + digits, "@");
    }
    bare
}

#[tokio::test]
async fn every_mistake_says_its_line_and_what_to_write_and_changes_nothing() {
    let _world = World::open();
    let good = "[site.mist_recommendations]\ntimeout = \"111ms\"\n[bulkhead]\nmist_recs = \"5\"\n";
    load("mistakes", good).unwrap();
    let before = in_force();
    for (text, expected) in ROWS {
        let mistakes = load("mistakes", text).expect_err(text);
        assert_eq!(mistakes.all.len(), 1, "{text}: {mistakes}");
        let sentence = bare(&mistakes.to_string());
        let expected = format!("settings-mistakes.toml:{expected}");
        let same = if text.contains("= \n") { sentence.starts_with(&expected) } else { sentence == expected };
        assert!(same, "{text}\n  says     {sentence}\n  expected {expected}");
        assert_eq!(in_force(), before, "{text} has changed something");
        assert_eq!(rejected().as_ref(), Some(&mistakes));
    }
    assert_eq!((bulkhead("mist_recs").slots, bulkhead("mist_recs").queue), (5, 16));
    load("mistakes", good).unwrap();
    assert_eq!(rejected(), None);
}

#[tokio::test]
async fn all_mistakes_are_told_at_once_those_of_the_environment_too() {
    let _world = World::open();
    let text = "[site.mist_recommendations]\ntimeout = \"250\"\ndeadline = \"0s\"\n[bulkhead.mist_recs]\nslots = -1\n";
    let variables = [
        ("WATERTIGHT_SITE__MIST_RECS__TIMEOUT", "1s"),
        ("WATERTIGHT_SITE__MIST_TWIN__TIMEOUT", "1s"),
        ("WATERTIGHT_BULKHEAD__MIST_RECS__SLOTS", "many"),
        ("WATERTIGHT_SIDE__X__TIMEOUT", "1s"),
    ];
    let mistakes = load_with("many", text, &variables).unwrap_err();
    let lines: Vec<_> = mistakes.to_string().lines().map(bare).collect();
    assert_eq!(lines.len(), 7, "{mistakes}");
    assert!(
        lines[0].starts_with("settings-many.toml:3:") || lines[0].starts_with("settings-many.toml:2:"),
        "{mistakes}"
    );
    assert!(
        lines[3].starts_with("$WATERTIGHT_SITE__MIST_RECS__TIMEOUT: `site.mist_recs.timeout = \"1s\"`: there is no"),
        "{}",
        lines[3]
    );
    assert!(lines[4].contains("`MIST_TWIN` stands for several"), "{}", lines[4]);
    assert!(lines[5].contains("it has to be a whole number from 1 to 1000000"), "{}", lines[5]);
    assert!(lines[6].contains("`side` is nothing that has settings; did you mean `site`?"), "{}", lines[6]);
}

#[tokio::test]
async fn a_file_that_is_not_there_is_a_mistake() {
    let _world = World::open();
    let mistakes = watertight::settings::load("/nowhere/watertight.toml").unwrap_err().to_string();
    assert!(mistakes.starts_with("/nowhere/watertight.toml:1: it cannot be read ("), "{mistakes}");
    assert!(mistakes.ends_with("; name a file that is there and can be read"), "{mistakes}");
}

#[tokio::test]
async fn an_override_is_judged_like_a_line_of_the_file() {
    let _world = World::open();
    let wrong = |setting: &str, value: &str| Override::of(setting, value).apply().unwrap_err().to_string();
    assert_eq!(
        wrong("site.mist_recommendations.timeout", "250"),
        "`site.mist_recommendations.timeout = 250`: a number alone has no unit; write a number and a unit: \"300ms\""
    );
    assert!(wrong("site.mist_recommendations.timout", "1s").ends_with("did you mean `timeout = \"300ms\"`?"));
    assert!(wrong("cite.x.timeout", "1s").contains("did you mean `site`?"));
    assert_eq!(
        wrong("bulkhead.mist_recs.slots", "1000000").split(": ").nth(1),
        Some("slots and queue together come to more than a million; write smaller numbers")
    );
}

#[tokio::test]
async fn the_check_says_what_was_refused_and_what_is_in_force() {
    let _world = World::open();
    load("check", "[site.mist_recommendations]\ntimeout = \"111ms\"\n").unwrap();
    load("check", "[site.mist_recommendations]\ntimeout = \"later\"\n").unwrap_err();
    let report = watertight::check();
    let rejected = report.findings.iter().find(|it| it.problem == watertight::check::Problem::Rejected).expect("told");
    assert!(rejected.to_string().contains("settings-check.toml:2: `site.mist_recommendations.timeout"), "{rejected}");
    let site = report.in_force.iter().find(|it| it.identity.name == "mist_recommendations").expect("set");
    assert!(site.to_string().contains("timeout = \"111ms\""), "{site}");
    assert!(report.to_string().contains("settings-check.toml:2; code: \"300ms\""), "{report}");
}

#[tokio::test]
async fn the_functions_of_this_file_run() {
    mist_recommendations().await.unwrap();
    mist_declares().await.unwrap();
    mist_retries().await.unwrap();
    mist_keyed(1).await.unwrap();
    mist_auto().await.unwrap();
    assert_eq!(mist_observes().await, 3);
    twins::one::mist_twin().await.unwrap();
    twins::two::mist_twin().await.unwrap();
}
