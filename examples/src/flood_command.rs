//! # `flood`
//!
//! Opens the stage, serves its page and waits for Ctrl-C; then prints what was counted.
//!
//! Invariants:
//! * the address is the first line of standard output, so that a script can read it.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use comfy_table::Table;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use tokio::time::sleep;
use watertight::dashboard::Dashboard;
use watertight_examples::lab::flood::room::Ended;
use watertight_examples::lab::flood::stage::{NAMES, Stage, Switches};
use watertight_examples::{live, stop};

use crate::args::FloodArgs;

pub(crate) async fn run(args: &FloodArgs) -> anyhow::Result<ExitCode> {
    let stop = stop::on_interrupt();
    let stage = Arc::new(Stage::open(Switches::default()).await?);
    let own = Dashboard::new().only(|function| function.module.ends_with("::flood::room"));
    let page = live::serve(args.address, Arc::clone(&stage), own).await?;
    print(&format!("the flood is at {} until Ctrl-C\n", page.url()));
    tokio::select! {
        () = stop.stopped() => {}
        () = after(args.seconds) => {}
    }
    page.stop().await;
    print(&format!("{}\n", counted(&stage)));
    Ok(ExitCode::SUCCESS)
}

async fn after(seconds: Option<u64>) {
    match seconds {
        Some(seconds) => sleep(Duration::from_secs(seconds)).await,
        None => std::future::pending().await,
    }
}

fn counted(stage: &Stage) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED).set_header(["", "room", "came", "served", "refused", "failed"]);
    for (at, name) in NAMES.iter().enumerate() {
        let now = stage.now(at);
        for (room, Ended { came, served, refused, failed }) in [("common", now.common), ("own", now.own)] {
            let counts = [came, served, refused, failed].map(|count| count.to_string());
            table.add_row([vec![(*name).to_owned(), room.to_owned()], counts.into()].concat());
        }
    }
    table
}

fn print(text: &str) {
    // A reader who left early, as `head` does, is no failure.
    let _ = std::io::stdout().write_all(text.as_bytes());
    let _ = std::io::stdout().flush();
}
