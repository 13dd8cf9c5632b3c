// Which page is shown, and the stream that keeps it up to date.

import { say } from "./dom.js";
import { wall } from "./wall.js";
import { page } from "./function.js";

const base = document.body.dataset.base;
const main = document.getElementById("main");
const live = document.getElementById("live");
const headline = document.getElementById("headline");
const spoken = document.getElementById("spoken");
let told = "";
let view = null;
let last = null;

// Asked for once and forgotten with the page: neither is stored.
let token = null;
let by = null;

async function change(path, body) {
  token ||= window.prompt("The dashboard's token");
  by ||= window.prompt("Your name, for the record");
  if (!token) return "nothing was changed";
  const answer = await fetch(`${base}${path}`, { method: "POST", headers: { authorization: `Bearer ${token}` }, body: JSON.stringify({ by, ...body }) });
  if (answer.status === 401) token = null;
  return answer.ok ? "done" : answer.text();
}

const act = (name, what) => change("api/breaker", { name, act: what });

function show() {
  const [, kind, id] = /^#\/(f)\/(.+)$/.exec(location.hash) ?? [];
  // A function whose figures came with the page, as long as nobody has gone elsewhere.
  const given = location.hash === "" ? JSON.parse(document.getElementById("given").textContent) : null;
  const wanted = kind ? decodeURIComponent(id) : given?.id;
  const may = document.body.dataset.token === "yes";
  view = wanted ? page(wanted, base, may ? act : null, may ? change : null, given) : wall(base);
  document.title = view.title;
  main.replaceChildren(view.node);
  if (last) view.update(last);
}

window.addEventListener("hashchange", () => {
  show();
  main.focus();
});

function take(wall) {
  last = wall;
  say(headline, wall.headline);
  headline.classList.toggle("alarm", wall.harmed);
  // The figures change every second; who hurts, and by what, is worth interrupting somebody for.
  if (told !== wall.worst) {
    told = wall.worst;
    say(spoken, wall.headline);
  }
  view.update(wall);
  document.body.dataset.seconds = wall.seconds;
}

show();
take(JSON.parse(document.getElementById("first").textContent));

function connect() {
  const stream = new EventSource(`${base}api/stream`);
  stream.addEventListener("open", () => say(live, "live"));
  stream.addEventListener("wall", (event) => {
    say(live, "live");
    take(JSON.parse(event.data));
  });
  stream.addEventListener("error", async () => {
    if (stream.readyState !== EventSource.CLOSED) {
      say(live, "connection lost, trying again");
      return;
    }
    // A stream that was refused says why to those who ask for it plainly.
    const answer = await fetch(`${base}api/wall`).catch(() => null);
    say(live, answer?.ok ? "not live: as many watch as may, and this page asks again every ten seconds" : "the process has gone");
    if (answer?.ok) take(await answer.json());
    setTimeout(connect, 10000);
  });
}
connect();
