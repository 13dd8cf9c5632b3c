// Three dependencies, the rooms in front of them, and two switches.

import { by, count, el, follow, length, lines, say, table } from "./common.js";

const letters = { recs: "R", search: "S", payments: "P" };
const switches = ["recs_slow", "bulkheads"];

/// So many boxes, the first of them taken by those listed.
function boxes(kind, size, takers) {
  const all = [];
  for (let at = 0; at < Math.max(size, takers.length); at += 1) {
    const who = takers[at];
    all.push(el("span", { class: who ? `box ${who}` : "box" }, who ? letters[who] : "·"));
  }
  return el("div", { class: `boxes ${kind}`, "aria-hidden": "true" }, all);
}

function room(size, inside) {
  const sum = (key) => inside.reduce((all, it) => all + it[key], 0);
  const takers = (key) => inside.flatMap((it) => Array(it[key]).fill(it.name));
  const who = (key) => inside.length === 1 ? "" : `: ${inside.map((it) => `${it.name} ${it[key]}`).join(", ")}`;
  return el("div", { class: "room" },
    el("p", {}, `working: ${sum("working")} of ${size.workers}${who("working")}`), boxes("workers", size.workers, takers("working")),
    el("p", {}, `waiting: ${sum("waiting")} of ${size.places}${who("waiting")}`), boxes("places", size.places, takers("waiting")));
}

const inside = (it, where) => ({ name: it.name, working: it[where].working, waiting: it[where].waiting });
const isUsed = (it, where) => it[where].working + it[where].waiting > 0;

function card(it, state) {
  const own = state.switches.bulkheads || isUsed(it, "own_room");
  const latest = it.served_a_second.at(-1) ?? 0;
  const points = it.served_a_second.map((rate, at) => [at, rate]);
  const rows = [["came", "came"], ["served", "served"], ["turned away", "refused"], ["failed", "failed"]];
  return el("section", { class: it.stalled ? "card stalled" : "card", "data-name": it.name },
    el("div", { class: "head" }, el("h2", {}, it.name),
      el("span", { class: it.stalled ? "state bad" : "state" }, it.stalled ? "stalled" : it.window.came === 0 ? "nobody comes" : "served")),
    el("p", { class: "quiet" }, `${it.share_percent} % of the calls; answers after ${length(it.answers_after_ms)}`),
    own ? room(state.own_room, [inside(it, "own_room")]) : el("p", { class: "quiet" }, `in the common room: ${it.common_room.working} working, ${it.common_room.waiting} waiting`),
    lines(`${it.name}: served a second over the last minute, from 0 to 12, now ${latest}`, 236, 12, [[it.name, points]]),
    el("p", { class: "quiet" }, `served a second over the last minute; upper line 12, now ${latest.toFixed(1)}`),
    table(null, ["calls", `last ${state.window_seconds} s`, "in all"], rows.map(([says, key]) => [says, count(it.window[key]), count(it.all[key])])),
    own ? el("p", {}, el("code", {}, it.attribute)) : null);
}

function counts(state) {
  const ends = (it, where) => ["came", "served", "refused", "failed"].map((key) => count(it[where].ended[key]));
  const rows = state.dependencies.flatMap((it) => [
    [`${it.name}, common room`, ...ends(it, "common_room")],
    [`${it.name}, own room`, ...ends(it, "own_room")],
  ]);
  const seen = state.dependencies.map(({ name, dependency: it }) => [name, ...[it.requests, it.peak, it.connections, it.closed, it.aborted].map(count)]);
  return [
    table("As the service counted", ["", "came", "served", "turned away", "failed"], rows),
    table("As the dependencies counted", ["", "requests", "most at once", "connections opened", "closed", "aborted"], seen),
  ];
}

function show(state) {
  for (const name of switches) {
    if (!by(name).disabled) by(name).checked = state.switches[name];
  }
  const recs = state.dependencies[0];
  say(by("says-recs_slow"), state.switches.recs_slow ? `on: it answers after ${length(recs.answers_after_ms)}` : `off: it answers after ${length(recs.answers_after_ms)}`);
  say(by("says-bulkheads"), state.switches.bulkheads
    ? `on: ${state.own_room.workers} workers and ${state.own_room.places} places for each`
    : `off: ${state.common_room.workers} workers and ${state.common_room.places} places for all`);
  by("common").hidden = state.switches.bulkheads && !state.dependencies.some((it) => isUsed(it, "common_room"));
  say(by("common-says"), state.switches.bulkheads ? "Nobody comes in any more; the calls in here stay until they are answered." : "Whoever comes first gets the next free worker.");
  by("common-room").replaceChildren(room(state.common_room, state.dependencies.map((it) => inside(it, "common_room"))));
  by("dependencies").replaceChildren(...state.dependencies.map((it) => card(it, state)));
  by("counts").replaceChildren(...counts(state));
}

const take = follow(show);

for (const name of switches) {
  by(name).addEventListener("change", async (event) => {
    const node = event.target;
    node.disabled = true;
    const answer = await fetch("api/switch", {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ [name]: node.checked }),
    }).catch(() => null);
    node.disabled = false;
    node.focus();
    say(by("turned"), answer?.ok ? "" : `the switch was not turned: ${answer ? await answer.text() : "the process cannot be reached"}`);
    if (answer?.ok) take(await answer.json());
  });
}
