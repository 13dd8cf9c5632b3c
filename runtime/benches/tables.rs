//! The figures of a run as tables in markdown: to the terminal, and, with `WATERTIGHT_WRITE=1`, into `docs/performance.md`
//! between the markers of the run's name, so that no figure is ever copied by hand.

use std::fmt::Write as _;
use std::path::Path;

/// One figure for each row that was measured, a call's nanoseconds or instructions, in the order of the rows.
#[derive(Default)]
pub(crate) struct Figures(Vec<(String, String, f64)>);

/// What is held against what, and what we want the ratio to be at most.
type Goal = (&'static str, [&'static str; 2], [&'static str; 2], f64);

const GOALS: &[Goal] = &[
    ("full stack / by hand without counters", ["stack of 4", "ours"], ["stack of 4", "hand"], 0.75),
    ("full stack / by hand with counters", ["stack of 4", "ours"], ["stack of 4", "hand, counted"], 1.0),
    ("full stack / tower-resilience", ["stack of 4", "ours"], ["stack of 4", "tower-resilience"], 0.33),
    ("full stack / do-over", ["stack of 4", "ours"], ["stack of 4", "do-over"], 0.33),
    ("the same by a guard / by the attribute", ["stack of 4", "ours, a guard"], ["stack of 4", "ours"], 1.1),
    (
        "full stack, body pending once / tokio's timeout alone",
        ["timeout, body pending once", "ours, full stack"],
        ["timeout, body pending once", "tokio"],
        2.0,
    ),
    (
        "timeout, body pending once / tokio's timeout",
        ["timeout, body pending once", "ours"],
        ["timeout, body pending once", "tokio"],
        1.0,
    ),
    ("refusal by a full bulkhead / a bare failed try", ["full bulkhead", "ours"], ["full bulkhead", "tokio"], 3.0),
    (
        "refusal by a full bulkhead / a failed try with counters",
        ["full bulkhead", "ours"],
        ["full bulkhead", "hand, counted"],
        1.0,
    ),
    ("refusal by an open breaker / by a full bulkhead", ["open breaker", "ours"], ["full bulkhead", "ours"], 1.0),
    ("refusal by an open breaker / failsafe", ["open breaker", "ours"], ["open breaker", "failsafe"], 1.0),
    ("rate / governor", ["rate", "ours"], ["rate", "governor"], 2.0),
    ("bulkhead with a live key / bulkhead", ["key, 64 in turn", "ours"], ["bulkhead", "ours"], 2.0),
    ("breaker over a window of time / of results", ["breaker", "ours, window of time"], ["breaker", "ours"], 1.1),
    ("timeout and hedge, not fired / timeout", ["hedge", "ours"], ["timeout", "ours"], 1.1),
    (
        "64 tasks, 8 slots, one thread / tokio's semaphore",
        ["64 tasks, 8 slots", "ours"],
        ["64 tasks, 8 slots", "tokio"],
        0.75,
    ),
    (
        "64 tasks, 8 slots, one thread / with tokio's timeout",
        ["64 tasks, 8 slots", "ours"],
        ["64 tasks, 8 slots", "hand"],
        0.75,
    ),
    ("hand-over / tokio's semaphore", ["hand-over", "ours"], ["hand-over", "tokio"], 1.0),
    (
        "64 tasks, 8 slots, two threads / tokio's semaphore",
        ["64 tasks, 8 slots, two threads", "ours"],
        ["64 tasks, 8 slots, two threads", "tokio"],
        0.75,
    ),
    (
        "64 tasks, 8 slots, two threads / with tokio's timeout",
        ["64 tasks, 8 slots, two threads", "ours"],
        ["64 tasks, 8 slots, two threads", "hand"],
        0.75,
    ),
    ("full stack on two threads / on one", ["stack of 4, two threads", "ours"], ["stack of 4", "ours"], 2.0),
    (
        "full stack on two threads / by hand with counters",
        ["stack of 4, two threads", "ours"],
        ["stack of 4, two threads", "hand, counted"],
        1.0,
    ),
    ("isolated async body / `spawn_blocking`", ["threads", "isolated"], ["threads", "spawn_blocking"], 1.0),
    ("isolated async body / a thread and a oneshot by hand", ["threads", "isolated"], ["threads", "hand"], 1.0),
    ("isolated plain function / a thread and a channel by hand", ["threads", "plain"], ["threads", "plain_hand"], 1.0),
    (
        "full stack with a recorder / without",
        ["stack of 4, recorder", "installed"],
        ["stack of 4, recorder", "none"],
        1.05,
    ),
];

impl Figures {
    pub(crate) fn add(&mut self, family: &str, who: &str, figure: f64) {
        self.0.push((family.to_owned(), who.to_owned(), figure));
    }

    fn get(&self, [family, who]: [&str; 2]) -> Option<f64> {
        self.0.iter().find(|(f, w, _)| f == family && w == who).map(|(_, _, figure)| *figure)
    }

    /// A line for each family: ours, and everybody else's, the cheapest first.
    fn rows(&self, unit: &str) -> String {
        let mut text = format!("| {unit} a call | ours | others |\n|---|---|---|\n");
        let mut families: Vec<&str> = Vec::new();
        for (family, _, _) in &self.0 {
            if !families.contains(&family.as_str()) {
                families.push(family);
            }
        }
        for family in families {
            let of: Vec<_> =
                self.0.iter().filter(|(f, _, _)| f == family).map(|(_, who, figure)| (who, *figure)).collect();
            let mut others: Vec<_> = of.iter().filter(|(who, _)| !is_ours(who)).collect();
            others.sort_by(|a, b| a.1.total_cmp(&b.1));
            let others: Vec<_> = others.iter().map(|(who, figure)| format!("{who} {}", shown(*figure))).collect();
            let ours = self.get([family, "ours"]).map_or_else(String::new, |figure| format!("**{}**", shown(figure)));
            let _ = writeln!(text, "| {family} | {ours} | {} |", others.join(" · "));
            for (who, figure) in of.iter().filter(|(who, _)| is_ours(who) && *who != "ours") {
                let _ = writeln!(text, "| {family}: {} | **{}** | |", who.trim_start_matches("ours, "), shown(*figure));
            }
        }
        text
    }

    /// The ratios of which both sides were measured. One that meets its goal is bold.
    fn goals(&self, unit: &str) -> String {
        let mut text = format!("| ratio of {unit} | ours | other | ratio | goal |\n|---|---|---|---|---|\n");
        for (what, ours, other, goal) in GOALS {
            let (Some(ours), Some(other)) = (self.get(*ours), self.get(*other)) else { continue };
            let ratio = ours / other;
            let mark = if ratio <= *goal { "**" } else { "" };
            let _ =
                writeln!(text, "| {what} | {} | {} | {mark}{ratio:.2}{mark} | {goal:.2} |", shown(ours), shown(other));
        }
        text
    }

    /// Both tables, printed, and written where they belong if that is asked for.
    pub(crate) fn report(&self, run: &str, unit: &str) {
        if self.0.is_empty() {
            return;
        }
        let text = format!("{}\n{}", self.rows(unit), self.goals(unit));
        println!("\n{text}");
        if std::env::var_os("WATERTIGHT_WRITE").is_some() {
            let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/performance.md");
            match put_between_markers(&page, run, &text) {
                Ok(()) => println!("(written to docs/performance.md)"),
                Err(why) => println!("(not written to {}: {why})", page.display()),
            }
        }
    }
}

fn is_ours(who: &str) -> bool {
    who == "ours" || who.starts_with("ours, ")
}

fn shown(figure: f64) -> String {
    match figure {
        _ if figure < 10.0 => format!("{figure:.1}"),
        _ if figure < 10_000.0 => format!("{figure:.0}"),
        _ => format!("{:.1}k", figure / 1_000.0),
    }
}

fn put_between_markers(page: &Path, run: &str, text: &str) -> Result<(), String> {
    let old = std::fs::read_to_string(page).map_err(|why| why.to_string())?;
    let (open, close) = (format!("<!-- {run} -->"), format!("<!-- /{run} -->"));
    let Some((before, rest)) = old.split_once(&open) else { return Err(format!("no {open} in it")) };
    let Some((_, after)) = rest.split_once(&close) else { return Err(format!("no {close} in it")) };
    std::fs::write(page, format!("{before}{open}\n{text}{close}{after}")).map_err(|why| why.to_string())
}
