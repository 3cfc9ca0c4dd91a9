// The page as a function of the application's state.

import { approvalCard, decisionCard, questionCard } from "./cards.js";
import { button, h } from "./dom.js";
import { graph, mark, stateOf, wordOf } from "./graph.js";
import { journal } from "./journal.js";
import { ENDED } from "./state.js";
import { ago, counted, duration, effectOf, markdown, oneLine, pretty, printable, sentence, short, shown, titleOf } from "./text.js";

const key = (text) => h("kbd", { "aria-hidden": "true" }, text);

// The stage in words, and the name of its colour.
export function badgeOf(app) {
  if (app.lost) return [app.lost.status === 401 ? "No session" : "Page disconnected", "err"];
  if (app.link && !app.link.up) return ["Daemon not running", "err"];
  if (!app.link) return ["Connecting…", "accent"];
  const view = app.view;
  if (app.missing) return ["Not available", "err"];
  if (app.sending?.from === (view?.runId ?? "")) return app.sending.stop ? ["Stopping…", "warn"] : ["Sending…", "accent"];
  if (!view) return app.status && app.status.state !== "ready" ? [`Daemon ${app.status.state}`, "warn"] : ["", "accent"];
  if (view.run.activity === "stopping") return ["Stopping…", "warn"];
  const count = view.run.steps.size;
  const words = {
    planning: [view.run.created && view.run.state === "pending" ? "Waiting…" : "Planning…", "accent"],
    running: [view.over === count ? "Answering…" : `Running · ${view.over} of ${count}`, "accent"],
    question: ["Needs your answer", "warn"],
    approval: ["Needs approval", "warn"],
    decision: ["Needs your decision", "warn"],
    failed: ["Failed", "err"],
    cancelled: ["Cancelled", "dim"],
    done: view.run.state === "expired" ? ["Stopped at a limit", "warn"] : ["Done", "ok"],
  };
  return words[view.stage];
}

// The field of a place has its own draft. A run without a conversation has no follow-ups: what is asked below it is new.
function promptField(app) {
  const run = app.view?.run;
  const place = run?.runId ?? "";
  const [label, placeholder] = !run ? ["Request", "Ask Aeon to do something…"] : run.sessionId ? ["Follow-up request", "Ask a follow-up…"] : ["New request", "Ask something new…"];
  return [
    run && !run.sessionId ? h("p", { class: "dim", id: "alone", "data-key": "alone" }, "This run belongs to no conversation: a request from here begins one, and knows nothing of this run.") : null,
    h("form", { class: "prompt", "data-act": "submit", "data-key": `form-${place}` },
      h("textarea", {
        id: "prompt", name: "request", rows: 1, maxlength: 100000, spellcheck: "true", disabled: app.sending !== null, "aria-label": label, placeholder,
        "aria-describedby": run && !run.sessionId ? "alone" : null,
      }, app.drafts[place]?.text ?? ""),
      h("button", { class: "send", type: "submit", disabled: app.sending !== null }, "Send")),
  ];
}

function head(app) {
  const [words, colour] = badgeOf(app);
  const badge = words ? h("span", { class: `badge ${colour}`, "data-key": "badge" }, words) : null;
  const star = h("span", { class: "star", "aria-hidden": "true", "data-key": "star" }, "✦");
  if (!app.view) return h("header", { class: "head", "data-key": "new" }, star, promptField(app), badge);
  return h("header", { class: "head", "data-key": "run" }, star, h("h2", { id: "asked", tabindex: "-1" }, printable(app.view.run.text || (app.missing ? `Run ${app.view.runId.slice(-4)}` : "…"))), badge);
}

function origin(run) {
  if (!run.forkedFrom) return null;
  return h("p", { class: "dim", "data-key": "origin" }, "A fork: its first events are copies of those of ", button("open", { class: "link", "data-run": run.forkedFrom }, `run ${run.forkedFrom.slice(-4)}`));
}

// The earlier and later requests of the same conversation.
function conversation(app) {
  if (app.conversation.length < 2) return null;
  return h("nav", { class: "thread", "aria-label": "Conversation", "data-key": "thread" }, app.conversation.map((run, place) =>
    button("open", { "data-run": run.run_id, "data-key": run.run_id, "aria-current": run.run_id === app.view.runId ? "true" : null }, `${place + 1} ${short(oneLine(run.text), 36)}`)));
}

function stepDetails(step) {
  return h("div", { class: "details", "data-key": "details" },
    step.tool ? h("p", null, h("strong", null, oneLine(step.tool)), h("span", { class: "dim" }, ` · ${oneLine(step.step_id)}`)) : null,
    step.tool ? h("pre", { tabindex: "0", role: "region", "aria-label": "Arguments" }, pretty(step.arguments)) : null,
    step.error ? h("p", { class: "err" }, printable(step.error)) : null,
    step.output !== null && step.output !== undefined ? h("pre", { tabindex: "0", role: "region", "aria-label": "Result" }, pretty(step.output)) : null,
    step.effects.map((effect) => h("p", null, effectOf(effect))));
}

function detailOf(step) {
  if (step.state === "running" || step.activity) return oneLine(step.activity || step.text);
  if (step.error) return oneLine(step.error);
  return step.state === "succeeded" && step.output !== null ? short(oneLine(shown(step.output)), 160) : "";
}

function stepRow(app, view, step, run) {
  const state = run === view.run ? stateOf(step, view.waiting) : step.state;
  const chosen = app.chosen === step.step_id && run === view.run;
  const child = step.child && view.runs.get(step.child);
  return h("li", { class: `step ${state}`, "data-key": step.step_id },
    button("choose", { class: "row", "data-step": step.step_id, "aria-expanded": run === view.run ? String(chosen) : null, disabled: run !== view.run },
      mark(state),
      h("span", { class: "title" }, h("span", null, titleOf(step)), h("span", { class: "hidden" }, `: ${wordOf(state)}`)),
      step.seconds ? h("span", { class: "dim time" }, duration(step.seconds)) : null,
      detailOf(step) && !chosen ? h("span", { class: "detail" }, detailOf(step)) : null),
    chosen ? stepDetails(step) : null,
    child && child.steps.size ? h("ol", { class: "steps below", "data-key": "below" }, [...child.steps.values()].map((one) => stepRow(app, view, one, child))) : null);
}

export function steps(app, view, width) {
  const run = view.run;
  if (!run.steps.size) return null;
  const list = h("ol", { class: "steps", "data-key": "steps" }, [...run.steps.values()].map((step) => stepRow(app, view, step, run)));
  return h("section", { "aria-label": "Plan", "data-key": "plan" },
    run.steps.size > 1 ? graph(view, width, app.chosen) : null,
    view.stage === "done" && run.answer // the answer matters now
      ? h("details", { "data-key": "over", open: app.chosen !== "" }, h("summary", null, counted(run.steps.size, "step")), list) : list);
}

function activity(view) {
  const run = view.run;
  if (view.ended || !run.activity || view.stage === "question" || view.stage === "approval") return null;
  return h("p", { class: "activity", "data-key": "activity" }, mark("running"), h("span", null, `${sentence(oneLine(run.activity))}${run.fraction >= 0 ? ` ${Math.round(run.fraction * 100)} %` : "…"}`));
}

function outcome(view) {
  const { state, problem, exhausted } = view.run;
  const say = (strong, rest) => h("p", { class: "outcome", "data-key": "outcome" }, h("strong", null, strong), ` ${rest}`);
  if (state === "failed") {
    const done = [...view.run.steps.values()].filter((step) => step.state === "succeeded").length;
    return say("Failed.", `${printable(problem?.message ?? "The run ended without an answer.")}${done ? ` The results of ${counted(done, "step")} are kept in the journal.` : ""}`);
  }
  if (state === "cancelled") return say("Cancelled.", "Finished steps keep their results; nothing else was started.");
  if (state === "expired") return say("Stopped at a limit:", `${exhausted.replaceAll("_", " ") || "a limit"}. The answer covers what was done.`);
  return null;
}

function answer(app, view) {
  const run = view.run;
  const text = run.answer?.text ?? run.answerText;
  if (!text) return null;
  return h("section", { class: "answer", "aria-label": "Answer", "data-key": "answer" },
    markdown(text),
    (run.answer?.notes ?? []).map((note) => h("p", { class: "notice" }, printable(note))),
    run.answer ? h("div", { class: "buttons" }, button("copy", null, app.copied ? "Copied" : "Copy the answer")) : null);
}

function changes(app, view) {
  const made = view.changes;
  if (!made.length) return null;
  const report = app.undo;
  return h("section", { class: "changes", "aria-labelledby": "changes-title", "data-key": "changes" },
    h("h3", { id: "changes-title" }, counted(made.length, "change")),
    h("ul", null, made.map((effect) => h("li", null, effectOf(effect), effect.step ? h("span", { class: "dim" }, ` · ${oneLine(effect.step)}`) : null))),
    report ? h("div", { class: "report", "data-key": "report" },
      h("p", null, h("strong", null, report.undone.length ? `${counted(report.undone.length, "change")} undone.` : "Nothing was undone.")),
      h("ul", null, report.undone.map((one) => h("li", null, `${oneLine(one.target)}: ${oneLine(one.outcome)}`)),
        report.refused.map((one) => h("li", { class: "err" }, `${oneLine(one.target)} was left alone: ${oneLine(one.message)}`)))) : null,
    view.ended && !report ? h("div", { class: "buttons" }, button("undo", { disabled: app.busy.has("undo") }, "Undo the changes")) : null);
}

function card(app, view) {
  const one = view.card;
  const busy = app.busy.has(one?.key);
  const cards = {
    question: () => questionCard(one, busy, app.drafts[one.key]?.text),
    approval: () => approvalCard(one, busy, view.runs.get(one.runId).taint),
    decision: () => decisionCard(one, busy),
  };
  const drawn = one && cards[one.kind]();
  if (busy) drawn.append(h("p", { class: "dim", role: "status", "data-key": "sending" }, "Sending…"));
  return drawn;
}

// What the state of a daemon that is not ready means for a request.
const WAITS = { starting: "Requests are accepted and wait.", draining: "It accepts no new requests and is about to end." };

function notices(app) {
  const lost = app.lost ? h("p", { class: "notice err", role: "alert", "data-key": "lost" }, app.lost.message) : null;
  const down = !app.lost && app.link && !app.link.up
    ? h("div", { class: "notice err", "data-key": "down" },
      h("p", null, h("strong", null, "No daemon is listening. "), app.view && !app.view.ended ? "The run continues with the next start; this page waits for it." : "What you write is kept; this page connects by itself."),
      h("p", { class: "dim" }, h("code", null, "systemctl --user start aeond"), ` · ${oneLine(app.link.socket)}`)) : null;
  const starting = !app.view && app.link?.up && app.status && app.status.state !== "ready"
    ? h("p", { class: "notice", "data-key": "starting" }, [`The daemon is ${app.status.state}.`, WAITS[app.status.state], ...app.status.messages.map(sentence)].filter(Boolean).join(" ")) : null;
  const missing = app.missing ? h("p", { class: "notice err", role: "alert", "data-key": "missing" }, sentence(app.missing)) : null;
  const note = app.note ? h("p", { class: "notice err", role: "alert", "data-key": "note" }, sentence(app.note)) : null;
  const all = [lost, down, starting, missing, note].filter(Boolean);
  return all.length ? h("div", { class: "notices", "data-key": "notices" }, all) : null;
}

function tabs(app) {
  const tab = (name, words, keys) => button("tab", { "data-tab": name, "aria-pressed": String(app.tab === name), "data-key": name }, words, keys ? key(keys) : null);
  return h("div", { class: "tabs", role: "group", "aria-label": "View", "data-key": "tabs" }, tab("run", "Run"), tab("journal", "Journal", "Ctrl+J"));
}

function meta(app) {
  const view = app.view;
  if (!view) return app.status ? `aeond ${oneLine(app.status.version)} · ${oneLine(app.status.engine.model || "no model")}` : "";
  const run = view.run;
  const parts = [`run ${view.runId.slice(-4)}`];
  if (run.created) parts.push(duration((run.ended || Date.now() / 1000) - run.created));
  if (run.toolCalls) parts.push(counted(run.toolCalls, "tool call"));
  if (run.forkedFrom) parts.push(`fork of ${run.forkedFrom.slice(-4)}`);
  return parts.join(" · ");
}

function foot(app) {
  const view = app.view;
  const item = (act, words, keys, more) => button(act, { ...more, "data-key": act }, words, key(keys));
  return h("footer", { class: "foot", "data-key": "foot" },
    h("span", { class: "meta" }, meta(app)),
    h("span", { class: "actions" },
      view && !view.ended && !app.missing ? item("stop", "Stop", "Ctrl+.") : null,
      view && (view.stage === "failed" || view.stage === "cancelled") ? item("retry", "Try again", "Ctrl+Alt+R") : null,
      view ? item("new", "New", "Alt+N") : null,
      item("history", "History", "Ctrl+H", { "aria-expanded": String(app.sidebar), "aria-controls": "history" }),
      item("keys", "Keys", "F1")));
}

const rowState = { awaiting_input: "person", suspended: "person", expired: "succeeded", cancelled: "skipped", pending: "pending" };

function sidebar(app) {
  if (!app.sidebar) return null;
  const wanted = app.filter.toLowerCase();
  const matches = (text) => text.toLowerCase().includes(wanted);
  const runs = (app.runs ?? []).filter((run) => matches(run.text));
  const sessions = (app.sessions ?? []).filter((one) => matches(one.title));
  const empty = app.filter ? "Nothing matches." : app.runs ? "Nothing yet. Your requests appear here." : app.listProblem ? "" : app.link && !app.link.up ? "It is shown when the daemon runs." : "Loading…";
  const pick = (name, words) => button("list", { "data-list": name, "aria-pressed": String(app.list === name), "data-key": name }, words);
  const row = (attributes, state, text, more) => h("li", { "data-key": Object.values(attributes)[0] }, button("open", attributes, mark(state), h("span", { class: "title" }, oneLine(text) || "(no text)"), h("span", { class: "dim" }, more)));
  const rows = app.list === "runs"
    ? runs.map((run) => row({ "data-run": run.run_id, "aria-current": app.view?.runId === run.run_id ? "true" : null }, rowState[run.state] ?? run.state, run.text, `${run.state.replaceAll("_", " ")} · ${ago(run.created_time)}`))
    : sessions.map((one) => row({ "data-session": one.session_id }, "pending", one.title, `${counted(one.run_count, "run")} · ${ago(one.changed_time)}`));
  return h("aside", { id: "history", class: "sidebar", "aria-label": "History", "data-key": "sidebar" },
    h("div", { class: "tabs", role: "group", "aria-label": "List" }, pick("runs", "Runs"), pick("sessions", "Conversations"), button("history", { class: "close", "aria-label": "Close the history" }, "✕")),
    h("input", { id: "filter", type: "search", placeholder: "Filter", "aria-label": "Filter the history", autocomplete: "off" }),
    app.listProblem && !app.lost ? h("p", { class: "notice err", role: "alert", "data-key": "problem" }, `Not up to date: ${printable(app.listProblem)}`) : null,
    rows.length ? h("ul", { class: "rows", "data-key": app.list }, rows) : empty ? h("p", { class: "dim empty" }, empty) : null);
}

function body(app, width) {
  const view = app.view;
  if (!view || app.missing) return h("div", { class: "body", "data-key": "body" }, notices(app));
  if (app.tab === "journal") return h("div", { class: "body", "data-key": "journal" }, notices(app), tabs(app), journal(app, view, width));
  return h("div", { class: "body", "data-key": "body" },
    notices(app), tabs(app), conversation(app), origin(view.run), steps(app, view, width), activity(view), card(app, view), outcome(view), answer(app, view), changes(app, view),
    ENDED.has(view.run.state) ? promptField(app) : null);
}

export function page(app, width) {
  return h("div", { class: `page${app.sidebar ? " with-history" : ""}` },
    sidebar(app),
    h("main", { id: "main", tabindex: "-1", class: "panel", "data-key": "panel" }, h("h1", { class: "hidden" }, "aeon"), head(app), body(app, width), foot(app)));
}
