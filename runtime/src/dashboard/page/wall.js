// The first screen: one row per function, those first that hurt most users now.

import { el, say, svg } from "./dom.js";
import { ago, count, length, percent } from "./format.js";
import { spark } from "./charts.js";
import { groups } from "./groups.js";

const HEADS = [
  ["function", "Function"], ["harm", "Harmed a second"], ["fates", "Last minute"], ["rate", "Calls a second"],
  ["latency", "p50 to p99.9"], ["slots", "Slots"], ["factor", "Attempts a call"], ["breaker", "Breaker"], ["deadline", "Deadline used"],
];

export const groupOf = (at) => (at === 0 ? "good" : at === 1 ? "retried" : at < 10 ? "fallback" : at < 18 ? "failed" : "dropped");
export const GROUPS = { good: "ok", retried: "ok after a retry", fallback: "answered by the fallback", failed: "failed", dropped: "dropped by the caller" };

export function wall(base) {
  const search = el("input", { type: "search", id: "search", placeholder: "name, module or bulkhead", autocomplete: "off" });
  const totals = el("p", { class: "totals" });
  const rows = new Map();
  const named = el("div", { class: "chips" });
  const changes = el("ol", { class: "changes" });
  const findings = el("section", { "aria-labelledby": "findings", hidden: true }, el("h2", { id: "findings" }, "Findings of the check"), el("ol", { class: "changes" }));
  ask(base, findings);
  const empty = el("p", { class: "empty", hidden: true }, "No function's name, module or bulkhead has that in it.");
  const table = el("table", { class: "wall", role: "table" },
    el("caption", { class: "quiet" }, "Every annotated function, those first that harmed most callers in the last ten seconds"),
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, HEADS.map(([kind, text]) => el("th", { scope: "col", role: "columnheader", class: kind }, text)))));
  let last = null;
  const grouping = groups(table, HEADS.length, () => last && arrange());
  const node = el("div", {},
    el("section", { "aria-labelledby": "functions" },
      el("div", { class: "bar" }, el("h2", { id: "functions" }, "Functions"), totals,
        grouping.node, el("span", {}, el("label", { for: "search" }, "Find "), search)),
      table, empty),
    el("section", { "aria-labelledby": "named" }, el("h2", { id: "named" }, "Bulkheads and breakers"), named),
    el("section", { "aria-labelledby": "changes" }, el("h2", { id: "changes" }, "Changes"), changes), findings);

  const filter = () => {
    const wanted = search.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows.values()) {
      row.node.hidden = wanted !== "" && !row.words.includes(wanted);
      if (!row.node.hidden) shown += 1;
    }
    empty.hidden = shown > 0;
    grouping.tidy();
  };
  const arrange = () => {
    grouping.arrange(last.sites, (site) => rows.get(site.id).node);
    filter();
  };
  search.addEventListener("input", filter);

  return {
    node,
    title: "watertight",
    update(data) {
      say(totals, `${count(data.calls_per_second)} calls a second, ${count(data.harmed_per_second)} of them harmed`);
      last = data;
      for (const site of data.sites) {
        if (!rows.has(site.id)) rows.set(site.id, makeRow());
        rows.get(site.id).update(site, data.classes);
      }
      arrange();
      named.replaceChildren(...data.bulkheads.map(bulkheadChip), ...data.breakers.map(breakerChip));
      changes.replaceChildren(...(data.changes.length ? data.changes.map((it) => el("li", {}, el("span", { class: "when" }, ago(it.ago)), " ", it.text))
        : [el("li", { class: "quiet" }, "nothing has changed since the dashboard was opened")]));
    },
  };
}

/// What is wrong with the settings, asked once: it changes seldom.
async function ask(base, findings) {
  const answer = await fetch(`${base}api/catalogue`).catch(() => null);
  if (!answer?.ok) return;
  const { check } = await answer.json();
  findings.hidden = check.findings.length === 0;
  findings.querySelector("ol").replaceChildren(...check.findings.map((finding) => el("li", {}, el("span", { class: "chip" }, finding.problem.replaceAll("_", " ")), " ", finding.text)));
}

function bulkheadChip(it) {
  const full = it.peak >= it.slots;
  return el("span", { class: `chip ${full ? "alarm" : ""}` }, `${it.name}: ${it.running} of ${it.slots} run, ${it.queued} wait${full ? ", full" : ""}`);
}

function breakerChip(it) {
  return el("span", { class: `chip breaker ${it.state}` }, `breaker ${it.name}: ${it.state.replace("_", "-")}`);
}

function makeRow() {
  const link = el("a", {});
  const source = el("span", { class: "source" });
  const cells = Object.fromEntries(HEADS.slice(1).map(([kind, text]) => [kind, el("td", { role: "cell", class: kind, "data-head": text })]));
  const node = el("tr", { role: "row" }, el("th", { scope: "row", role: "rowheader", class: "function" }, link, " ", source), ...Object.values(cells));
  const row = { node, words: "" };
  row.update = (site, classes) => {
    row.words = `${site.name} ${site.module} ${site.saturation?.name ?? ""}`.toLowerCase();
    link.setAttribute("href", `#/f/${encodeURIComponent(site.id)}`);
    say(link, site.name);
    say(source, `${site.source}${site.observing ? ", observes" : ""}`);
    node.classList.toggle("harmed", site.harmed_per_second > 0);
    say(cells.harm, site.harmed_per_second > 0 ? `${count(site.harmed_per_second)} ${site.reason ?? ""}` : site.total ? "0" : "never called");
    cells.fates.replaceChildren(fateBar(site.minute, classes));
    const failing = site.minute.some((value, at) => value > 0 && groupOf(at) === "failed");
    cells.rate.replaceChildren(...(site.rate ? [el("span", { class: "stacked" }, spark(site.rate, site.harm, failing ? "failed" : "fallback"), el("span", { class: "small" }, `${count(site.calls_per_second)}/s`))] : []));
    cells.latency.replaceChildren(latencyBand(site.latency));
    cells.slots.replaceChildren(saturation(site.saturation));
    say(cells.factor, site.factor === null ? "" : `× ${site.factor.toFixed(2)}`);
    cells.breaker.replaceChildren(site.breaker ? el("span", { class: `chip breaker ${site.breaker.state}` }, site.breaker.state.replace("_", "-")) : "");
    say(cells.deadline, site.deadline_used === null ? "" : site.deadline_used < 0.1 ? "under 10 %" : percent(site.deadline_used));
  };
  return row;
}

function fateBar(outcomes, classes) {
  const total = outcomes.reduce((sum, it) => sum + it, 0);
  if (total === 0) return document.createTextNode("");
  const groups = {};
  outcomes.forEach((value, at) => { groups[groupOf(at)] = (groups[groupOf(at)] ?? 0) + value; });
  const parts = Object.entries(groups).filter(([, value]) => value > 0);
  const text = parts.map(([kind, value]) => `${GROUPS[kind]} ${percent(value / total)}`).join(", ");
  const drawing = svg("svg", { class: "fatebar", viewBox: "0 0 120 14", preserveAspectRatio: "none", role: "img", "aria-label": text }, svg("title", {}, text));
  let from = 0;
  for (const [kind, value] of parts) {
    const wide = (value / total) * 120;
    drawing.append(svg("rect", { class: `area ${kind}`, x: from, y: 0, width: wide, height: 14 }));
    from += wide;
  }
  const most = parts.reduce((one, other) => (other[1] > one[1] ? other : one));
  return el("span", { class: "stacked" }, drawing, el("span", { class: "small" }, `${percent(most[1] / total)} ${GROUPS[most[0]]}`));
}

// A logarithmic scale from 0.1 ms to 100 s.
const place = (ms) => Math.max(0, Math.min(120, ((Math.log10(ms) + 1) / 6) * 120));

function latencyBand(latency) {
  const seen = latency?.quantiles;
  if (!seen) return document.createTextNode("");
  const [p50, , p99, p999] = seen;
  const { timeout } = latency;
  const end = p999 ?? timeout ?? p99 ?? p50;
  const text = `p50 ${length(p50)}, p99 ${length(p99)}, p99.9 ${length(p999)}${timeout ? `, timeout ${length(timeout)}` : ""}`;
  const drawing = svg("svg", { class: "band", viewBox: "0 0 120 14", role: "img", "aria-label": text }, svg("title", {}, text),
    svg("line", { class: "rail", x1: 0, x2: 120, y1: 7, y2: 7 }));
  if (p50 !== null && end !== null) {
    drawing.append(svg("rect", { class: "span", x: place(p50), y: 4, width: Math.max(2, place(end) - place(p50)), height: 6 }));
  }
  if (timeout) drawing.append(svg("line", { class: "timeout", x1: place(timeout), x2: place(timeout), y1: 0, y2: 14 }));
  return el("span", { class: "stacked" }, drawing, el("span", { class: "small" }, p99 === null ? `p99 beyond ${length(timeout)}` : `p99 ${length(p99)}`));
}

function saturation(it) {
  if (!it) return document.createTextNode("");
  const share = Math.min(1, it.peak / Math.max(1, it.slots));
  const text = `${it.peak} of ${it.slots}${it.keyed ? " over all keys" : ""}${it.queued ? `, ${it.queued} wait` : ""}`;
  return el("span", { class: "stacked" },
    svg("svg", { class: "fatebar", viewBox: "0 0 120 14", preserveAspectRatio: "none", role: "img", "aria-label": `${it.name}: ${text}` }, svg("title", {}, `${it.name}: ${text}`),
      svg("rect", { class: "rail", x: 0, y: 0, width: 120, height: 14 }),
      svg("rect", { class: share >= 1 ? "area failed" : "area good", x: 0, y: 0, width: share * 120, height: 14 })),
    el("span", { class: "small" }, text));
}
