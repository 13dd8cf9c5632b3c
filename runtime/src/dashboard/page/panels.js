// The panels of one function. Each is made once and then told its figures; what is computed was computed by the service.

import { el, say, svg, table } from "./dom.js";
import { ago, count, length, mark, percent } from "./format.js";
import { between, hatched, heat, level, line, stack, timeChart } from "./charts.js";
import { GROUPS, groupOf } from "./wall.js";

const sum = (values) => values.reduce((all, it) => all + it, 0);
const when = (frame, frames, step) => `${(frames - 1 - frame) * step} s`;
const section = (id, title, ...children) => {
  const node = el("section", { class: "panel", "aria-labelledby": id }, el("h3", { id }, title), ...children);
  return node;
};

export function fates() {
  const chart = timeChart("How calls ended", "one class per call; the stack is all calls", 190);
  const share = el("input", { type: "checkbox", id: "share" });
  const node = section("p-fates", "Fates", el("label", { class: "switch", for: "share" }, share, " as shares"), chart.node);
  let last = null;
  const update = (data) => {
    last = data;
    const it = data.fates;
    node.hidden = !it;
    if (!it) return;
    const frames = it.frames.length;
    const totals = it.frames.map(sum);
    const relative = share.checked;
    const scale = (value, frame) => (relative ? (totals[frame] ? (100 * value) / totals[frame] : 0) : value / data.step);
    const used = it.classes.map((_, at) => at).filter((at) => it.frames.some((frame) => frame[at] > 0));
    const parts = (frame) => used.filter((at) => it.frames[frame][at] > 0)
      .map((at) => `${it.classes[at]} ${count(scale(it.frames[frame][at], frame))}${relative ? " %" : "/s"}`).join(", ");
    const groups = [...new Set(used.map(groupOf))];
    const all = sum(it.total);
    chart.update({
      frames, count: data.frames, step: data.step,
      most: relative ? 100 : Math.max(1 / data.step, ...totals.map((it) => it / data.step)),
      unit: (value) => (relative ? `${value} %` : count(value)),
      paint: (layer, geometry) => stack(layer, geometry,
        used.map((at) => ({ kind: `${groupOf(at)} c${at}`, values: it.frames.map((frame, index) => scale(frame[at], index)) })), frames),
      say: (frame) => parts(frame) || "no calls",
      summary: `How ${count(all)} calls ended since the process started: ${it.classes.map((name, at) => [name, it.total[at]]).filter(([, n]) => n > 0).map(([name, n]) => `${name} ${n}`).join(", ")}`,
      keys: groups.map((kind) => [`area ${kind}`, GROUPS[kind]]),
      table: () => ({ head: ["ago", ...used.map((at) => it.classes[at])], rows: it.frames.map((frame, at) => [when(at, frames, data.step), ...used.map((index) => frame[index])]).reverse() }),
    });
  };
  share.addEventListener("change", () => last && update(last));
  return { node, update };
}

export function latency() {
  const chart = timeChart("How long attempts run", "logarithmic; each shade is a band", 230);
  const node = section("p-latency", "Latency bands", chart.node);
  return { node, update(data) {
    const it = data.latency;
    node.hidden = !it;
    if (!it) return;
    const frames = it.heat.length;
    const top = Math.max(it.bounds.at(-1), it.timeout ? it.timeout * 1.6 : 0, ...it.beyond.map(({ length: known }) => (known.high_ms ?? known.ms) * 1.1));
    const bounds = top > it.bounds.at(-1) ? [...it.bounds, top] : it.bounds;
    const names = it.shares.map((share) => `p${Number((share * 100).toFixed(1))}`);
    const words = (frame) => names.map((name, at) => `${name} ${it.quantiles[frame][at] === null ? "not observed" : length(it.quantiles[frame][at])}`).join(", ");
    const seen = it.beyond.map(({ share, length: known }) =>
      `${names[it.shares.indexOf(share)]} of the last hour ${length(known.ms)}, between ${length(known.low_ms)} and ${known.high_ms === null ? "unknown" : length(known.high_ms)}`);
    const any = (frame) => sum(it.heat[frame]) + sum(it.cut[frame]) > 0;
    chart.update({
      frames, count: data.frames, step: data.step, bounds,
      unit: mark,
      paint: (layer, geometry, under) => {
        heat(under, geometry, bounds, it.heat, "heat");
        heat(under, geometry, bounds, it.cut, "cut");
        if (it.timeout && !it.observes) hatched(layer, geometry, it.timeout, bounds.at(-1));
        it.beyond.forEach(({ share, length: known }) => {
          between(layer, geometry, Math.max(known.low_ms, it.timeout), known.high_ms ?? bounds.at(-1));
          level(layer, geometry, known.ms, `q${it.shares.indexOf(share)}`);
        });
        it.shares.forEach((_, at) => line(layer, geometry, it.quantiles.map((frame) => frame[at]), `q${at}`));
        if (it.timeout) level(layer, geometry, it.timeout, "timeout");
      },
      say: (frame) => (any(frame) ? words(frame) : "no attempt ended"),
      summary: `Latency of attempts over time${it.timeout ? `, with the timeout of ${length(it.timeout)}; what lies beyond it is ${it.beyond.length ? `known from attempts that ran on: ${seen.join(", ")}` : "not observed"}` : ""}`,
      keys: [["heat", "completed"], ["cut", "cut off, at the length they had run"], ...names.map((name, at) => [`line q${at}`, name]),
        ...(it.timeout ? [["line timeout", `timeout ${length(it.timeout)}`], ["hatched", it.beyond.length ? "cut off here; what is drawn in it ran on" : "not observed"]] : []),
        ...it.beyond.map(({ share }, at) => [`line q${it.shares.indexOf(share)}`, seen[at]])],
      table: () => ({ head: ["ago", ...names], rows: it.quantiles.map((frame, at) => [when(at, frames, data.step), ...frame.map((value) => (value === null ? "not observed" : length(value)))]).filter((_, at) => any(at)).reverse() }),
    });
  } };
}

export function compartment() {
  const chart = timeChart("Running and waiting", "the most at once in each interval", 170);
  const waits = timeChart("Wait for a slot", "however it ended", 120);
  const facts = el("p", { class: "facts" });
  const heading = el("span", {}, "Bulkhead");
  const node = section("p-compartment", heading, facts, chart.node, waits.node);
  return { node, update(data) {
    const it = data.compartment;
    node.hidden = !it;
    if (!it) return;
    say(heading, `${it.threads ? "Threads" : "Bulkhead"} ${it.name}`);
    const frames = it.running.length;
    const most = Math.max(...it.slots, ...it.running.map((value, at) => value + it.queued[at]), 1);
    const fates = it.wait_fates.filter((fate) => fate.count > 0).map((fate) => `${fate.count} ${fate.fate}`).join(", ");
    say(facts, [
      it.now ? `${it.now.running} of ${it.now.slots} run, ${it.now.queued} of ${it.queue} wait.` : "",
      `At its limit in ${percent(it.full_share)} of the intervals.`,
      fates ? `Waits that ended in the last hour: ${fates}; ${count(it.at_once ?? 0)} entered at once.` : "",
      it.sampled ? "Sampled once a second." : "",
      it.shared_by.length > 1 ? `Shared by ${it.shared_by.join(", ")}.` : `Only ${it.shared_by[0]} has it.`,
    ].filter(Boolean).join(" "));
    chart.update({
      frames, count: data.frames, step: data.step, most, unit: count,
      paint: (layer, geometry) => {
        stack(layer, geometry, [{ kind: "good", values: it.running }, { kind: "queued", values: it.queued }], frames);
        line(layer, geometry, it.slots, "timeout");
      },
      say: (frame) => `at most ${it.running[frame]} of ${it.slots[frame]} ran, ${it.queued[frame]} waited`,
      summary: `The most that ran and waited at once in ${it.name}, against ${it.slots.at(-1)} slots`,
      keys: [["area good", "running"], ["area queued", "waiting"], ["line timeout", "slots"]],
      table: () => ({ head: ["ago", "running at most", "waiting at most", "slots"], rows: it.running.map((value, at) => [when(at, frames, data.step), value, it.queued[at], it.slots[at]]).reverse() }),
    });
    const known = it.waits?.flat().filter((value) => value !== null) ?? [];
    waits.node.hidden = known.length === 0;
    if (known.length === 0) return;
    const bounds = [Math.max(0.01, Math.min(...known) / 2), Math.max(...known) * 1.5];
    waits.update({
      frames: it.waits.length, count: data.frames, step: data.step, bounds, unit: mark,
      paint: (layer, geometry) => [0, 1].forEach((at) => line(layer, geometry, it.waits.map((frame) => frame[at]), at ? "q2" : "q0")),
      say: (frame) => (it.waits[frame][0] === null ? "nobody's wait ended" : `p50 ${length(it.waits[frame][0])}, p99 ${length(it.waits[frame][1])}`),
      summary: "How long callers waited for a slot",
      keys: [["line q0", "p50"], ["line q2", "p99"]],
      table: () => ({ head: ["ago", "p50", "p99"], rows: it.waits.map((frame, at) => [when(at, it.waits.length, data.step), ...frame.map(length)]).filter((_, at) => it.waits[at][0] !== null).reverse() }),
    });
  } };
}

export function retry() {
  const chart = timeChart("Attempts a call", "1 is no amplification", 130);
  const ladder = el("div");
  const facts = el("p", { class: "facts" });
  const node = section("p-retry", "Retries", facts, chart.node, el("h4", {}, "Success ladder, last hour"), ladder);
  return { node, update(data) {
    const it = data.retry;
    node.hidden = !it || (it.declared === null && it.hedges === 0);
    if (node.hidden) return;
    const frames = it.factor.length;
    const known = it.factor.filter((value) => value !== null);
    const stops = it.stops.map((stop) => `${stop.reason.replaceAll("_", " ")} ${count(stop.count)}`).join(", ");
    say(facts, `${count(it.attempts)} attempts for ${count(it.calls)} calls in the last hour${it.hedges ? `, ${count(it.hedges)} of them hedges` : ""}.${stops ? ` Not tried again: ${stops}.` : ""}`);
    chart.update({
      frames, count: data.frames, step: data.step, most: Math.max(1.2, ...known), unit: (value) => `× ${value.toFixed(1)}`,
      paint: (layer, geometry) => {
        line(layer, geometry, it.factor.map(() => 1), "rail");
        line(layer, geometry, it.factor, "q3");
      },
      say: (frame) => (it.factor[frame] === null ? "no calls" : `× ${it.factor[frame].toFixed(2)}, ${it.retries[frame]} retries`),
      summary: "Attempts for each call over time",
      keys: [["line q3", "attempts a call"], ["line rail", "1"]],
      table: () => ({ head: ["ago", "attempts a call", "retries"], rows: it.factor.map((value, at) => [when(at, frames, data.step), value?.toFixed(2) ?? "no calls", it.retries[at]]).reverse() }),
    });
    ladder.replaceChildren(table("At which attempt calls had their value",
      ["attempt", "begun", "had its value", "share"],
      it.ladder.map((rung) => [rung.attempt, count(rung.begun), count(rung.answered), rung.begun ? percent(rung.answered / rung.begun) : "none"])));
  } };
}

export function breaker(act) {
  const lane = timeChart("State", "closed, half-open, open", 90);
  const facts = el("p", { class: "facts" });
  const changes = el("ol", { class: "changes" });
  const controls = el("p", { class: "controls" });
  const heading = el("span", {}, "Breaker");
  const node = section("p-breaker", heading, facts, lane.node, el("h4", {}, "Changes, with their cause"), changes, controls);
  const height = { closed: 0.15, half_open: 1, open: 2, isolated: 2 };
  let name = null;
  if (act) {
    const answer = el("output", { role: "status" });
    const press = (what) => async () => say(answer, await act(name, what));
    controls.append(el("button", { type: "button", onclick: press("isolate") }, "Hold open"), " ",
      el("button", { type: "button", onclick: press("reset") }, "Close and forget"), " ", answer);
  }
  return { node, update(data) {
    const it = data.breaker;
    node.hidden = !it;
    if (!it) return;
    name = it.name;
    say(heading, `Breaker ${it.name}`);
    say(facts, `It is ${it.state.replace("_", "-")}${it.state === "closed" ? `: ${it.failures} of ${it.results} results in its window failed, ${it.slow} were slow` : ""}. It has opened ${it.opened} times and was not closed for ${length(it.not_closed * 1000)} in all.`);
    lane.update({
      frames: it.states.length, count: data.frames, step: data.step, most: 2, unit: (value) => ["closed", "half-open", "open"][Math.round(value)] ?? "",
      paint: (layer, geometry) => {
        for (const state of Object.keys(height)) {
          stack(layer, geometry, [{ kind: `state ${state}`, values: it.states.map((now) => (now === state ? height[state] : 0)) }], it.states.length);
        }
      },
      say: (frame) => it.states[frame].replace("_", "-"),
      summary: `The states of breaker ${it.name} over time, now ${it.state.replace("_", "-")}`,
      keys: [["area state closed", "closed"], ["area state half_open", "half-open"], ["area state open", "open, or held open"]],
      table: () => ({ head: ["ago", "state"], rows: it.states.map((state, at) => [when(at, it.states.length, data.step), state.replace("_", "-")]).reverse() }),
    });
    changes.replaceChildren(...(it.changes.length ? it.changes.map((change) => el("li", {}, el("span", { class: "when" }, ago(change.ago)), " ", change.text)) : [el("li", { class: "quiet" }, "none")]));
  } };
}

export function deadline() {
  const bar = el("div");
  const facts = el("p", { class: "facts" });
  const entry = el("div");
  const node = section("p-deadline", "Where the time goes", facts, bar, entry);
  return { node, update(data) {
    const it = data.deadline;
    node.hidden = !it;
    if (!it) return;
    const spent = it.waiting + it.answered + it.cut_off;
    const whole = Math.max(it.deadline ?? 0, spent, 0.001);
    const parts = [["queued", "waiting for a slot", it.waiting], ["good", "attempts that answered", it.answered], ["failed", "attempts that were cut off", it.cut_off],
      ...(it.deadline ? [["left", "left over", Math.max(0, it.deadline - spent)]] : [])].filter(([, , ms]) => ms > 0);
    let from = 0;
    const text = parts.map(([, name, ms]) => `${name} ${length(ms)}`).join(", ");
    const drawing = svg("svg", { class: "fatebar tall", viewBox: "0 0 600 26", preserveAspectRatio: "none", role: "img", "aria-label": text });
    for (const [kind, , ms] of parts) {
      drawing.append(svg("rect", { class: `area ${kind}`, x: from, y: 0, width: (ms / whole) * 600, height: 26 }));
      from += (ms / whole) * 600;
    }
    bar.replaceChildren(drawing, el("ul", { class: "legend" }, parts.map(([kind, name, ms]) => el("li", {}, el("span", { class: `key area ${kind}`, "aria-hidden": "true" }), `${name} ${length(ms)}`))));
    say(facts, [
      `On average of the last hour, a call spends ${length(spent)}, pauses between attempts not counted.`,
      it.worst === null ? "Nothing but a deadline ends it." : `By its settings it can take ${length(it.worst)}${it.deadline ? `, and its deadline is ${length(it.deadline)}` : ""}.`,
      it.too_late ? `${count(it.too_late)} calls (${percent(it.too_late_share)}) came or waited until too little time was left.` : "",
    ].filter(Boolean).join(" "));
    entry.replaceChildren(...(it.with_deadline ? [table("How much of their deadline was used when calls came in",
      ["used", "calls"], it.used_at_entry.map((value, at) => [`${at * 10} to ${at * 10 + 10} %`, count(value)]).filter((_, at) => it.used_at_entry[at] > 0))] : []));
  } };
}

export function keys() {
  const body = el("div");
  const facts = el("p", { class: "facts" });
  const node = section("p-keys", "Keys", facts, body);
  return { node, update(data) {
    const it = data.keys;
    node.hidden = !it;
    if (!it) return;
    say(facts, `${count(it.kept)} keys are kept, ${count(it.idle)} of them idle. Counts are those of a sketch of fixed size: at most so high, and at least so much less their error.`);
    const list = (caption, counts) => table(caption, ["key", "at most", "error"], counts.map((one) => [one.key, count(one.count), one.error ? `− ${count(one.error)}` : "exact"]));
    body.replaceChildren(list("Most calls", it.busiest), ...(it.refused.length ? [list("Most refused", it.refused)] : []));
  } };
}
