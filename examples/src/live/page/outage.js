// The two runs side by side.

import { by, count, el, follow, key, length, lines, say, share, table } from "./common.js";

const routes = [["product", "asks the vendor"], ["cart", "never asks the vendor"], ["health", "needs nothing"]];
const stages = { "to come": "to come", running: "running", done: "done", interrupted: "interrupted" };

function pool(run, size) {
  const taken = size - run.pool_idle;
  const boxes = Array.from({ length: size }, (_, at) => el("span", { class: at < taken ? "box taken" : "box" }, at < taken ? "×" : "·"));
  return el("div", { class: "room" }, el("p", {}, `pool: ${taken} of ${size} connections taken`),
    el("div", { class: "boxes", "aria-hidden": "true" }, boxes));
}

/// The share that counts: of the last two seconds while it goes on, of the whole run after.
const standing = (run, route) => (run.stage === "running" ? route.now_percent : route.success_percent);

function card(run, size) {
  const head = el("div", { class: "head" }, el("h2", {}, run.variant),
    el("span", { class: run.stage === "running" ? "state" : "state idle" }, stages[run.stage]));
  if (run.stage === "to come") {
    return el("section", { class: "card", "data-variant": run.variant }, head, el("p", { class: "quiet" }, "It begins when the other one is over."));
  }
  const big = run.routes.map((route) => {
    const value = standing(run, route);
    const kind = value === null ? "" : value < 50 ? " bad" : value >= 99 ? " good" : "";
    const what = routes.find(([name]) => route.route === `/${name}`)[1];
    return el("p", {}, el("span", { class: `big${kind}` }, share(value)), el("br"), route.route, el("br"), el("span", { class: "quiet" }, what));
  });
  const right = Math.max(run.length_seconds, run.elapsed_seconds, 1);
  // One on top of the other, the solid line lowest, so that three that are equal are seen as three.
  const series = [1, 0, 2].map((at) => [routes[at][0], run.past.filter((moment) => moment[at + 1] !== null).map((moment) => [moment[0], moment[at + 1]])]);
  const guard = run.guard === null ? [] : [["guard: refused", count(run.guard.refused)], ["guard: cut off at the timeout", count(run.guard.timed_out)],
    ["guard: answered by the fallback", count(run.guard.fallback_used)]];
  return el("section", { class: "card", "data-variant": run.variant }, head,
    el("progress", { max: run.length_seconds, value: run.elapsed_seconds, "aria-label": `${run.variant}: time run` }),
    el("p", { class: "quiet" }, run.stage === "running" ? `good answers in the last two seconds, ${run.elapsed_seconds.toFixed(0)} of ${run.length_seconds.toFixed(0)} s`
      : `good answers in the whole run of ${run.length_seconds.toFixed(0)} s`),
    el("div", { class: "bigs" }, big),
    lines(`${run.variant}: good answers of each route over time, from 0 to 100 percent`, right, 100, series),
    el("p", { class: "quiet" }, routes.map(([name]) => key(name, `/${name}`))),
    run.pool_idle === null ? null : pool(run, size),
    table("routes, in all", ["", "good", "of", "p50", "p99"], run.routes.map((it) => [it.route, count(it.ok), count(it.requests), length(it.p50_ms), length(it.p99_ms)])),
    table("vendor, pool and guard", ["", "count"], [
      ["vendor: calls it saw", count(run.vendor.requests)], ["vendor: most at once", count(run.vendor.peak)],
      ["vendor: left unanswered", count(run.vendor.unanswered)],
      ["vendor: connections opened", count(run.vendor.connections)], ["vendor: closed", count(run.vendor.closed)], ["vendor: aborted", count(run.vendor.aborted)],
      ["pool: waits given up", count(run.pool_waits_given_up)], ...guard,
    ]));
}

follow((state) => {
  say(by("annotation"), state.annotation.text);
  by("runs").replaceChildren(...state.runs.map((run) => card(run, state.pool_size)));
});
