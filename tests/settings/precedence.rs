//! Which source and which scope holds.

use watertight::settings::{Origin, Override, in_force, revert_all};
use watertight::testing::World;
use watertight::{Error, resilient};

use crate::{load, load_with};

mod inner {
    use super::*;

    #[resilient(timeout = "1s", bulkhead = "prec_recs:8")]
    pub(super) async fn prec_recs() -> Result<(), Error> {
        std::future::pending().await
    }
}

#[resilient(timeout = "2s")]
async fn prec_other() -> Result<(), Error> {
    std::future::pending().await
}

/// The timeout in force, and the word for where it comes from.
fn timeout_of(name: &str) -> (String, &'static str) {
    let all = in_force();
    let site = all.iter().find(|site| site.identity.name == name).expect("listed");
    let timeout = site.figure("timeout").expect("it has one");
    (timeout.value.trim_matches('"').to_owned(), timeout.origin.as_str())
}

fn took(error: &Error) -> String {
    error
        .to_string()
        .split(' ')
        .find(|word| word.ends_with('s') && word.starts_with(char::is_numeric))
        .unwrap()
        .to_owned()
}

/// What is written in the file, the environment and an override; the timeout in force, and where it comes from.
type Row<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], Option<&'a str>, &'a str, &'a str);

/// Every row of the table in `docs/settings.md`: what is written, and which of it holds for the one function.
#[tokio::test(start_paused = true)]
async fn the_table_of_precedence() {
    const SITE: &str = "[site.\"settings::precedence::inner::prec_recs\"]\ntimeout = \"10ms\"\n";
    const INNER: &str = "[module.\"settings::precedence::inner\"]\ntimeout = \"20ms\"\n";
    const OUTER: &str = "[module.\"settings::precedence\"]\ntimeout = \"30ms\"\n";
    const ALL: &str = "[defaults]\ntimeout = \"40ms\"\n";
    const SITE_VARIABLE: (&str, &str) = ("WATERTIGHT_SITE__PREC_RECS__TIMEOUT", "11ms");
    const ALL_VARIABLE: (&str, &str) = ("WATERTIGHT_DEFAULTS__TIMEOUT", "41ms");
    let _world = World::open();
    let rows: &[Row] = &[
        (&[], &[], None, "1s", "code"),
        (&[ALL], &[], None, "40ms", "file"),
        (&[ALL, OUTER], &[], None, "30ms", "file"),
        (&[ALL, OUTER, INNER], &[], None, "20ms", "file"),
        (&[ALL, OUTER, INNER, SITE], &[], None, "10ms", "file"),
        (&[ALL], &[ALL_VARIABLE], None, "41ms", "environment"),
        (&[SITE], &[ALL_VARIABLE], None, "10ms", "file"),
        (&[SITE], &[SITE_VARIABLE, ALL_VARIABLE], None, "11ms", "environment"),
        (&[SITE], &[SITE_VARIABLE], Some("12ms"), "12ms", "override"),
        (&[], &[], Some("12ms"), "12ms", "override"),
    ];
    for (number, (files, variables, live, expected, source)) in rows.iter().enumerate() {
        load_with("precedence", &files.concat(), variables).unwrap_or_else(|wrong| panic!("row {number}: {wrong}"));
        if let Some(value) = live {
            Override::of("site.prec_recs.timeout", *value).apply().unwrap();
        }
        assert_eq!(timeout_of("prec_recs"), ((*expected).to_owned(), *source), "row {number}");
        assert_eq!(took(&inner::prec_recs().await.unwrap_err()), *expected, "row {number}: and it holds");
        revert_all("test");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wide_scope_changes_what_is_declared_and_adds_nothing() {
    let _world = World::open();
    load("wide", "[defaults]\ndeadline = \"5ms\"\ntimeout = \"40ms\"\n").unwrap();
    assert_eq!(took(&prec_other().await.unwrap_err()), "40ms", "a deadline is not declared here");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_gone_from_the_file_leaves_what_is_below_it() {
    let _world = World::open();
    load("gone", "[site.prec_other]\ntimeout = \"10ms\"\n[defaults]\ntimeout = \"40ms\"\n").unwrap();
    assert_eq!(timeout_of("prec_other"), ("10ms".to_owned(), "file"));
    load("gone", "[defaults]\ntimeout = \"40ms\"\n").unwrap();
    assert_eq!(timeout_of("prec_other"), ("40ms".to_owned(), "file"));
    load("gone", "").unwrap();
    assert_eq!(timeout_of("prec_other"), ("2s".to_owned(), "code"));
    assert_eq!(took(&prec_other().await.unwrap_err()), "2s");
}

#[tokio::test]
async fn every_value_knows_its_line_or_its_variable() {
    let _world = World::open();
    let text = "# comment\n\n[site.prec_other]\ntimeout = \"10ms\"\n\n[bulkhead]\nprec_recs = \"3/queue:4\"\n";
    load_with("origins", text, &[("WATERTIGHT_BULKHEAD__PREC_RECS__QUEUE", "5")]).unwrap();
    let all = in_force();
    let figure = |site: &str, key: &str| {
        let site = all.iter().find(|it| it.identity.name == site).expect("listed");
        site.figure(key).unwrap_or_else(|| panic!("{key} in {site:?}")).clone()
    };
    let timeout = figure("prec_other", "timeout");
    assert!(timeout.to_string().ends_with("settings-origins.toml:4; code: \"2s\")"), "{timeout}");
    let slots = figure("prec_recs", "bulkhead.prec_recs.slots");
    assert!(matches!(&slots.origin, Origin::File { line: 7, .. }), "{slots}");
    assert_eq!(slots.declared.as_deref(), Some("8"));
    let queue = figure("prec_recs", "bulkhead.prec_recs.queue");
    assert_eq!(queue.origin.to_string(), "$WATERTIGHT_BULKHEAD__PREC_RECS__QUEUE");
    assert_eq!(figure("prec_recs", "timeout").origin, Origin::Code);
}

#[tokio::test]
async fn names_in_capitals_find_functions_modules_and_names() {
    let _world = World::open();
    let variables = [
        ("WATERTIGHT_MODULE__SETTINGS_PRECEDENCE_INNER__TIMEOUT", "33ms"),
        ("WATERTIGHT_SITE__SETTINGS_PRECEDENCE_PREC_OTHER__TIMEOUT", "44ms"),
        ("WATERTIGHT_BULKHEAD__PREC_RECS__SLOTS", "6"),
        ("WATERTIGHT_DEFAULTS__RETRY__ENABLED", "false"),
        ("WATERTIGHT_REQUIRE_SERVICES", "1"),
        ("PATH", "/bin"),
    ];
    load_with("capitals", "", &variables).unwrap();
    assert_eq!(timeout_of("prec_recs"), ("33ms".to_owned(), "environment"));
    assert_eq!(timeout_of("prec_other"), ("44ms".to_owned(), "environment"));
    assert_eq!(watertight_tests::bulkhead("prec_recs").slots, 6);
}

#[tokio::test]
async fn the_environment_names_another_file() {
    let _world = World::open();
    let other = crate::file("other", "[site.prec_other]\ntimeout = \"77ms\"\n");
    load_with("unused", "[site.prec_other]\ntimeout = \"66ms\"\n", &[("WATERTIGHT_SETTINGS", other.to_str().unwrap())])
        .unwrap();
    assert_eq!(timeout_of("prec_other").0, "77ms");
}
