// The journal of a run: every event, the state after any of them, a check against the record, and forks.

import { button, h } from "./dom.js";
import { graph } from "./graph.js";
import { RunView } from "./state.js";
import { counted, oneLine, pretty, printable, short, shown } from "./text.js";

const ROWS = 200;

// A few words for each event: the parts that tell it from others of its kind.
const ABOUT = ["step_id", "operation", "route", "state", "verdict", "tool", "reason", "message", "dimension", "approved", "question_id", "child_run_id", "pass_index", "text"];

function about({ data }) {
  const found = ABOUT.filter((name) => data[name] !== undefined && data[name] !== "" && data[name] !== null).map((name) => shown(data[name]));
  if (data.step?.step_id) found.unshift(data.step.step_id, data.step.tool);
  if (data.plan?.steps) found.unshift(counted(data.plan.steps.length, "step"));
  if (data.answer?.text) found.unshift(data.answer.text);
  if (data.approval) found.unshift(...data.approval.calls.map((call) => call.tool));
  if (data.question) found.unshift(data.question.prompt);
  return short(oneLine(found.filter(Boolean).join(" · ")), 120);
}

const words = (kind) => kind.replaceAll("_", " ");

let cached = { view: null, at: -1, past: null };

// The run as it was after the event at this place.
export function stateAfter(view, at) {
  if (cached.view !== view || cached.at !== at) cached = { view, at, past: RunView.after(view.runId, view.events.slice(0, at + 1)) };
  return cached.past;
}

export function journal(app, view, width) {
  const events = view.events;
  if (!events.length) return h("p", { class: "dim", "data-key": "none" }, "No event has arrived yet.");
  const at = Math.min(app.at ?? events.length - 1, events.length - 1);
  const chosen = events[at];
  const past = stateAfter(view, at);
  const wanted = app.eventFilter.toLowerCase();
  const found = events.map((event, place) => [event, place]).filter(([event]) => !wanted || `${words(event.kind)} ${about(event)}`.toLowerCase().includes(wanted));
  const from = Math.max(0, Math.min(found.length - ROWS, found.findIndex(([, place]) => place >= at) - ROWS / 2));
  const rows = found.slice(from, from + ROWS);
  const own = chosen.run_id === view.runId;
  const report = app.replay;
  return h("div", { class: "journal", "data-key": "events" },
    h("div", { class: "slider" },
      h("label", { for: "position" }, `State after event ${chosen.seq} of ${counted(events.length, "event")}`),
      h("input", { id: "position", type: "range", min: 0, max: events.length - 1, step: 1, "aria-valuetext": `Event ${chosen.seq}: ${words(chosen.kind)}`, "data-value": at })),
    graph(past, width, ""),
    h("p", { class: "dim", "data-key": "then" }, `${words(past.run.state)}${past.run.steps.size ? `, ${past.over} of ${counted(past.run.steps.size, "step")} ended` : ""}${past.run.activity ? `, ${oneLine(past.run.activity)}` : ""}`),
    h("div", { class: "columns" },
      h("div", null,
        h("input", { id: "event-filter", type: "search", placeholder: "Filter the events", "aria-label": "Filter the events", autocomplete: "off" }),
        h("ol", { class: "events", "aria-label": "Events" }, rows.map(([event, place]) => h("li", { "data-key": `${event.run_id}/${event.seq}` },
          button("event", { "data-place": place, "aria-current": place === at ? "true" : null },
            h("span", { class: "seq" }, event.seq),
            h("span", { class: "kind" }, event.run_id === view.runId ? words(event.kind) : `↳ ${words(event.kind)}`),
            h("span", { class: "dim about" }, about(event)))))),
        found.length > rows.length ? h("p", { class: "dim" }, `${rows.length} of ${found.length} shown, around the chosen one.`) : null),
      h("section", { class: "event", "aria-labelledby": "event-title", "data-key": "event" },
        h("h3", { id: "event-title" }, `${chosen.seq} ${words(chosen.kind)}`),
        h("p", { class: "dim" }, `${new Date(chosen.time * 1000).toLocaleString()} · ${chosen.elapsed_seconds.toFixed(3)} s of work${own ? "" : ` · run ${chosen.run_id.slice(-4)}`}`),
        h("pre", { tabindex: "0", role: "region", "aria-label": "Content of the event" }, pretty(chosen.data)),
        h("div", { class: "buttons" },
          button("fork", { "data-seq": chosen.seq, disabled: !own || chosen.kind === "run_ended" || app.busy.has("fork"), "aria-describedby": "fork-help" }, `Fork after event ${chosen.seq}`),
          button("replay", { disabled: app.busy.has("replay") }, app.busy.has("replay") ? "Replaying…" : "Replay the record")),
        h("p", { class: "dim", id: "fork-help" }, "A fork copies the events up to here and continues as a new run. A replay computes every decision again, without model or tools."),
        report ? h("p", { class: report.identical ? "ok" : "err", role: "status", "data-key": "report" },
          report.identical ? `${counted(report.count, "event")} replayed: identical to the record.` : `Differs after ${counted(report.count, "event")}: ${printable(report.message)}`) : null)));
}
