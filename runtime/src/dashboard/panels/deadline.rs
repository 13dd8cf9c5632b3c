//! Where the time of a call goes, on average over the last hour, against its deadline; and how much of a deadline was left
//! when calls came in. What was spent in pauses between attempts is not counted, and said to be so.

use serde_json::{Value, json};

use super::View;
use crate::advice::ms;
use crate::dashboard::history::outcome::no_time;
use crate::listing::Listed;

pub(super) fn panel(view: &View<'_>) -> Value {
    let Some(site) = view.site() else { return Value::Null };
    let hour = site.last_hour();
    let calls = hour.calls().max(1) as f64;
    let listed = Listed::of(view.declaration, view.all).worst_case;
    let spent = |bands: &crate::base::histogram::Bands| bands.sum().as_secs_f64() * 1e3 / calls;
    let with_deadline: u64 = hour.deadline_used.iter().sum();
    let too_late = no_time(&hour.outcomes);
    json!({
        "deadline": listed.deadline.map(ms),
        "waiting": spent(&hour.waits),
        "answered": spent(&hour.lengths.completed),
        "cut_off": spent(&hour.lengths.cut_off),
        "worst": listed.without_deadline().map(ms),
        "used_at_entry": hour.deadline_used,
        "with_deadline": with_deadline,
        "too_late": too_late,
        "too_late_share": too_late as f64 / calls,
    })
}
