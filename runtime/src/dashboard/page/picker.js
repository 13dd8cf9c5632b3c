// What another timeout would do: the share of attempts that take longer, on logarithmic scales, and a line to move.

import { el, say, svg } from "./dom.js";
import { count, length, mark, percent, written } from "./format.js";
import { figure } from "./charts.js";
import { compare } from "./compare.js";

const PAD = { left: 62, right: 12, top: 10, bottom: 22 };

/// `attempt(text)` puts a timeout in force for ten minutes; null on a page that only reads.
export function picker(attempt) {
  const it = figure("Share of attempts that take longer", "both scales logarithmic, with the interval that holds the truth nineteen times of twenty", 230);
  it.under.remove();
  const range = el("input", { type: "range", id: "timeout", min: 0, max: 0, step: 1 });
  const chosen = el("output", { for: "timeout" });
  const says = el("dl", { class: "says" });
  const advice = el("p", { class: "facts" });
  const attribute = el("code");
  const copied = el("span", { role: "status" });
  const copy = el("button", { type: "button" }, "Copy");
  const compared = compare(() => draw());
  const node = el("section", { class: "panel", "aria-labelledby": "p-picker" }, el("h3", { id: "p-picker" }, "Timeout picker"),
    advice, compared.node, it.node, el("p", { class: "slider" }, el("label", { for: "timeout" }, "Timeout "), range, " ", chosen), says,
    el("p", {}, "As an attribute: ", attribute, " ", copy, " ", copied, " ",
      attempt ? el("button", { type: "button", "data-act": "try", onclick: () => attempt(written(wanted)) }, "Try for 10 min") : null));
  let data = null;
  let wanted = null;
  let keyed = false;

  const choose = (ms) => {
    wanted = ms;
    draw();
  };
  range.addEventListener("input", () => choose(data.candidates[Number(range.value)].ms));
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(attribute.textContent);
      say(copied, "copied");
    } catch {
      say(copied, "select it and copy it by hand");
    }
  });
  it.drawing.addEventListener("pointerdown", (event) => it.drawing.setPointerCapture(event.pointerId));
  it.drawing.addEventListener("pointermove", (event) => {
    if (event.buttons !== 1 || !data) return;
    const box = it.drawing.getBoundingClientRect();
    const ms = it.back(event.clientX - box.left);
    choose(data.candidates.reduce((one, other) => (Math.abs(Math.log(other.ms / ms)) < Math.abs(Math.log(one.ms / ms)) ? other : one)).ms);
  });
  it.drawing.removeAttribute("tabindex");
  new ResizeObserver(() => draw()).observe(it.stage);

  function draw() {
    if (!data) return;
    const width = Math.floor(it.stage.clientWidth);
    if (width < 50) return;
    const at = Math.max(0, data.candidates.findIndex((one) => one.ms === wanted));
    const now = data.candidates[at];
    range.max = data.candidates.length - 1;
    range.value = at;
    range.setAttribute("aria-valuetext", length(now.ms));
    say(chosen, length(now.ms));
    curve(width, now);
    read(now, at);
  }

  function curve(width, now) {
    const inner = { width: width - PAD.left - PAD.right, height: it.height - PAD.top - PAD.bottom };
    const lows = data.curve.map((point) => point[2]).filter((low) => low > 0);
    const least = Math.max(1e-6, Math.min(0.001, ...lows) / 2);
    const from = Math.min(data.curve[0][0], data.advice.timeout_ms ?? Infinity) * 0.4;
    const to = Math.max(data.candidates.at(-1).ms, data.watched_until);
    const x = (ms) => PAD.left + (Math.log(Math.max(ms, from) / from) / Math.log(to / from)) * inner.width;
    const y = (share) => PAD.top + (Math.log(Math.max(share, least)) / Math.log(least)) * inner.height;
    it.back = (px) => from * Math.exp(((px - PAD.left) / inner.width) * Math.log(to / from));
    it.drawing.setAttribute("width", width);
    it.drawing.setAttribute("viewBox", `0 0 ${width} ${it.height}`);
    const steps = (column, points = data.curve) => points.map((point, at) => `${at ? "L" : "M"}${x(point[0]).toFixed(1)} ${y(point[column]).toFixed(1)}`).join("");
    const back = [...data.curve].reverse().map((point) => `L${x(point[0]).toFixed(1)} ${y(point[2]).toFixed(1)}`).join("");
    const axis = svg("g", { class: "axis", "aria-hidden": "true" });
    for (let share = 1; share >= least; share /= 10) {
      axis.append(svg("line", { x1: PAD.left, x2: width - PAD.right, y1: y(share), y2: y(share) }), svg("text", { x: PAD.left - 6, y: y(share) + 4, "text-anchor": "end" }, percent(share)));
    }
    for (let ms = 10 ** Math.ceil(Math.log10(from)); ms <= to; ms *= 10) {
      axis.append(svg("text", { x: x(ms), y: it.height - 5, "text-anchor": "middle" }, mark(ms)));
    }
    const beyond = x(data.watched_until);
    it.drawing.replaceChildren(
      svg("defs", {}, svg("pattern", { id: "beyond", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svg("line", { class: "hatch", x1: 0, x2: 0, y1: 0, y2: 7 }))),
      axis,
      svg("rect", { x: beyond, y: PAD.top, width: Math.max(0, width - PAD.right - beyond), height: inner.height, fill: "url(#beyond)" }),
      svg("path", { class: "interval", d: `${steps(3)}${back}Z` }),
      svg("path", { class: "line q3", d: `M${PAD.left} ${y(1)}${steps(1).replace("M", "L")}` }),
      ...compared.lines((points) => `M${PAD.left} ${y(1)}${steps(1, points).replace("M", "L")}`),
      ...(data.advice.timeout_ms ? [svg("line", { class: "line timeout", x1: x(data.advice.timeout_ms), x2: x(data.advice.timeout_ms), y1: PAD.top, y2: PAD.top + inner.height })] : []),
      svg("line", { class: "line chosen", x1: x(now.ms), x2: x(now.ms), y1: PAD.top, y2: PAD.top + inner.height }));
    it.drawing.setAttribute("aria-label", `Share of attempts that take longer than a length, known up to ${length(data.watched_until)}`);
    it.legend.replaceChildren(...[["line q3", "share that takes longer"], ["line timeout", "timeout in force"], ["line chosen", "chosen"], ...compared.legend(), ["hatched", `not observed: nobody ran longer than ${length(data.watched_until)}`]]
      .map(([kind, text]) => el("li", {}, el("span", { class: `key ${kind}`, "aria-hidden": "true" }), text)));
    say(it.readout, `From ${count(data.count)} attempts, ${count(data.cut_off)} of them cut off${on(data.observed)}.`);
    it.state = { summary: "Share of attempts that take longer", table: () => ({
      head: ["timeout", "cuts off", "between", "slots", "at worst", ...compared.heads()],
      rows: data.candidates.map((one, at) => [length(one.ms), percent(one.cut?.share), one.cut ? `${percent(one.cut.low)} and ${percent(one.cut.high)}` : "not observed", one.slots, length(one.worst), ...compared.cells(at)]),
    }) };
  }

  function read(now, at) {
    const lines = [
      ["cuts off", now.cut ? `${percent(now.cut.share)} of attempts (${percent(now.cut.low)} to ${percent(now.cut.high)}), ${count(now.per_hour)} an hour at ${count(data.rate)} attempts a second` : "not observed: nobody was watched for so long"],
      ["attempts a call", now.attempts === null ? "not observed" : data.retries_of_timeouts ? `${now.attempts.toFixed(3)}, since timeouts are tried again up to ${data.retries_of_timeouts} times` : "1, since timeouts are not tried again"],
      ["calls that fail", now.fails_if_not === null ? "not observed" : data.retries_of_timeouts ? `${percent(now.fails_if_independent)} if attempts fail independently, ${percent(now.fails_if_not)} if what is slow stays slow` : percent(now.fails_if_not)],
      ["at worst", now.worst === null ? "no end" : `${length(now.worst)} a call${now.deadline ? `, and its deadline is ${length(now.deadline)}` : ""}`],
      ["slots", `${count(now.occupied)} occupied on average (Little's law), if ${count(data.demand)} attempts a second got one, as many as asked${keyed ? ", over all keys" : ""}; with ${now.slots}, one in twenty waits at most`],
      ...compared.says(at),
    ];
    says.replaceChildren(...lines.flatMap(([term, text]) => [el("dt", {}, term), el("dd", {}, text)]));
    say(attribute, `timeout = "${written(now.ms)}"`);
  }

  return { node, update(all) {
    data = all.picker;
    keyed = Boolean(all.compartment?.sampled && !all.compartment.threads);
    node.hidden = !data || data.candidates.length === 0;
    if (node.hidden) return;
    const known = data.candidates.some((one) => one.ms === wanted);
    if (!known) wanted = data.advice.advised_timeout ? nearest(data) : data.advice.timeout_ms ?? data.candidates[Math.floor(data.candidates.length / 2)].ms;
    say(advice, advised(data.advice));
    compared.update(data.compare);
    draw();
    if (it.details.open) it.details.dispatchEvent(new Event("toggle"));
  } };
}

/// Of those that were cut off, the ones that ran on.
const on = (observed) => {
  if (!observed) return "";
  const full = observed.fates.no_room ? `, ${count(observed.fates.no_room)} found no place` : "";
  return `; ${count(observed.watched)} of these ran on and were observed${full}${observed.running ? `, ${observed.running} run on now` : ""}`;
};

const nearest = (data) => {
  const { ms } = data.advice.advised_timeout;
  return (data.candidates.find((one) => one.ms >= ms) ?? data.candidates.at(-1)).ms;
};

function advised(advice) {
  const bands = advice.bands.map((band) => `${percent(band.share)} about ${length(band.peak_ms)}`).join(", ");
  const seen = bands ? `Answers come in ${advice.bands.length === 1 ? "one band" : `${advice.bands.length} bands`}: ${bands}. ` : "";
  const now = advice.timeout_ms && advice.cut_by_timeout ? `The timeout of ${length(advice.timeout_ms)} cuts off ${percent(advice.cut_by_timeout.share)}. ` : "";
  if (advice.advised_timeout) {
    const { ms, low_ms: low, high_ms: high } = advice.advised_timeout;
    return `${seen}${now}A timeout of ${length(ms)} would cut off one in a thousand (between ${length(low)} and ${high === null ? "unknown" : length(high)}).`;
  }
  if (advice.unknown?.watched_until_ms) {
    return `${seen}${now}No timeout can be advised: ${percent(advice.unknown.running)} run longer than ${length(advice.unknown.watched_until_ms)}, and nobody has seen how long. ${advice.observed
      ? `${count(advice.observed)} ran on to be observed, and ${advice.unknown.needed} are needed.` : 'The key observe = "2%" would show it.'}`;
  }
  return `${seen}${now}Too few attempts for an advice.`;
}
