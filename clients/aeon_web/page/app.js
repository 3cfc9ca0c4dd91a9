// The application: its state, what the user does, and what arrives.

import { answerOf, optionsOf } from "./cards.js";
import { morph } from "./dom.js";
import { Stream, begin, call } from "./link.js";
import { appeared, focusCard, isArmed, watchSight } from "./sight.js";
import { RunView } from "./state.js";
import { short } from "./text.js";
import { badgeOf, page } from "./views.js";

const DRAFTS = "aeon-drafts";
const REFRESH_MS = 10000;
const STARTING_MS = 2000;

const app = {
  // Texts that are not sent yet, and the ids of the requests that tried: those of a new conversation under "", of follow-ups
  // under the ids of their runs, of answers under the keys of their cards, and of forks under their runs and events.
  drafts: JSON.parse(sessionStorage.getItem(DRAFTS) ?? "{}"),
  view: null, link: null, lost: null, status: null, runs: null, sessions: null, listProblem: "", conversation: [], sidebar: innerWidth >= 1180, list: "runs", filter: "",
  tab: "run", chosen: "", at: null, eventFilter: "", busy: new Set(), undo: null, replay: null, note: "", sending: null, opening: "", copied: false, missing: "",
};
const root = document.getElementById("app");
const keysDialog = document.createElement("dialog");
let stream = null;
let planned = false;

// ---------------------------------------------------------------- drawing

function draw() {
  planned = false;
  const width = Math.max(240, (root.querySelector(".panel")?.clientWidth ?? innerWidth) - 44);
  const wanted = page(app, width);
  const card = wanted.querySelector(".card");
  const isNew = card && root.querySelector(".card")?.dataset.key !== card.dataset.key;
  if (root.firstChild) morph(root.firstChild, wanted);
  else root.append(wanted);
  if (field()) fit(field());
  const slider = document.getElementById("position");
  if (slider && slider !== document.activeElement) slider.value = slider.dataset.value;
  if (isNew) appeared(root.querySelector(".card"));
  if (!card) watchSight(null);
  speak();
}

function redraw() {
  if (planned) return;
  planned = true;
  if (document.hidden) setTimeout(draw, 100);
  else requestAnimationFrame(draw);
}

function speak() {
  const [words] = badgeOf(app);
  const text = app.view ? app.view.run.text : "";
  document.title = [words, short(text, 60), "aeon"].filter(Boolean).join(" · ");
  const spoken = document.getElementById("spoken");
  if (spoken.textContent !== words) spoken.textContent = words;
}

const field = () => document.getElementById("prompt");

function fit(area) {
  area.style.height = "auto";
  area.style.height = `${Math.min(area.scrollHeight, 260)}px`;
}

function keepDraft(place, draft) {
  if (draft) app.drafts[place] = draft;
  else delete app.drafts[place];
  sessionStorage.setItem(DRAFTS, JSON.stringify(app.drafts));
}

// ---------------------------------------------------------------- what arrives

function receive(name, data) {
  if (name === "lost") {
    app.lost = data;
    return redraw();
  }
  app.lost = null;
  if (name === "link") linked(data);
  else if (name === "problem") app.missing = data.message;
  else if (name === "event") {
    app.missing = "";
    if (app.view.apply(data)) arrived(data);
  }
  redraw();
}

function linked(link) {
  if (link.up && !app.link?.up) app.note = "";
  app.link = link;
  if (link.up) refresh();
  else app.status = null;
}

function arrived(event) {
  if (event.run_id !== app.view.runId) return;
  if (event.kind === "run_created" && event.data.session_id) loadConversation(event.data.session_id);
  if (["run_created", "run_ended", "input_requested", "approval_requested", "run_suspended"].includes(event.kind)) loadHistory();
}

async function quietly(work) {
  try {
    await work();
    redraw();
  } catch {
    // The state of the connection is shown by the stream; the next refresh tries again.
  }
}

let historyPlanned = 0;

// A replay of a long run announces many changes of the lists at once: one request follows them.
function loadHistory() {
  clearTimeout(historyPlanned);
  historyPlanned = setTimeout(async () => {
    try {
      [app.runs, app.sessions] = await Promise.all([call("list_runs"), call("list_sessions")]);
      app.listProblem = "";
    } catch (error) {
      app.listProblem = error.message;
    }
    redraw();
  }, 50);
}

const loadConversation = (sessionId) => quietly(async () => {
  const runs = await call("list_runs", { session_id: sessionId });
  if (app.view?.run.sessionId === sessionId) app.conversation = runs.toReversed();
});

const refresh = () => {
  loadHistory();
  if (app.view?.run.sessionId) loadConversation(app.view.run.sessionId);
  return quietly(async () => {
    app.status = await call("get_status");
    if (app.status.state !== "ready") setTimeout(() => app.link?.up && refresh(), STARTING_MS);
  });
};

// ---------------------------------------------------------------- showing runs

function show(runId, inHistory = true) {
  stream?.close();
  Object.assign(app, { view: runId ? new RunView(runId) : null, conversation: [], tab: "run", chosen: "", at: null, eventFilter: "", undo: null, replay: null, note: "", opening: "", copied: false, missing: "" });
  app.busy.clear();
  if (innerWidth < 1180) app.sidebar = false;
  if (inHistory) history.pushState(null, "", runId ? `/#run=${runId}` : "/");
  stream = new Stream(runId, receive);
  draw();
  if (runId) document.getElementById("asked")?.focus({ preventScroll: true });
  scrollTo(0, 0);
}

const shownId = () => app.view?.runId ?? "";
const runOfAddress = () => new URLSearchParams(location.hash.slice(1)).get("run") ?? "";

// Does work that a person waits for, then `done` with its result; `subject` is busy until then, or until its event arrives if
// it `stays`. A result or failure that comes when another run is shown does not belong there and is dropped.
async function doing(subject, work, done = () => {}, stays = false) {
  if (app.busy.has(subject)) return;
  const runId = shownId();
  app.busy.add(subject);
  app.note = "";
  redraw();
  try {
    const result = await work();
    if (shownId() !== runId) return;
    if (!stays) app.busy.delete(subject);
    done(result);
  } catch (error) {
    if (shownId() !== runId) return;
    app.busy.delete(subject);
    app.note = error.message;
  }
  redraw();
}

// A text that is sent again from the same place has the same request id, so that one run exists of it.
async function submit(place, text, sessionId) {
  if (!text.trim() || app.sending) return;
  const known = app.drafts[place];
  const key = (known?.text === text && known.key) || crypto.randomUUID();
  keepDraft(place, { text, key });
  const sending = { from: shownId(), stop: false };
  const isHere = () => shownId() === sending.from;
  Object.assign(app, { sending, note: "" });
  redraw();
  try {
    const run = await call("create_run", { text, session_id: sessionId, request_id: key });
    app.sending = null;
    keepDraft(place, null);
    if (isHere()) show(run.run_id);
    else loadHistory();
    if (sending.stop) doing("stop", () => call("cancel_run", { run_id: run.run_id }));
  } catch (error) {
    Object.assign(app, { sending: null, note: `${isHere() ? "Not sent" : `Not sent, “${short(text, 40)}”`}: ${error.message}` });
    draw();
    if (isHere()) field()?.focus();
  }
}

// ---------------------------------------------------------------- what the user does

const cardOf = (kind) => (app.view?.card?.kind === kind ? app.view.card : null);
const approval = () => cardOf("approval");
const question = () => cardOf("question");

// Sends what the user decided about the card that is shown. One that is out of sight comes into view instead.
async function settle(one, name, given) {
  const armed = isArmed(one.key);
  const work = async () => {
    await call(name, { run_id: one.runId, ...given });
    keepDraft(one.key, null);
  };
  if (armed) await doing(one.key, work, () => {}, true);
  else app.tab = "run";
  draw();
  const card = root.querySelector(".card");
  if (!armed) card?.scrollIntoView({ block: "nearest" });
  else if (card?.dataset.key === one.key && !app.busy.has(one.key)) focusCard(card); // the call failed
}

function decide(approved, scope) {
  const one = approval();
  if (!one || (approved && !(one.scopes.length ? one.scopes : ["once"]).includes(scope))) return;
  settle(one, "decide_approval", { approval_id: one.approval_id, digest: one.digest, approved, scope });
}

function answer(value) {
  const one = question();
  if (one) settle(one, "answer_run", { question_id: one.question_id, answer: value });
}

const acts = {
  submit: (form) => submit(shownId(), form.elements.request.value, app.view?.run.sessionId ?? ""),
  answer: (form) => answer(answerOf(question(), form.elements.answer.value)),
  option: (at) => answer(optionsOf(question())[Number(at.dataset.place)]),
  allow: (at) => decide(true, at.dataset.scope),
  deny: () => decide(false, "once"),
  resolve(at) {
    const one = cardOf("decision");
    if (one) settle(one, "decide_run", { step_id: one.step?.step_id ?? "", resolution: at.dataset.word });
  },
  stop() {
    if (app.sending?.from === shownId()) app.sending.stop = true;
    else if (app.view && !app.view.ended && !app.missing) doing("stop", () => call("cancel_run", { run_id: app.view.runId }));
  },
  retry: () => app.view?.ended && submit(`again ${app.view.runId}`, app.view.run.text, app.view.run.sessionId),
  new() {
    show("");
    field().focus();
  },
  history() {
    app.sidebar = !app.sidebar;
    draw();
    if (app.sidebar) {
      loadHistory();
      document.getElementById("filter").focus();
    } else (field() ?? document.getElementById("asked"))?.focus();
  },
  list: (at) => (app.list = at.dataset.list),
  async open(at) {
    if (at.dataset.run) return show(at.dataset.run);
    const { session } = at.dataset;
    app.opening = session;
    const runs = await call("list_runs", { session_id: session });
    if (app.opening !== session) return undefined; // the user has opened something else meanwhile
    if (!runs.length) throw new Error("This conversation has no runs any more.");
    return show(runs[0].run_id);
  },
  tab: (at) => (app.tab = at.dataset.tab),
  choose: (at) => (app.chosen = app.chosen === at.dataset.step ? "" : at.dataset.step),
  copy: () => doing("copy", () => navigator.clipboard.writeText(app.view.run.answer.text), () => (app.copied = true)),
  undo: () => doing("undo", () => call("undo_run", { run_id: app.view.runId }), (report) => (app.undo = report)),
  event: (at) => (app.at = Number(at.dataset.place)),
  replay: () => doing("replay", () => call("replay_run", { run_id: app.view.runId }), (report) => (app.replay = report)),
  fork(at) {
    const given = { run_id: app.view.runId, after_seq: Number(at.dataset.seq) };
    const place = `fork ${given.run_id} ${given.after_seq}`;
    const key = app.drafts[place]?.key ?? crypto.randomUUID(); // kept until it succeeds, so that one fork exists
    keepDraft(place, { key });
    const work = async () => {
      const run = await call("fork_run", { ...given, request_id: key });
      keepDraft(place, null);
      loadHistory();
      return run;
    };
    return doing("fork", work, (run) => show(run.run_id));
  },
  skip: () => (field() ?? document.getElementById("main")).focus(),
  keys: () => (keysDialog.open ? keysDialog.close() : keysDialog.showModal()),
};

async function act(name, at) {
  const runId = shownId();
  try {
    await acts[name](at);
  } catch (error) {
    if (shownId() === runId) app.note = error.message;
  }
  redraw();
}

const LISTS = ".rows, .events, .options";
const SHORTCUTS = {
  "ctrl+.": "stop", "ctrl+h": "history", "ctrl+alt+r": "retry", "alt+n": "new", f1: "keys", "ctrl+backspace": "deny",
};

function pressed(event) {
  const name = [event.ctrlKey && "ctrl", event.altKey && "alt", event.shiftKey && "shift", event.key.toLowerCase()].filter(Boolean).join("+");
  const at = event.target;
  if (event.key === "Enter" && at.matches("[data-act=allow]") && !event.ctrlKey) return event.preventDefault(); // plain Enter never allows
  if (event.key === "Enter" && event.repeat && at.closest(".card")) return event.preventDefault(); // a key held since before
  if (keysDialog.open && name !== "f1") return undefined;
  if (name === "ctrl+backspace" && at.matches("textarea, input") && at.value) return undefined; // deletes a word
  if (event.key === "Enter" && event.ctrlKey && approval() && !at.matches("textarea, input")) {
    event.preventDefault();
    return event.repeat ? undefined : decide(true, event.shiftKey ? "run" : "once");
  }
  if (/^alt\+[1-9]$/.test(name) && question()) {
    event.preventDefault();
    return root.querySelector(`[data-act=option][data-place="${Number(event.key) - 1}"]`)?.click();
  }
  if (name === "ctrl+j" && app.view) {
    event.preventDefault();
    app.tab = app.tab === "run" ? "journal" : "run";
    return redraw();
  }
  if (name === "escape" && app.sidebar && at.closest(".sidebar")) return act("history");
  if (name === "enter" && at.id === "prompt" && !event.isComposing) {
    event.preventDefault();
    return at.form.requestSubmit();
  }
  if (/^(arrow(up|down)|home|end)$/.test(name) && at.closest(LISTS)) return step(event, at);
  if (!SHORTCUTS[name]) return undefined;
  event.preventDefault();
  return event.repeat ? undefined : act(SHORTCUTS[name], at);
}

// Arrow keys move through a list.
function step(event, at) {
  const all = [...at.closest(LISTS).querySelectorAll("button")];
  const place = { ArrowUp: all.indexOf(at) - 1, ArrowDown: all.indexOf(at) + 1, Home: 0, End: all.length - 1 }[event.key];
  event.preventDefault();
  all[Math.max(0, Math.min(place, all.length - 1))]?.focus();
}

function typed(event) {
  const { id, value } = event.target;
  if (id === "prompt") keepDraft(shownId(), value ? { text: value } : null);
  else if (id === "card-field") keepDraft(event.target.closest(".card").dataset.key, value ? { text: value } : null);
  else if (id === "filter") app.filter = value;
  else if (id === "event-filter") app.eventFilter = value;
  else if (id === "position") app.at = Number(value);
  redraw();
}

document.addEventListener("click", (event) => {
  const at = event.target.closest("[data-act]");
  if (at?.nodeName === "A") event.preventDefault();
  if (at && at.nodeName !== "FORM") act(at.dataset.act, at);
});
document.addEventListener("submit", (event) => {
  event.preventDefault();
  act(event.target.dataset.act, event.target);
});
document.addEventListener("keydown", pressed);
document.addEventListener("input", typed);
addEventListener("resize", redraw);
addEventListener("popstate", () => runOfAddress() !== shownId() && show(runOfAddress(), false)); // a changed address, too
setInterval(() => app.view && !app.view.ended && redraw(), 1000);
setInterval(() => !document.hidden && app.link?.up && loadHistory(), REFRESH_MS);
document.addEventListener("visibilitychange", () => !document.hidden && app.link?.up && loadHistory());

// ---------------------------------------------------------------- start

const KEYS = [
  ["Enter, Shift+Enter", "send the request; new line"], ["Alt+N", "new conversation"], ["Ctrl+H", "history"], ["Ctrl+J", "journal of the run"],
  ["Ctrl+.", "stop the run"], ["Alt+1 to Alt+9", "choose an option of a question"], ["Ctrl+Enter", "allow once"], ["Ctrl+Shift+Enter", "allow for this run"],
  ["Ctrl+Backspace", "deny"], ["Ctrl+Alt+R", "try a failed request again"], ["↑ ↓", "move in a list"], ["F1", "these keys"],
];

async function start() {
  const { h, button } = await import("./dom.js");
  keysDialog.setAttribute("aria-labelledby", "keys-title");
  keysDialog.append(h("h2", { id: "keys-title" }, "Keys"), h("dl", null, KEYS.map(([keys, words]) => [h("dt", null, h("kbd", null, keys)), h("dd", null, words)])), h("div", { class: "buttons" }, button("keys", null, "Close")));
  document.body.append(keysDialog);
  try {
    await begin();
  } catch (error) {
    app.lost = error;
    return draw();
  }
  show(runOfAddress(), false);
  return field()?.focus();
}

start();
