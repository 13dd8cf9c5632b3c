//! Which function hurts users now, in one sentence.
//!
//! Invariants: the sentence has its figures from the same rows as the wall; with nobody harmed it says so and how much was
//! looked at.

/// What the sentence is made from.
#[derive(Clone, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) name: &'a str,
    /// Calls, and those of them harmed and failed, in the last seconds.
    pub(crate) calls: u64,
    pub(crate) harmed: u64,
    pub(crate) failed: u64,
    pub(crate) reason: Option<&'static str>,
    /// What stands behind the reason: "8 of 8 slots taken".
    pub(crate) detail: String,
}

/// The sentence, and whether anybody is harmed.
pub(crate) fn say(rows: &[Row<'_>], seconds: usize) -> (bool, String) {
    let worst = rows.iter().max_by_key(|row| row.harmed).filter(|row| row.harmed > 0);
    let Some(worst) = worst else {
        let calls: u64 = rows.iter().map(|row| row.calls).sum();
        return (false, format!("Nobody is harmed: {calls} calls in the last {seconds} s, all of them answered."));
    };
    let share = 100.0 * worst.harmed as f64 / worst.calls.max(1) as f64;
    let what = match worst.failed {
        0 => "were answered by the fallback",
        failed if failed == worst.harmed => "failed",
        _ => "failed or were answered by the fallback",
    };
    let reason = worst.reason.map_or_else(String::new, |reason| format!(", most of them by: {reason}"));
    let detail = if worst.detail.is_empty() { String::new() } else { format!(" ({})", worst.detail) };
    let others = rows.iter().filter(|row| row.harmed > 0).count() - 1;
    let more = match others {
        0 => String::new(),
        1 => " One other function is harmed.".to_owned(),
        many => format!(" {many} other functions are harmed."),
    };
    let text = format!(
        "{} hurts most: {} of its {} calls in the last {seconds} s ({share:.0} %) {what}{reason}{detail}.{more}",
        worst.name, worst.harmed, worst.calls
    );
    (true, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, calls: u64, harmed: u64, failed: u64) -> Row<'_> {
        Row { name, calls, harmed, failed, reason: (harmed > 0).then_some("no slot"), detail: String::new() }
    }

    #[test]
    fn the_function_that_harms_most_is_named_with_its_reason() {
        let slots = Row { detail: "8 of 8 slots taken".to_owned(), ..row("recs", 100, 90, 0) };
        let (is_harmed, text) = say(&[row("cart", 10, 10, 10), slots, row("search", 500, 0, 0)], 10);
        assert!(is_harmed);
        assert_eq!(
            text,
            "recs hurts most: 90 of its 100 calls in the last 10 s (90 %) were answered by the fallback, most of them by: no \
             slot (8 of 8 slots taken). One other function is harmed."
        );
        assert!(say(&[row("cart", 10, 10, 10)], 10).1.contains("(100 %) failed, most"));
        assert_eq!(
            say(&[row("search", 500, 0, 0)], 10),
            (false, "Nobody is harmed: 500 calls in the last 10 s, all of them answered.".to_owned())
        );
        assert!(!say(&[], 10).0);
    }
}
