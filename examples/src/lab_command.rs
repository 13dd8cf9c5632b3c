//! # `lab`
//!
//! Runs one experiment or all, prints each result as soon as it is there, and writes the files at the end.
//!
//! Invariants:
//! * a path that cannot be written is known before the wait;
//! * exit code 0 when every claim held, 1 when one did not, 130 after Ctrl-C, with what was measured until then.

use std::fs::File;
use std::io::Write;
use std::process::ExitCode;

use watertight_examples::lab::frame::Bench;
use watertight_examples::lab::live::Live;
use watertight_examples::lab::{self, Finished, report};
use watertight_examples::stop;

use crate::args::LabArgs;
use crate::{INTERRUPTED, writable};

pub(crate) async fn run(args: &LabArgs) -> anyhow::Result<ExitCode> {
    let chosen = match args.id.as_str() {
        "list" => {
            print(&list());
            return Ok(ExitCode::SUCCESS);
        }
        "all" => lab::ALL.to_vec(),
        id => lab::find(id).into_iter().collect(),
    };
    let [json, page, markdown] = [&args.json, &args.report, &args.markdown].map(|path| path.as_deref().map(writable));
    let (json, page, markdown) = (json.transpose()?, page.transpose()?, markdown.transpose()?);
    let bench = Bench {
        quick: args.quick,
        postgres: args.postgres.clone(),
        stop: stop::on_interrupt(),
        live: Live::for_stderr(),
    };
    let mut all: Vec<Finished> = Vec::new();
    for experiment in chosen {
        if bench.stop.is_stopped() {
            break;
        }
        let finished = lab::run(&bench, experiment).await?;
        print(&report::text(&finished));
        all.push(finished);
    }
    write(json, || format!("{:#}\n", report::document(&all)))?;
    write(page, || report::page(&all))?;
    write(markdown, || report::markdown(&all))?;
    let verdicts = || all.iter().flat_map(|finished| &finished.outcome.verdicts);
    let (held, of) = (verdicts().filter(|verdict| verdict.held).count(), verdicts().count());
    print(&format!("\n{held} of {of} claims held\n"));
    Ok(match (bench.stop.is_stopped(), held == of) {
        (true, _) => ExitCode::from(INTERRUPTED),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::FAILURE,
    })
}

fn list() -> String {
    let lines = lab::ALL.iter().map(|experiment| format!("{:>14}  {}", experiment.id, experiment.question));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn print(text: &str) {
    // A reader who left early, as `head` does, is no failure.
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn write(file: Option<File>, text: impl FnOnce() -> String) -> std::io::Result<()> {
    let Some(mut file) = file else { return Ok(()) };
    file.set_len(0)?;
    file.write_all(text().as_bytes())
}
