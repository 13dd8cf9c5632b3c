//! The flood's page: two switches, turned by keys, and every figure on it counted by the service, the runtime and the callers.

use std::sync::Arc;

use serde_json::{Value, json};
use watertight::dashboard::Dashboard;
use watertight_examples::lab::flood::room::{Ended, SITES};
use watertight_examples::lab::flood::stage::{NAMES, Now, Stage, Switches};
use watertight_examples::live;

use crate::browser::Browser;
use crate::{ONE_AT_A_TIME, until};

/// Every card on the page: name, state, and both columns of its table.
const CARDS: &str = "[...document.querySelectorAll('#dependencies .card')].map(card => ({
    name: card.dataset.name, state: card.querySelector('.state').innerText,
    all: [...card.querySelectorAll('tbody tr')].map(row => Number(row.lastElementChild.innerText.replaceAll(',', ''))) }))";

/// The rows of the tables of all counts.
const COUNTS: &str = "[...document.querySelectorAll('#counts tbody tr')].map(row =>
    [row.firstElementChild.textContent, ...[...row.querySelectorAll('td')].map(cell => Number(cell.textContent.replaceAll(',', '')))])";

fn stalled(cards: &Value) -> Vec<&str> {
    let cards = cards.as_array().map_or(&[][..], Vec::as_slice);
    cards.iter().filter(|card| card["state"] == "stalled").filter_map(|card| card["name"].as_str()).collect()
}

fn listed(ended: Ended) -> [u64; 4] {
    [ended.came, ended.served, ended.refused, ended.failed]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_slow_dependency_stalls_all_three_until_each_has_its_own_room_and_every_count_agrees() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let before = watertight::snapshot();
    let stage = Arc::new(Stage::open(Switches::default()).await.unwrap());
    let page = live::serve(([127, 0, 0, 1], 0).into(), Arc::clone(&stage), Dashboard::new()).await.unwrap();
    let Some(mut browser) = Browser::open(&page.url()).await else { return };
    until("live", async || browser.text("#live").await.starts_with("live")).await;
    until("calls", async || browser.text("#headline").await == "All three are served.").await;

    // By keyboard alone, and the focus stays where it was.
    browser.tab_to("recs_slow").await;
    browser.press(" ", 32).await;
    until("slow", async || stage.switches() == Switches { bulkheads: false, recs_slow: true }).await;
    until("all three stalled", async || stalled(&browser.ask(CARDS).await) == NAMES).await;
    let headline = browser.text("#headline").await;
    assert!(headline.starts_with("recs, search and payments are stalled: recs holds "), "{headline}");
    assert_eq!(browser.ask("document.querySelector('#headline').classList.contains('alarm')").await, true);
    assert!(browser.text("#common").await.contains("working: 6 of 6"), "{}", browser.text("#common").await);
    assert_eq!(browser.ask("document.activeElement.id").await, "recs_slow");
    browser.pictures("flood-shared").await;

    browser.tab_to("bulkheads").await;
    browser.press(" ", 32).await;
    until("bulkheads", async || stage.switches() == Switches { bulkheads: true, recs_slow: true }).await;
    until("recs alone stalled", async || stalled(&browser.ask(CARDS).await) == ["recs"]).await;
    assert!(browser.text("#says-bulkheads").await.starts_with("on: 2 workers"));
    browser.pictures("flood-own").await;
    browser.ask("document.querySelector('details').open = true").await;
    browser.pictures("flood-counts").await;

    // At rest, the page, the stage, the runtime and the callers say the same.
    stage.turn(Switches { bulkheads: true, recs_slow: false });
    stage.arriving(false);
    let resting = |now: &Now| now.in_common == (0, 0) && now.in_own == (0, 0);
    until("rest", async || (0..3).all(|at| resting(&stage.now(at)))).await;
    let all = [0, 1, 2].map(|at| stage.now(at));
    let whole = |at: usize| listed(all[at].common.and(all[at].own));
    until("the page at rest", async || {
        let cards = browser.ask(CARDS).await;
        (0..3).all(|at| cards[at]["all"] == json!(whole(at)))
    })
    .await;
    let counts = browser.ask(COUNTS).await;
    let document: Value = reqwest::get(format!("{}api/state", page.url())).await.unwrap().json().await.unwrap();
    let after = watertight::snapshot();
    for (at, now) in all.iter().enumerate() {
        let row = |name: String| {
            let rows = counts.as_array().unwrap();
            rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("{name} in {counts}")).clone()
        };
        let cells = |name: String| row(name).as_array().unwrap()[1..].to_vec();
        assert_eq!(cells(format!("{}, common room", NAMES[at])), listed(now.common).map(Value::from));
        assert_eq!(cells(format!("{}, own room", NAMES[at])), listed(now.own).map(Value::from));
        let vendor =
            [now.vendor.requests, now.vendor.peak, now.vendor.connections, now.vendor.closed, now.vendor.aborted];
        assert_eq!(cells(NAMES[at].to_owned()), vendor.map(Value::from));
        assert_eq!(document["dependencies"][at]["all"]["served"], whole(at)[1]);
        // What the runtime counted of the guarded function is what went through the room of its own.
        let of = |snapshot: &watertight::Snapshot| {
            let site = snapshot.site(SITES[at]).unwrap();
            [site.calls, site.ok, site.refused]
        };
        let (then, counted) = (of(&before), of(&after));
        let own = [now.own.came, now.own.served, now.own.refused];
        assert_eq!([0, 1, 2].map(|it| counted[it] - then[it]), own, "{}", NAMES[at]);
        // A call reached its dependency if it was served, and the callers had as many answers.
        assert_eq!(now.vendor.requests, whole(at)[1]);
        assert_eq!((stage.seen(at).requests, stage.seen(at).ok), (whole(at)[0], whole(at)[1]));
        assert!(now.own.served > 0 && now.common.refused > 0, "{now:?}");
    }
    browser.ask("document.querySelector('a[href=\"dashboard\"]').click()").await;
    until("the dashboard", async || browser.text("main").await.contains("flood_payments")).await;
    assert_eq!(browser.console, Vec::<String>::new(), "no errors, and nothing that the policy refused");
    browser.close().await;
    page.stop().await;
}
