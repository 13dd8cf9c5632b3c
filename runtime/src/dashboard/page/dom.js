// Elements, made from text alone: no name that a service shows can become markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/// Replaces what is in a node, unless it is the same text already.
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function table(caption, head, rows) {
  return el("table", { class: "figures" },
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, head.map((it) => el("th", { scope: "col" }, it)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, at) =>
      el(at === 0 ? "th" : "td", at === 0 ? { scope: "row" } : {}, `${cell ?? "unknown"}`))))));
}
