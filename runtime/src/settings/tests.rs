//! Layers and scopes against a small model, and one reader for what the attribute takes and what it refuses.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::address::{Address, KINDS, Scope, Written};
use super::effective::effective;
use super::figure::figure;
use super::keys::{KEYS, Key, Of};
use super::merged::{Held, Layer, Merged, is_within};
use super::origin::Origin;
use super::value::{Raw, Value};
use crate::declaration::Declaration;
use crate::strategies::{retry, timeout};

const MS: u64 = 1_000_000;
const SITE: Declaration = Declaration::new("recs", "shop::web", "src/web.rs", 7)
    .timeout(timeout::Config::new(MS))
    .retry(retry::Config::new(1));

fn address(scope: usize, key: &'static str) -> Address {
    let scope = match scope {
        0 => Scope::Site("shop::web::recs".to_owned()),
        1 => Scope::Module("shop::web".to_owned()),
        2 => Scope::Module("shop".to_owned()),
        3 => Scope::Module("sho".to_owned()),
        _ => Scope::Defaults,
    };
    Address { scope, key }
}

proptest! {
    /// The model is the manual's sentence: of each address the strongest source, of those the narrowest scope, else the code.
    #[test]
    fn the_strongest_source_of_the_narrowest_scope_holds(
        written in proptest::collection::vec((0..3_usize, 0..5_usize, any::<bool>(), 1..90_u64), 0..24),
    ) {
        let mut layers = [Layer::new(), Layer::new(), Layer::new()];
        let mut model: BTreeMap<(bool, usize), (usize, u64)> = BTreeMap::new();
        for (source, scope, is_timeout, figure) in written {
            let (key, value) =
                if is_timeout { ("timeout", Value::Length(figure * MS)) } else { ("retry", Value::Whole(u32::try_from(figure).expect("a small one"))) };
            layers[source].insert(address(scope, key), Held { value, origin: Origin::Code });
            let known = model.entry((is_timeout, scope)).or_insert((source, figure));
            if source <= known.0 {
                *known = (source, figure);
            }
        }
        let merged = Merged::of(&layers);
        // A module of which the name is but the beginning of the function's says nothing about it.
        let expected = |is_timeout| [0, 1, 2, 4].iter().find_map(|scope| model.get(&(is_timeout, *scope)).map(|it| it.1));
        let it = effective(&merged, &SITE);
        prop_assert_eq!(it.timeout.map(timeout::Config::nanos), Some(expected(true).map_or(MS, |figure| figure * MS)));
        prop_assert_eq!(u64::from(it.retry.expect("declared").max), expected(false).unwrap_or(1));
        let elsewhere = Declaration::new("recs", "other", "src/other.rs", 7).timeout(timeout::Config::new(MS));
        let there = effective(&merged, &elsewhere).timeout.map(timeout::Config::nanos);
        prop_assert_eq!(there, Some(model.get(&(true, 4)).map_or(MS, |it| it.1 * MS)));
    }

    /// Whatever is set and taken back, nothing is left of it.
    #[test]
    fn a_declaration_without_settings_is_itself(strategy in 0..KEYS.len()) {
        let key = &KEYS[strategy];
        let only = Merged { all: Layer::from([(address(3, key.name), Held { value: Value::Enabled(false), origin: Origin::Code })]) };
        prop_assert_eq!(effective(&only, &SITE), SITE);
    }
}

#[test]
fn a_module_holds_those_in_it_and_no_neighbour_whose_name_begins_alike() {
    assert!(is_within("shop::recs", "shop") && is_within("shop", "shop"));
    assert!(!is_within("shopping::recs", "shop") && !is_within("shop", "shop::recs"));
}

#[test]
fn every_key_is_read_as_it_is_written_and_its_form_is_one() {
    for key in &KEYS {
        let (form, _) = key.form.split_once(" or ").unwrap_or((key.form, ""));
        let value = (key.read)(&Raw::word(form)).unwrap_or_else(|wrong| panic!("{}: {form}: {wrong:?}", key.name));
        let again = (key.read)(&Raw::word(&value.to_string())).expect("written as it is read");
        assert_eq!(value, again, "{}", key.name);
        for spelling in key.spellings() {
            assert!(std::ptr::eq(Key::find(key.of, spelling).expect("found"), key), "{spelling} has one reader");
        }
    }
}

#[test]
fn an_address_is_read_with_and_without_quotes() {
    let read = |text: &str| Written::read(text).map(|it| (it.scope, it.key));
    let site = Scope::Site("shop::recs".to_owned());
    for text in [r#"site."shop::recs".retry.backoff"#, "site.shop::recs.retry.backoff"] {
        assert_eq!(read(text), Ok((site.clone(), "retry.backoff".to_owned())), "{text}");
    }
    assert_eq!(read("bulkhead.a.b.slots"), Ok((Scope::Bulkhead("a.b".to_owned()), "slots".to_owned())));
    assert_eq!(read("defaults.timeout"), Ok((Scope::Defaults, "timeout".to_owned())));
    assert_eq!(read("kill_switch"), Ok((Scope::Process, "kill_switch".to_owned())));
    assert_eq!(read("rate.vendor"), Ok((Scope::Rate("vendor".to_owned()), String::new())));
    assert_eq!(read("sites.x.timeout"), Err("sites".to_owned()));
    assert!(
        KINDS.iter().all(|kind| *kind == "kill_switch" || *kind == "defaults" || Scope::named(kind, "x").is_some())
    );
}

#[test]
fn what_is_put_is_what_is_read() {
    let mut it = SITE;
    for key in Key::all_of(Of::Function).filter(|key| figure(&SITE, key.name).is_some()) {
        let (form, _) = key.form.split_once(" or ").unwrap_or((key.form, ""));
        let Ok(value) = (key.read)(&Raw::word(form)) else { panic!("{}", key.name) };
        super::figure::put(&mut it, key.name, value);
        assert_eq!(figure(&it, key.name), Some(value), "{}", key.name);
    }
}
