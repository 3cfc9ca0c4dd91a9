// The plan as a picture: one box for each step, in columns (or rows, where it is narrow) by what it waits for.

import { h, s } from "./dom.js";
import { printable, short, titleOf } from "./text.js";

const GAP = 26;
const HEIGHT = 40;
const BREADTH = { least: 104, most: 196 };

const STATES = {
  pending: "waiting", ready: "ready", running: "running", succeeded: "done", failed: "failed", invalid: "rejected",
  skipped: "skipped", unknown: "interrupted", person: "needs you",
};

export const stateOf = (step, waiting) => (waiting.has(step.step_id) && step.state !== "succeeded" ? "person" : step.state);
export const wordOf = (state) => STATES[state] ?? state;

// The mark of a state: its shape differs as well as its colour.
export function mark(state, x = 0, y = 0) {
  const c = (more) => s("circle", { cx: 9, cy: 9, r: 7.5, ...more });
  const shapes = {
    running: [c({ class: "track" }), s("path", { class: "spin", d: "M9 1.5a7.5 7.5 0 0 0-7.5 7.5" })],
    succeeded: [c({ class: "full" }), s("path", { class: "sign", d: "M5.4 9.3l2.5 2.5 4.7-5.2" })],
    failed: [c({ class: "full" }), s("path", { class: "sign", d: "M6.2 6.2l5.6 5.6m0-5.6l-5.6 5.6" })],
    skipped: [c({ "stroke-dasharray": "2.6 2.6" }), s("path", { d: "M5.5 9h7" })],
    unknown: [c(), s("path", { d: "M9 5v5" }), s("circle", { class: "dot", cx: 9, cy: 12.6, r: 1 })],
    person: [c(), s("circle", { class: "dot", cx: 9, cy: 9, r: 3.2 })],
  };
  const name = state === "invalid" ? "failed" : state;
  return s("svg", { class: `mark ${name}`, x, y, width: 18, height: 18, viewBox: "0 0 18 18", "aria-hidden": "true" }, shapes[name] ?? [c()]);
}

// The column of each step: one more than the last of those that it waits for. Steps that a plan repeats in a circle,
// which a daemon never sends, get the column of the first visit.
function levels(steps) {
  const known = new Map();
  const visit = (step) => {
    if (known.has(step.step_id)) return known.get(step.step_id);
    known.set(step.step_id, 0);
    const before = step.depends_on.map((name) => steps.get(name)).filter(Boolean).map(visit);
    known.set(step.step_id, before.length ? Math.max(...before) + 1 : 0);
    return known.get(step.step_id);
  };
  for (const step of steps.values()) visit(step);
  return known;
}

// Places of the boxes in a picture of this width: {boxes: Map(id, {x, y}), breadth, width, height, across}.
export function layout(steps, width) {
  const columns = [];
  for (const [name, level] of levels(steps)) (columns[level] ??= []).push(name);
  const rows = Math.max(1, ...columns.map((column) => column.length));
  const breadthFor = (count) => (width - (count - 1) * GAP) / count;
  const across = breadthFor(columns.length) >= BREADTH.least;
  const breadth = Math.max(BREADTH.least, Math.min(BREADTH.most, breadthFor(across ? columns.length : rows)));
  const boxes = new Map();
  columns.forEach((column, level) => column.forEach((name, place) => {
    const middle = place - (column.length - 1) / 2 + (rows - 1) / 2;
    boxes.set(name, across ? { x: level * (breadth + GAP), y: middle * (HEIGHT + 12) } : { x: middle * (breadth + GAP), y: level * (HEIGHT + GAP) });
  }));
  const count = across ? columns.length : rows;
  return {
    boxes, breadth, across, width: count * (breadth + GAP) - GAP,
    height: across ? rows * (HEIGHT + 12) - 12 : columns.length * (HEIGHT + GAP) - GAP,
  };
}

// An edge that passes columns in between goes straight, behind their boxes, and bends at the end.
function edge(from, to, { across, breadth }) {
  if (across) {
    const [x1, y1, x2, y2] = [from.x + breadth, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
    return `M${x1} ${y1}H${x2 - GAP}C${x2 - GAP / 2} ${y1} ${x2 - GAP / 2} ${y2} ${x2} ${y2}`;
  }
  const [x1, y1, x2, y2] = [from.x + breadth / 2, from.y + HEIGHT, to.x + breadth / 2, to.y];
  return `M${x1} ${y1}V${y2 - GAP}C${x1} ${y2 - GAP / 2} ${x2} ${y2 - GAP / 2} ${x2} ${y2}`;
}

// The picture. The list of steps says the same in words, so that it is one image for screen readers.
export function graph(view, width, selected) {
  const steps = view.run.steps;
  if (!steps.size) return null;
  const plan = layout(steps, width);
  const waiting = view.waiting;
  const edges = [...steps.values()].flatMap((step) => step.depends_on.filter((name) => plan.boxes.has(name)).map((name) => {
    const done = steps.get(name).state === "succeeded";
    return s("path", { class: `edge${done ? " done" : ""}`, "data-key": `${name}>${step.step_id}`, d: edge(plan.boxes.get(name), plan.boxes.get(step.step_id), plan) });
  }));
  const boxes = [...steps.values()].map((step) => {
    const state = stateOf(step, waiting);
    const { x, y } = plan.boxes.get(step.step_id);
    const child = step.child && view.runs.get(step.child);
    const more = child && child.steps.size ? ` ${[...child.steps.values()].filter((one) => one.state === "succeeded").length}/${child.steps.size}` : "";
    const room = Math.floor((plan.breadth - 42) / 6.6) - more.length;
    return s("g", { class: `box ${state}${selected === step.step_id ? " chosen" : ""}`, "data-key": step.step_id, "data-act": "choose", "data-step": step.step_id, transform: `translate(${x} ${y})` },
      s("title", null, `${printable(titleOf(step))}: ${wordOf(state)}`),
      s("rect", { width: plan.breadth, height: HEIGHT, rx: 9 }),
      mark(state, 10, 11),
      s("text", { x: 34, y: 25 }, short(titleOf(step), Math.max(room, 4)) + more));
  });
  const done = view.over;
  const scrolls = plan.width + 4 > width; // then the arrow keys scroll it
  return h("div", { class: "picture", "data-key": "picture", ...(scrolls && { tabindex: "0", role: "region", "aria-label": "Picture of the plan" }) },
    s("svg", { class: "graph", role: "img", "aria-label": `The plan: ${done} of ${steps.size} steps have ended`, width: plan.width + 4, height: plan.height + 4, viewBox: `-2 -2 ${plan.width + 4} ${plan.height + 4}` }, edges, boxes));
}
