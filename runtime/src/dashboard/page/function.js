// Everything about one function.

import { el, say } from "./dom.js";
import { breaker, compartment, deadline, fates, keys, latency, retry } from "./panels.js";
import { control } from "./control.js";
import { picker } from "./picker.js";
import { length } from "./format.js";

export function page(id, base, act, change, given) {
  const name = el("h2", {});
  const source = el("span", { class: "source" });
  const attribute = el("code", { class: "attribute" });
  const worst = el("p", { class: "facts" });
  const trouble = el("p", { class: "empty", role: "status" }, "Reading its figures.");
  const spans = ["minutes", "hour"].map((span, at) => {
    const input = el("input", { type: "radio", name: "span", id: `span-${span}`, value: span, checked: at === 0 });
    return [input, el("label", { for: `span-${span}` }, span === "hour" ? "last hour" : "last two minutes")];
  });
  const figures = control(change);
  const parts = [figures, fates(), latency(), picker(change ? (ms) => figures.set(`${figures.site()}.timeout`, ms, 10) : null), compartment(), retry(), deadline(), breaker(act), keys()];
  const panels = el("div", { class: "panels", hidden: true }, ...parts.map((part) => part.node));
  const node = el("div", {}, el("nav", { "aria-label": "Way back" }, el("a", { href: "#/" }, "All functions")),
    el("div", { class: "bar" }, name, source, el("fieldset", { class: "spans" }, el("legend", { class: "quiet" }, "Time shown"), ...spans.flat())),
    el("p", { class: "facts" }, attribute), worst, trouble, panels);
  const span = () => spans.find(([input]) => input.checked)[0].value;
  let waiting = false;
  let last = -Infinity;

  async function refresh(force) {
    const every = span() === "hour" ? 5000 : 1000;
    if (waiting || (!force && performance.now() - last < every - 200)) return;
    waiting = true;
    try {
      if (given) {
        const first = given;
        given = null;
        draw(first);
        return;
      }
      const answer = await fetch(`${base}api/function?id=${encodeURIComponent(id)}&span=${span()}`);
      if (!answer.ok) throw new Error(await answer.text());
      draw(await answer.json());
    } catch (error) {
      say(trouble, `No figures: ${error.message}`);
      trouble.hidden = false;
    } finally {
      waiting = false;
    }
  }

  function draw(data) {
    last = performance.now();
    trouble.hidden = true;
    view.title = `${data.name} · watertight`;
    document.title = view.title;
    say(name, data.name);
    say(source, `${data.module}, ${data.source}`);
    say(attribute, data.attribute);
    const { longest_ms: longest } = data.listed.worst_case;
    say(worst, longest === null ? "By its settings a call has no end." : `By its settings a call takes ${length(longest)} at most.`);
    // Shown first: a drawing needs its width.
    panels.hidden = false;
    parts.forEach((part) => part.update(data));
    if (!data.fates) {
      say(trouble, "It has not been called since the dashboard was opened.");
      trouble.hidden = false;
    }
  }
  for (const [input] of spans) input.addEventListener("change", () => refresh(true));
  const view = { node, title: "watertight", update: () => refresh(false) };
  // With the first frame after this, when it stands on the page and has a width.
  if (!given) refresh(true);
  return view;
}
