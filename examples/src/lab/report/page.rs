//! # One page
//!
//! The outcomes as a short paper in one HTML file: question, set-up, table, plot, what holds, what it means for your
//! numbers. It asks nothing of the network, follows the reader's choice of light or dark, and wide tables scroll inside
//! themselves so that a phone does not.
//!
//! Invariants:
//! * one file, no script, no reference to anything outside of it;
//! * every text is escaped.

use std::fmt::Write;

use super::{caveat, plot, word};
use crate::lab::Finished;
use crate::lab::outcome::{Plot, Table};

const STYLE: &str = include_str!("page.css");

/// The page.
pub fn page(all: &[Finished]) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>watertight: every claim measured</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>Every claim measured</h1>\n"
    );
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let profile = if cfg!(debug_assertions) { "an unoptimised build" } else { "a release build" };
    let _ = writeln!(
        out,
        "<p>What slow dependencies do to a service, and what one attribute changes: published experiments done again on \
         real sockets and a real pool, bare and guarded. Measured by {profile} on {cores} processors, which clients, \
         service, pool and vendor share.</p>"
    );
    summary(&mut out, all);
    for finished in all {
        one(&mut out, finished);
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn summary(out: &mut String, all: &[Finished]) {
    out.push_str("<nav><ul>\n");
    for Finished { experiment, outcome, .. } in all {
        let held = outcome.verdicts.iter().filter(|verdict| verdict.held).count();
        let count = match (&outcome.skipped, outcome.verdicts.len()) {
            (Some(_), _) => "not run".to_owned(),
            (None, 0) => "no verdict".to_owned(),
            (None, of) => format!("{held} of {of} held"),
        };
        let (id, question) = (escape(experiment.id), escape(experiment.question));
        let _ = writeln!(out, "<li><a href=\"#{id}\">{id}</a> {question} <small>{count}</small></li>");
    }
    out.push_str("</ul></nav>\n");
}

fn one(out: &mut String, finished: &Finished) {
    let Finished { experiment, outcome, took, .. } = finished;
    let _ = writeln!(
        out,
        "<section id=\"{id}\">\n<h2><code>{id}</code> {}</h2>\n<p>{}</p>",
        escape(experiment.question),
        prose(experiment.setup),
        id = escape(experiment.id),
    );
    let caveat = caveat(finished);
    if !caveat.is_empty() {
        let _ = writeln!(out, "<p class=\"caveat\">{}</p>", escape(caveat));
    }
    if let Some(why) = &outcome.skipped {
        let _ = writeln!(out, "<p class=\"caveat\">Not run: {}</p>\n</section>", escape(why));
        return;
    }
    lines(out, &outcome.lines);
    outcome.tables.iter().for_each(|it| table(out, it));
    outcome.plots.iter().for_each(|it| figure(out, it));
    for remark in &outcome.remarks {
        let _ = writeln!(out, "<p>{}</p>", prose(remark));
    }
    out.push_str("<ul class=\"verdicts\">\n");
    for verdict in &outcome.verdicts {
        let class = if verdict.held { "held" } else { "fell" };
        let (claim, seen) = (escape(&verdict.claim), escape(&verdict.judged()));
        let _ =
            writeln!(out, "<li class=\"{class}\"><b>{}</b> {claim} <small>({seen})</small></li>", word(verdict.held));
    }
    out.push_str("</ul>\n");
    published(out, finished);
    let _ = writeln!(out, "<p><b>For your numbers.</b> {}</p>", prose(experiment.meaning));
    let settings: Vec<_> = outcome.settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let _ = writeln!(
        out,
        "<details><summary>Settings</summary><p><code>{}</code></p><p>Took {:.0} s.</p></details>\n</section>",
        escape(&settings.join("; ")),
        took.as_secs_f64()
    );
}

fn lines(out: &mut String, lines: &[(String, String)]) {
    if lines.is_empty() {
        return;
    }
    out.push_str("<dl>\n");
    for (name, line) in lines {
        let line = if line.is_empty() {
            "nothing above the function".to_owned()
        } else {
            format!("<code>{}</code>", escape(line))
        };
        let _ = writeln!(out, "<dt>{}</dt><dd>{line}</dd>", escape(name));
    }
    out.push_str("</dl>\n");
}

fn table(out: &mut String, table: &Table) {
    let _ = writeln!(out, "<div class=\"wide\"><table><caption>{}</caption><thead><tr>", escape(&table.caption));
    for head in &table.heads {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape(head));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for cell in row {
            let class = if cell.is_number() { " class=\"n\"" } else { "" };
            let _ = write!(out, "<td{class}>{}</td>", escape(&cell.to_string()));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
}

fn figure(out: &mut String, it: &Plot) {
    let Some(svg) = plot::svg(it) else { return };
    let caption = escape(&it.caption);
    let svg = svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{caption}\" "), 1);
    let _ = writeln!(out, "<figure>{svg}<figcaption>{caption}<br>");
    for (at, series) in it.series.iter().enumerate() {
        let _ = write!(
            out,
            "<span class=\"key\"><i style=\"background:{}\"></i>{}</span> ",
            plot::colour(at),
            escape(&series.name)
        );
    }
    out.push_str("</figcaption></figure>\n");
}

fn published(out: &mut String, finished: &Finished) {
    if finished.outcome.comparisons.is_empty() {
        return;
    }
    out.push_str(
        "<div class=\"wide\"><table><caption>Beside the published figures</caption><thead><tr><th></th>\
                  <th>published</th><th>ours</th><th>difference</th></tr></thead><tbody>\n",
    );
    for it in &finished.outcome.comparisons {
        let cells = [&it.measure, &it.published.to_owned(), &it.ours, &it.difference]
            .map(|text| format!("<td>{}</td>", prose(text)));
        let _ = writeln!(out, "<tr>{}</tr>", cells.concat());
    }
    out.push_str("</tbody></table></div>\n");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Escaped, with what stands between backticks as code.
fn prose(text: &str) -> String {
    let escaped = escape(text);
    let parts: Vec<_> = escaped.split('`').collect();
    // An odd number of parts has every backtick in a pair.
    if parts.len().is_multiple_of(2) {
        return escaped;
    }
    let coded = parts
        .iter()
        .enumerate()
        .map(|(at, part)| if at.is_multiple_of(2) { (*part).to_owned() } else { format!("<code>{part}</code>") });
    coded.collect()
}

#[cfg(test)]
mod tests {
    use super::prose;

    #[test]
    fn code_in_prose_is_marked_and_markup_in_it_is_text() {
        assert_eq!(prose("a `b<c>` d"), "a <code>b&lt;c&gt;</code> d");
        assert_eq!(prose("an odd ` stays"), "an odd ` stays");
    }
}
