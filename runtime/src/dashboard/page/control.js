// What is in force at a function and where it is set; with the token, another figure for a while.

import { el, say } from "./dom.js";
import { length } from "./format.js";

const MINUTES = [[5, "5 minutes"], [10, "10 minutes"], [60, "1 hour"], [480, "8 hours"]];

/// `change(path, body)` asks the dashboard to change something and tells what came of it; null on a page that only reads.
export function control(change) {
  const rows = el("tbody");
  const figures = el("table", { class: "figures" }, el("caption", {}, "What is in force, and where it is set"),
    el("thead", {}, el("tr", {}, ["figure", "value", "set at", "code says", "until"].map((it) => el("th", { scope: "col" }, it)))), rows);
  const patch = el("pre", { class: "attribute", "data-patch": true });
  const back = el("div", { hidden: true }, el("p", { class: "quiet" }, "The overrides as an attribute, to be written into the code:"), patch);
  const answer = el("output", { role: "status", "data-answer": true });
  const controls = el("div", { class: "controls" });
  const node = el("section", { class: "panel", "aria-labelledby": "p-control" }, el("h3", { id: "p-control" }, "Settings in force"), figures, back, controls);
  let can = null;
  let site = null;
  let shown = "";

  const lasting = el("select", { id: "lasting" }, MINUTES.map(([minutes, text]) => el("option", { value: minutes, selected: minutes === 10 }, text)));
  const slots = el("input", { type: "number", id: "slots", min: 1, step: 1, size: 4 });
  const timeout = el("input", { type: "text", id: "other-timeout", size: 6, placeholder: "250ms" });

  /// Sets one figure, for as long as is chosen or as is said.
  async function set(setting, value, minutes = Number(lasting.value)) {
    say(answer, "");
    say(answer, await change("api/override", { setting, value: `${value}`, minutes }));
  }

  const button = (text, press, named) => el("button", { type: "button", onclick: press, "data-act": named }, text);
  const parts = {
    timeout: el("p", {}, el("label", { for: "other-timeout" }, "Timeout "), timeout, " ", button("Set", () => set(`${site}.timeout`, timeout.value), "timeout")),
    slots: el("p", {}, el("label", { for: "slots" }, "Slots "), slots, " ", button("Set", () => set(`${can.slots}.slots`, slots.value), "slots")),
    retry: el("p", {}, button("Retries off", () => set(`${site}.retry.enabled`, false), "retries-off")),
    observe: el("p", {}, button("Observe only", () => set(`${site}.mode`, "observe"), "observe")),
    breaker: el("p", {}, "Breaker: ", button("Force open", () => set(`${can.breaker}.force`, "open"), "force-open"), " ", button("Force closed", () => set(`${can.breaker}.force`, "closed"), "force-closed")),
  };
  if (change) {
    controls.append(el("p", {}, el("label", { for: "lasting" }, "What is changed here ends by itself after "), lasting), ...Object.values(parts), answer);
  }

  function row(it) {
    const until = it.left_ms !== null ? `${length(it.left_ms)} left` : it.by ? "taken back" : "";
    const undo = change && it.by ? button("Take back", async () => say(answer, await change("api/revert", { setting: it.setting })), `revert ${it.key}`) : null;
    return el("tr", { class: it.origin }, el("th", { scope: "row" }, it.key), el("td", {}, it.value), el("td", {}, it.where), el("td", {}, it.declared ?? ""), el("td", {}, until, " ", undo));
  }

  return { node, set, site: () => site, update(data) {
    const it = data.control;
    [can, site] = [it.can, it.site];
    for (const [what, part] of Object.entries(parts)) part.hidden = !can[what];
    // Whoever reads or presses something must not lose it every second, so rows are made anew only if they say something else.
    const says = JSON.stringify(it.figures.map((one) => [one.key, one.value, one.where, one.left_ms === null ? 0 : Math.ceil(one.left_ms / 1000)]));
    if (says !== shown) {
      shown = says;
      rows.replaceChildren(...it.figures.map(row));
    }
    back.hidden = !it.patch;
    say(patch, it.patch ?? "");
  } };
}
