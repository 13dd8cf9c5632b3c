//! The outage's page: both runs side by side while they go on, and at the end the report's own figures.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use watertight::dashboard::Dashboard;
use watertight_examples::live::{self, board::Board};
use watertight_examples::outage::{Settings, both};
use watertight_examples::progress::Progress;
use watertight_examples::stop;

use crate::browser::Browser;
use crate::{ONE_AT_A_TIME, until};

/// What a card says in its tables, by the first cell of each row.
const ROWS: &str = "Object.fromEntries([...document.querySelectorAll('#runs .card')].map(card => [card.dataset.variant,
    Object.fromEntries([...card.querySelectorAll('tbody tr')].map(row => [row.firstElementChild.innerText,
        [...row.querySelectorAll('td')].map(cell => cell.innerText.replaceAll(',', ''))]))]))";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_shows_both_runs_as_they_go_and_ends_with_the_figures_of_the_report() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let board = Arc::new(Board::default());
    let page = live::serve(([127, 0, 0, 1], 0).into(), Arc::clone(&board), Dashboard::new()).await.unwrap();
    let Some(mut browser) = Browser::open(&page.url()).await else { return };
    until("to come", async || browser.text("#headline").await == "The vendor is about to hang.").await;
    assert!(browser.text("#annotation").await.starts_with("#[resilient("));

    let (_stopper, stop) = stop::pair();
    let running = tokio::spawn({
        let board = Arc::clone(&board);
        async move { both(Settings::new(Duration::from_secs(5), 50), &stop, &Progress::Silent, &board).await }
    });
    until("the cart is down", async || {
        browser.text("#headline").await.contains("/cart, which never calls it, is down to")
    })
    .await;
    assert!(browser.text("[data-variant=bare]").await.contains("10 of 10 connections taken"));
    browser.pictures("outage-bare").await;
    let outage = running.await.unwrap().unwrap();
    until("over", async || browser.text("#headline").await.starts_with("Over: /cart stood at ")).await;

    let shown = browser.ask(ROWS).await;
    for run in &outage.runs {
        let rows = &shown[run.variant.name()];
        let count = |row: &str, at: usize| rows[row][at].as_str().and_then(|text| text.parse::<u64>().ok());
        for (path, figures) in &run.routes {
            assert_eq!((count(path, 0), count(path, 1)), (Some(figures.ok), Some(figures.requests)), "{path}: {rows}");
        }
        let vendor = run.vendor;
        assert_eq!(count("vendor: calls it saw", 0), Some(vendor.requests));
        assert_eq!(count("vendor: most at once", 0), Some(vendor.peak));
        assert_eq!(count("vendor: left unanswered", 0), Some(vendor.unanswered));
        assert_eq!(count("vendor: connections opened", 0), Some(vendor.connections));
        assert_eq!(count("vendor: aborted", 0), Some(vendor.aborted));
        assert_eq!(count("pool: waits given up", 0), Some(run.pool_timeouts));
        let fallbacks = run.functions.first().map(|recs| recs.fallback_used);
        assert_eq!(count("guard: answered by the fallback", 0), fallbacks);
    }
    // The runtime's own figures are those of the annotated run, the only one that asks it.
    let recs = &outage.runs[1].functions[0];
    let counted = watertight::snapshot();
    let counted = counted.site("recommendations").unwrap();
    assert_eq!((counted.calls, counted.fallback_used), (recs.calls, recs.fallback_used));
    let state: Value = reqwest::get(format!("{}api/state", page.url())).await.unwrap().json().await.unwrap();
    assert_eq!(state["runs"][1]["guard"]["fallback_used"], counted.fallback_used);
    browser.pictures("outage-over").await;
    assert_eq!(browser.console, Vec::<String>::new(), "no errors, and nothing that the policy refused");
    browser.close().await;
    page.stop().await;
}
