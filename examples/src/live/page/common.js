// What both pages need: elements made from text alone, figures as people read them, and the stream.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
export const by = (id) => document.getElementById(id);

/// Replaces a text, unless it is the same already: a screen reader speaks only what has changed.
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export const count = (value) => value.toLocaleString("en-US");
export const share = (value) => (value === null || value === undefined ? "-" : value >= 100 ? "100 %" : `${value.toFixed(1)} %`);

export function length(ms) {
  if (ms === null || ms === undefined) return "-";
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

/// Lines from 0 to a top, left to right; each is a class and its points. What it shows is said in words, too.
export function lines(says, right, top, all) {
  const at = ([x, y]) => `${((x / right) * 300).toFixed(1)},${(60 - (Math.min(y, top) / top) * 56).toFixed(1)}`;
  return svg("svg", { class: "spark", viewBox: "0 0 300 64", preserveAspectRatio: "none", role: "img", "aria-label": says },
    svg("line", { class: "ground", x1: 0, x2: 300, y1: 60, y2: 60 }),
    svg("line", { class: "ground", x1: 0, x2: 300, y1: 4, y2: 4 }),
    all.map(([kind, points]) => svg("polyline", { class: `line ${kind}`, points: points.map(at).join(" ") })));
}

export const key = (kind, text) => el("span", { class: "key" },
  svg("svg", { viewBox: "0 0 26 6", "aria-hidden": "true" }, svg("line", { class: `line ${kind}`, x1: 0, x2: 26, y1: 3, y2: 3, "stroke-width": 3 })), text);

export function table(caption, head, rows) {
  return el("table", {}, caption === null ? null : el("caption", {}, caption),
    el("thead", {}, el("tr", {}, head.map((it) => el("th", { scope: "col" }, it)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, at) =>
      el(at === 0 ? "th" : "td", at === 0 ? { scope: "row" } : {}, `${cell}`))))));
}

/// Shows the first state, then each that comes.
export function follow(show) {
  const live = by("live");
  const take = (state) => {
    say(by("headline"), state.headline);
    by("headline").classList.toggle("alarm", state.alarm);
    show(state);
  };
  take(JSON.parse(by("first").textContent));
  const stream = new EventSource("api/stream");
  stream.addEventListener("open", () => say(live, "live, four times a second"));
  stream.addEventListener("state", (event) => take(JSON.parse(event.data)));
  stream.addEventListener("error", () => say(live, stream.readyState === EventSource.CLOSED
    ? "not live: as many watch as may" : "the process has ended or cannot be reached; these are its last figures"));
  return take;
}
