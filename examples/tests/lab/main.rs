//! Every experiment of the lab, shortened: whatever is claimed about the shape of its figures has to hold.
//!
//! One test in a binary of its own: the experiments take the machine's processors, and the tests of other binaries run at
//! other times.

use watertight_examples::lab::frame::Bench;
use watertight_examples::lab::live::Live;
use watertight_examples::lab::{self, Finished, report};
use watertight_examples::stop;

async fn all() -> Vec<Finished> {
    let (_stopper, stop) = stop::pair();
    let bench = Bench { quick: true, postgres: None, stop, live: Live::Plain };
    let mut all = Vec::new();
    for &experiment in lab::ALL {
        all.push(lab::run(&bench, experiment).await.unwrap());
    }
    all
}

fn fallen(all: &[Finished]) -> Vec<String> {
    let each = all.iter().flat_map(|finished| finished.outcome.verdicts.iter().map(|it| (finished.experiment.id, it)));
    each.filter(|(_, it)| !it.held).map(|(id, it)| format!("{id}: {} ({})", it.claim, it.seen)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_claim_of_a_quick_run_holds_and_is_in_every_report() {
    let all = all().await;
    let fallen = fallen(&all);
    assert!(fallen.is_empty(), "did not hold:\n{}", fallen.join("\n"));

    let (page, markdown, document) = (report::page(&all), report::markdown(&all), report::document(&all));
    for (at, finished) in all.iter().enumerate() {
        let (experiment, outcome) = (finished.experiment, &finished.outcome);
        assert!(outcome.skipped.is_some() || !outcome.verdicts.is_empty(), "{} decides nothing", experiment.id);
        assert!(report::text(finished).contains(experiment.question));
        assert!(page.contains(&format!("<section id=\"{}\">", experiment.id)));
        assert!(markdown.contains(&format!("## `{}`", experiment.id)));
        assert_eq!(document["lab"][at]["experiment"], experiment.id);
        assert_eq!(document["lab"][at]["quick"], true);
    }
    assert!(page.contains("Quick run") && markdown.contains("Quick run"), "a quick run says so");
    for outside in ["http://", "https://", "<script", "url("] {
        let own = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!own.contains(outside), "the page refers to {outside}");
    }
}
