//! # What the outage's page shows
//!
//! The two runs side by side, the one with nothing above the function and the annotated one, and one sentence on top that is
//! chosen by their figures.
//!
//! Invariants:
//! * no figure in here that is not the board's;
//! * a run that has not begun has no figures, rather than zeros.

use serde_json::{Map, Value, json};

use super::Show;
use super::board::{Board, Column, Stage};
use crate::fates::Fates;
use crate::pool;
use crate::report::words;
use crate::shop::{Variant, recs};
use crate::tally::Figures;

/// Below this share the cart counts as down.
const DOWN: f64 = 50.0;

impl Show for Board {
    const MARKUP: &'static str = include_str!("page/outage.html");

    fn state(&self) -> Value {
        let columns = self.columns();
        let (line, text) = recs::annotation();
        let variants = [Variant::Bare, Variant::Annotated].into_iter().zip(&columns);
        json!({
            "headline": headline(&columns),
            "alarm": columns[0].stage == Stage::Running && cart(&columns[0]).is_some_and(|share| share < DOWN),
            "annotation": { "line": line, "text": text },
            "pool_size": pool::SIZE,
            "runs": variants.map(|(variant, column)| run(variant.name(), column)).collect::<Vec<_>>(),
        })
    }

    fn turn(&self, _asked: &Value) -> Result<(), &'static str> {
        Err("there is nothing to turn here")
    }
}

fn run(name: &str, column: &Column) -> Value {
    if column.stage == Stage::ToCome {
        return json!({ "variant": name, "stage": "to come" });
    }
    json!({
        "variant": name,
        "stage": match column.stage {
            Stage::ToCome => "to come",
            Stage::Running => "running",
            Stage::Done => "done",
            Stage::Interrupted => "interrupted",
        },
        "elapsed_seconds": column.elapsed.as_secs_f64(),
        "length_seconds": column.length.as_secs_f64(),
        "routes": column.routes.iter().map(|(path, figures, now)| route(path, figures, *now)).collect::<Vec<_>>(),
        "pool_idle": (column.stage == Stage::Running).then_some(column.idle),
        "pool_waits_given_up": column.pool_timeouts,
        "vendor": {
            "requests": column.vendor.requests,
            "peak": column.vendor.peak,
            "unanswered": column.vendor.unanswered,
            "connections": column.vendor.connections,
            "closed": column.vendor.closed,
            "aborted": column.vendor.aborted,
        },
        "guard": (!column.functions.is_empty()).then(|| guard(&column.functions)),
        "past": column.past.iter().map(|(at, shares)| json!([at, shares[0], shares[1], shares[2]])).collect::<Vec<_>>(),
    })
}

fn route(path: &str, figures: &Figures, now: Option<f64>) -> Value {
    let millis = |took: Option<std::time::Duration>| took.map(|took| took.as_secs_f64() * 1e3);
    json!({
        "route": path,
        "requests": figures.requests,
        "ok": figures.ok,
        "success_percent": figures.success(),
        "now_percent": now,
        "p50_ms": millis(figures.p50),
        "p99_ms": millis(figures.p99),
    })
}

fn guard(functions: &[Fates]) -> Value {
    let sum = |of: &dyn Fn(&Fates) -> u64| Value::from(functions.iter().map(of).sum::<u64>());
    let counts: [(&str, Value); 4] = [
        ("calls", sum(&|it| it.calls)),
        ("refused", sum(&Fates::refusals)),
        ("timed_out", sum(&|it| it.timed_out)),
        ("fallback_used", sum(&|it| it.fallback_used)),
    ];
    counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect::<Map<_, _>>().into()
}

/// The cart's share: of the last two seconds while it goes on, of the whole run after.
fn cart(column: &Column) -> Option<f64> {
    let (_, figures, now) = column.routes.iter().find(|(path, ..)| *path == "/cart")?;
    if column.stage == Stage::Running { *now } else { figures.success() }
}

fn headline(columns: &[Column; 2]) -> String {
    let [bare, annotated] = columns;
    let shown = |column| words::share(cart(column));
    match (bare.stage, annotated.stage) {
        (Stage::ToCome, Stage::ToCome) => "The vendor is about to hang.".to_owned(),
        (Stage::Running, _) if cart(bare).is_some_and(|share| share < DOWN) => format!(
            "The vendor hangs, and /cart, which never calls it, is down to {}: {} of {} pooled connections are taken.",
            shown(bare),
            (pool::SIZE as usize).saturating_sub(bare.idle),
            pool::SIZE
        ),
        (Stage::Running, _) => format!("The vendor hangs. /cart, which never calls it, is at {}.", shown(bare)),
        (_, Stage::Running) => {
            format!("The same vendor, one line more: /cart is at {}, after {} without.", shown(annotated), shown(bare))
        }
        (_, Stage::Done) => {
            format!("Over: /cart stood at {} bare, and at {} annotated.", shown(bare), shown(annotated))
        }
        _ => "Interrupted: the figures cover what was measured until then.".to_owned(),
    }
}
