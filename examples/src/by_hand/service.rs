//! # `service`
//!
//! The service alone: `/healthy` touches nothing, `/db` makes one trivial query through a pool of ten, `/work` takes a pooled
//! connection and calls the vendor while holding it. With `--guarded` one attribute line stands above that work, and nothing
//! else is different.
//!
//! Invariants:
//! * body and pool are the lab's own.

use std::process::ExitCode;

use watertight_examples::lab::by_hand::{BARE, GUARDED};
use watertight_examples::lab::pool::Pool;
use watertight_examples::lab::service::{Desk, serve_at};
use watertight_examples::pool::SIZE;
use watertight_examples::stop;

use super::{address, every_second, say};

#[derive(clap::Args, Debug)]
#[command(after_help = super::RECIPE)]
pub(crate) struct Args {
    /// Where it listens, on loopback; a port of the system's choice unless written.
    #[arg(long, default_value_t = 0, value_name = "PORT")]
    port: u16,
    /// What `/work` calls: what `vendor` printed.
    #[arg(long, value_name = "URL", value_parser = address)]
    vendor: String,
    /// With the attribute line above the work.
    #[arg(long)]
    guarded: bool,
    /// Take this server's pool in place of the embedded database: `postgres://user@host/database`.
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
}

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let stop = stop::on_interrupt();
    let variant = if args.guarded { GUARDED } else { BARE };
    let desk = Desk::new(Pool::open(args.postgres.as_deref()).await?, args.vendor);
    let server = serve_at(([127, 0, 0, 1], args.port).into(), &desk, variant.work, false).await?;
    say(&format!("the service is at {}", server.url()));
    let (name, line) = variant.line();
    say(&format!("{name}: {}", if line.is_empty() { "nothing above the work" } else { &line }));
    let now = || {
        format!(
            "pool idle {} of {SIZE}  waiting for it {}  waits given up {}  calls to the vendor under way {}",
            desk.pool().idle(),
            desk.waiting().inside,
            desk.pool_timeouts(),
            desk.asking().inside
        )
    };
    tokio::select! {
        () = every_second(now) => {}
        () = stop.stopped() => {}
    }
    server.stop().await;
    say(&now());
    if args.guarded {
        let mut figures = watertight::snapshot();
        figures.sites.retain(|site| site.calls > 0);
        figures.bulkheads.retain(|bulkhead| bulkhead.peak_running > 0);
        figures.breakers.retain(|breaker| breaker.calls > 0);
        say(&format!("\n{}", figures.to_string().trim_end()));
    }
    Ok(ExitCode::SUCCESS)
}
