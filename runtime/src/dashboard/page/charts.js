// Charts over time that share one cursor, and the curve of the picker. Each is a figure with a sentence for those who do
// not see it, can be walked through with the arrow keys, and has its numbers in a table below.

import { el, svg, say, table } from "./dom.js";

const PAD = { left: 60, right: 10, top: 8, bottom: 20 };
const cursor = new EventTarget();
let patterns = 0;

function nice(most) {
  if (!(most > 0)) return 1;
  const step = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 2.5, 5, 10].map((it) => it * step).find((it) => it >= most);
}

/// A figure with a heading, a drawing of its own width, a line that is read out under the cursor, and a table.
export function figure(title, hint, height = 150) {
  const drawing = svg("svg", { role: "img", tabindex: "0", height });
  const under = el("canvas", { "aria-hidden": "true" });
  const stage = el("div", { class: "stage" }, under, drawing);
  const readout = el("p", { class: "readout" });
  const legend = el("ul", { class: "legend" });
  const rows = el("div");
  const details = el("details", {}, el("summary", {}, "Table"), rows);
  const node = el("figure", {}, el("figcaption", {}, el("strong", {}, title), " ", el("span", { class: "hint" }, hint)),
    stage, readout, legend, details);
  const it = { node, drawing, under, stage, readout, legend, details, rows, height, state: null, at: null };
  details.addEventListener("toggle", () => fillTable(it));
  return it;
}

function fillTable(it) {
  if (!it.details.open || !it.state?.table) return;
  const { head, rows } = it.state.table();
  it.rows.replaceChildren(table(it.state.summary, head, rows));
}

/// state: frames, count, step, most or bounds, unit, paint, say, summary, table, keys
export function timeChart(title, hint, height) {
  const it = figure(title, hint, height);
  const move = (event) => {
    if (!it.state) return;
    const box = it.drawing.getBoundingClientRect();
    const inner = box.width - PAD.left - PAD.right;
    const at = Math.floor(((event.clientX - box.left - PAD.left) / inner) * it.state.count);
    tell(it.state.count - 1 - Math.max(0, Math.min(it.state.count - 1, at)), it.state.step);
  };
  it.drawing.addEventListener("pointermove", move);
  it.drawing.addEventListener("pointerleave", () => tell(null, 1));
  it.drawing.addEventListener("blur", () => tell(null, 1));
  it.drawing.addEventListener("keydown", (event) => {
    if (!it.state) return;
    const steps = { ArrowLeft: 1, ArrowRight: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (!steps) return;
    event.preventDefault();
    const now = it.at ?? 0;
    tell(Math.max(0, Math.min(it.state.frames - 1, now + steps)), it.state.step);
  });
  cursor.addEventListener("move", ({ detail }) => {
    it.at = it.state && detail.step === it.state.step ? detail.back : null;
    drawCursor(it);
  });
  new ResizeObserver(() => draw(it)).observe(it.stage);
  it.update = (state) => {
    it.state = state;
    draw(it);
    fillTable(it);
  };
  return it;
}

const tell = (back, step) => cursor.dispatchEvent(new CustomEvent("move", { detail: { back, step } }));

function draw(it) {
  const { state, drawing } = it;
  const width = Math.floor(it.stage.clientWidth);
  if (!state || width < 50) return;
  drawing.setAttribute("width", width);
  drawing.setAttribute("viewBox", `0 0 ${width} ${it.height}`);
  drawing.setAttribute("aria-label", state.summary);
  const inner = { width: width - PAD.left - PAD.right, height: it.height - PAD.top - PAD.bottom };
  const missing = state.count - state.frames;
  // The left edge of a frame; the newest is at the right.
  const x = (frame) => PAD.left + ((frame + missing) / state.count) * inner.width;
  let y;
  let ticks;
  if (state.bounds) {
    const [low, high] = [Math.log(state.bounds[0]), Math.log(state.bounds.at(-1))];
    y = (value) => PAD.top + inner.height * (1 - (Math.log(Math.max(value, state.bounds[0])) - low) / (high - low));
    const within = (steps) => [0.001, 0.01, 0.1, 1, 10, 100, 1e3, 1e4, 1e5].flatMap((power) => steps.map((step) => step * power))
      .filter((value) => value >= state.bounds[0] && value <= state.bounds.at(-1));
    ticks = within([1]).length > 1 ? within([1]) : within([1, 2, 5]).length > 1 ? within([1, 2, 5]) : within([1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9]);
  } else {
    const most = nice(state.most);
    y = (value) => PAD.top + inner.height * (1 - Math.min(value, most) / most);
    ticks = [0, most / 2, most];
  }
  it.geometry = { x, y, inner, width, pad: PAD };
  const axis = svg("g", { class: "axis", "aria-hidden": "true" });
  for (const tick of ticks) {
    axis.append(svg("line", { x1: PAD.left, x2: width - PAD.right, y1: y(tick), y2: y(tick) }),
      svg("text", { x: PAD.left - 6, y: y(tick) + 4, "text-anchor": "end" }, state.unit(tick)));
  }
  const minutes = (state.count * state.step) / 60;
  for (const part of [0, 0.5, 1]) {
    const back = minutes * (1 - part);
    axis.append(svg("text", { x: PAD.left + inner.width * part, y: it.height - 4, "text-anchor": ["start", "middle", "end"][part * 2] },
      back === 0 ? "now" : `${back} min ago`));
  }
  const layer = svg("g");
  drawing.replaceChildren(axis, layer, (it.line = svg("line", { class: "cursor", y1: PAD.top, y2: PAD.top + inner.height })));
  it.under.width = width;
  it.under.height = it.height;
  state.paint(layer, it.geometry, it.under);
  it.legend.replaceChildren(...(state.keys ?? []).map(([kind, text]) => el("li", {}, el("span", { class: `key ${kind}`, "aria-hidden": "true" }), text)));
  drawCursor(it);
}

function drawCursor(it) {
  const { state } = it;
  if (!state || !it.line) return;
  const frame = it.at === null ? state.frames - 1 : state.frames - 1 - it.at;
  it.line.classList.toggle("on", it.at !== null && frame >= 0);
  if (it.at !== null && frame >= 0) {
    const x = it.geometry.x(frame + 0.5);
    it.line.setAttribute("x1", x);
    it.line.setAttribute("x2", x);
  }
  const when = it.at === null ? "latest" : `${it.at * state.step} s ago`;
  say(it.readout, frame >= 0 && state.frames > 0 ? `${when}: ${state.say(frame)}` : "nothing yet");
}

/// Areas upon areas. Each series is a list of numbers and a class.
export function stack(layer, { x, y }, series, frames) {
  const base = new Array(frames).fill(0);
  for (const { values, kind } of series) {
    let path = "";
    for (let frame = 0; frame < frames; frame += 1) {
      const top = y(base[frame] + values[frame]).toFixed(1);
      path += `${frame ? "L" : "M"}${x(frame).toFixed(1)} ${top}L${x(frame + 1).toFixed(1)} ${top}`;
    }
    for (let frame = frames - 1; frame >= 0; frame -= 1) {
      const bottom = y(base[frame]).toFixed(1);
      path += `L${x(frame + 1).toFixed(1)} ${bottom}L${x(frame).toFixed(1)} ${bottom}`;
      base[frame] += values[frame];
    }
    layer.append(svg("path", { class: `area ${kind}`, d: `${path}Z` }));
  }
}

/// A line of steps; gaps where there is no number.
export function line(layer, { x, y }, values, kind) {
  let path = "";
  let drawn = false;
  values.forEach((value, frame) => {
    if (value === null || value === undefined) {
      drawn = false;
      return;
    }
    const at = y(value).toFixed(1);
    path += `${drawn ? "L" : "M"}${x(frame).toFixed(1)} ${at}L${x(frame + 1).toFixed(1)} ${at}`;
    drawn = true;
  });
  layer.append(svg("path", { class: "line halo", d: path }), svg("path", { class: `line ${kind}`, d: path }));
}

/// A line across the whole drawing.
export function level(layer, { pad, inner, y }, value, kind) {
  for (const under of ["halo", kind]) {
    layer.append(svg("line", { class: `line ${under}`, x1: pad.left, x2: pad.left + inner.width, y1: y(value), y2: y(value) }));
  }
}

/// A shaded region between two heights.
export function between(layer, { pad, inner, y }, from, to) {
  const top = y(to);
  layer.append(svg("rect", { class: "interval", x: pad.left, width: inner.width, y: top, height: Math.max(0, y(from) - top) }));
}

/// A hatched region between two heights.
export function hatched(layer, { pad, inner, y }, from, to) {
  patterns += 1;
  const id = `hatch-${patterns}`;
  const top = y(to);
  layer.append(
    svg("defs", {}, svg("pattern", { id, width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("line", { class: "hatch", x1: 0, x2: 0, y1: 0, y2: 7 }))),
    svg("rect", { x: pad.left, width: inner.width, y: top, height: Math.max(0, y(from) - top), fill: `url(#${id})` }));
}

/// A heat map under the drawing: one column a frame, one cell a band, 0 to 255.
export function heat(under, { x, y }, bounds, columns, kind) {
  const paint = under.getContext("2d");
  const colour = getComputedStyle(under).getPropertyValue(`--${kind}`).trim();
  const most = Math.max(1, ...columns.flat());
  paint.fillStyle = colour;
  columns.forEach((cells, frame) => {
    cells.forEach((shade, cell) => {
      if (shade === 0) return;
      paint.globalAlpha = 0.15 + 0.85 * (shade / most);
      // Whole pixels, so that neighbours leave no gap between them.
      const [left, right] = [Math.round(x(frame)), Math.round(x(frame + 1))];
      const [top, bottom] = [Math.round(y(bounds[cell + 1])), Math.round(y(bounds[cell]))];
      paint.fillRect(left, top, Math.max(1, right - left), Math.max(1, bottom - top));
    });
  });
  paint.globalAlpha = 1;
}

/// A small line without axes.
export function spark(values, harmed, kind) {
  const [width, height] = [96, 22];
  const most = Math.max(1, ...values);
  const drawing = svg("svg", { class: "spark", width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const step = width / 60;
  const missing = 60 - values.length;
  const area = (of, kind) => {
    let path = `M${(missing * step).toFixed(1)} ${height}`;
    of.forEach((value, at) => {
      const top = (height - (value / most) * (height - 2)).toFixed(1);
      path += `L${((at + missing) * step).toFixed(1)} ${top}L${((at + missing + 1) * step).toFixed(1)} ${top}`;
    });
    drawing.append(svg("path", { class: `area ${kind}`, d: `${path}L${width} ${height}Z` }));
  };
  area(values, "good");
  area(harmed, kind);
  return drawing;
}
