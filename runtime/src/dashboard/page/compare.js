// The picker's curve of the last minutes beside that of the minutes before: two lines that lie apart are two different times.

import { el, say, svg } from "./dom.js";
import { count, percent } from "./format.js";

const minutes = (part) => `${Math.round(part.seconds / 60)} min`;

export function compare(changed) {
  const box = el("input", { type: "checkbox", id: "compare" });
  const text = el("label", { for: "compare" });
  const node = el("p", { class: "switch", hidden: true }, box, " ", text);
  // A link with `&compare` shows both at once.
  box.checked = new URLSearchParams(location.search).has("compare");
  box.addEventListener("change", changed);
  let data = null;
  const on = () => data && box.checked;

  return {
    node,
    update(compared) {
      data = compared;
      node.hidden = !data;
      if (data) say(text, `Compare the last ${minutes(data.young)} with the ${minutes(data.before)} before`);
    },
    /// The two lines, on the picker's own scales.
    lines(steps) {
      if (!on()) return [];
      return [["line young", data.young], ["line before", data.before]].map(([kind, part]) => svg("path", { class: kind, d: steps(part.curve) }));
    },
    legend() {
      if (!on()) return [];
      return [["line young", `last ${minutes(data.young)}, ${count(data.young.count)} attempts`], ["line before", `the ${minutes(data.before)} before, ${count(data.before.count)} attempts`]];
    },
    /// What the candidate at a place cuts off in the one and in the other.
    says(at) {
      if (!on()) return [];
      const cut = (part) => (part.cuts[at] ? percent(part.cuts[at].share) : "not observed");
      return [["compared", `cuts off ${cut(data.young)} in the last ${minutes(data.young)}, ${cut(data.before)} in the ${minutes(data.before)} before`]];
    },
    heads: () => (on() ? [`last ${minutes(data.young)}`, `${minutes(data.before)} before`] : []),
    cells: (at) => (on() ? [data.young, data.before].map((part) => (part.cuts[at] ? percent(part.cuts[at].share) : "not observed")) : []),
  };
}
