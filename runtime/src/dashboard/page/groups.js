// Rows of the first screen by bulkhead or by module: what shares a bulkhead suffers together.

import { el, say } from "./dom.js";
import { count } from "./format.js";

const BY = {
  none: { text: "nothing", key: () => "" },
  bulkhead: { text: "bulkhead or threads", key: (site) => site.saturation?.name ?? "", without: "no bulkhead of their own" },
  module: { text: "module", key: (site) => site.module, without: "no module" },
};

/// What somebody chose stays with the tab, where the browser keeps anything at all; a link with `?group=module` chooses, too.
const kept = {
  read() {
    try {
      return new URLSearchParams(location.search).get("group") ?? sessionStorage.getItem("group");
    } catch {
      return null;
    }
  },
  write(by) { try { sessionStorage.setItem("group", by); } catch { /* it is chosen anew next time */ } },
};

export function groups(table, columns, changed) {
  const select = el("select", { id: "group" }, Object.entries(BY).map(([by, { text }]) => el("option", { value: by }, text)));
  const node = el("span", { class: "grouping" }, el("label", { for: "group" }, "Group by "), select);
  const bodies = new Map();
  const before = kept.read();
  if (before in BY) select.value = before;
  select.addEventListener("change", () => {
    kept.write(select.value);
    changed();
  });

  function body(name) {
    if (bodies.has(name)) return bodies.get(name);
    const title = el("span", { class: "name" });
    const sums = el("span", { class: "small" });
    const head = el("tr", { class: "group", role: "row" }, el("th", { scope: "rowgroup", role: "rowheader", colspan: columns }, title, " ", sums));
    const made = { node: el("tbody", { role: "rowgroup" }), head, title, sums };
    bodies.set(name, made);
    return made;
  }

  return {
    node,
    /// Puts every row where it belongs: groups in the order of their worst function. What somebody points at or stands on is
    /// not pulled away, as long as no row comes or goes.
    arrange(sites, rowOf) {
      const by = BY[select.value];
      const parts = new Map();
      for (const site of sites) {
        const key = by.key(site);
        if (!parts.has(key)) parts.set(key, []);
        parts.get(key).push(site);
      }
      const wanted = [...parts].map(([key, all]) => {
        const it = body(`${select.value} ${key}`);
        const sum = (of) => all.reduce((total, site) => total + of(site), 0);
        say(it.title, key || by.without || "");
        say(it.sums, `${all.length === 1 ? "1 function" : `${all.length} functions`}, ${count(sum((site) => site.calls_per_second))} calls a second, ${count(sum((site) => site.harmed_per_second))} harmed`);
        return { node: it.node, children: [...(by.without ? [it.head] : []), ...all.map(rowOf)] };
      });
      const busy = table.matches(":hover") || table.contains(document.activeElement);
      const has = (node, children) => node.children.length === children.length && children.every((it) => it.parentNode === node);
      const shown = [...table.tBodies];
      if (busy && shown.length === wanted.length && wanted.every(({ node: it, children }) => shown.includes(it) && has(it, children))) return;
      for (const { node: it, children } of wanted) {
        if (it.children.length !== children.length || children.some((child, at) => it.children[at] !== child)) it.replaceChildren(...children);
      }
      if (shown.length !== wanted.length || wanted.some(({ node: it }, at) => shown[at] !== it)) {
        for (const it of shown) it.remove();
        table.append(...wanted.map(({ node: it }) => it));
      }
    },
    /// A heading over nothing says nothing.
    tidy() {
      for (const it of table.tBodies) {
        const head = it.querySelector("tr.group");
        if (head) head.hidden = [...it.children].every((row) => row === head || row.hidden);
      }
    },
  };
}
