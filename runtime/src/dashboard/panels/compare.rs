//! The last minutes beside those before them: what each candidate of the picker cuts off in the one and in the other.
//!
//! An estimate over both is of a time that never was, if something changed in between; two lines that lie apart say so.

use std::time::Duration;

use serde_json::{Value, json};

use super::View;
use super::picker::points;
use crate::advice::{Curve, Share, cut_by, ms};
use crate::dashboard::history::periods::Period;

pub(super) fn panel(view: &View<'_>, candidates: &[Duration]) -> Value {
    let Some([young, before]) = view.site().and_then(|site| site.periods(view.kept.seconds)) else {
        return Value::Null;
    };
    if young.lengths.count() == 0 || before.lengths.count() == 0 {
        return Value::Null;
    }
    json!({ "young": part(&young, candidates), "before": part(&before, candidates) })
}

fn part(of: &Period, candidates: &[Duration]) -> Value {
    let curve = Curve::of(&of.lengths);
    json!({
        "seconds": of.seconds,
        "count": curve.count(),
        "cut_off": curve.cut_off(),
        "watched_until": curve.watched_until().map(ms),
        "curve": points(&curve),
        "cuts": candidates.iter().map(|it| cut_by(&curve, *it).map(Share::json)).collect::<Vec<_>>(),
    })
}
