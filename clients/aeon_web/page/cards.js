// What a person must answer or decide: questions, approvals and interrupted steps.

import { button, h } from "./dom.js";
import { counted, diff, duration, oneLine, pretty, printable, short, shown, titleOf } from "./text.js";

const SHORT = 200;
const SCOPES = {
  once: ["Allow once", "Ctrl+Enter"],
  run: ["Allow for this run", "Ctrl+Shift+Enter"],
  folder: ["Allow in these folders", ""],
  host: ["Allow for these hosts", ""],
};

const untilTime = (time, then) => (time ? h("p", { class: "dim" }, `Open for ${duration(time - Date.now() / 1000)} more; ${then}.`) : null);
const hint = (keys) => (keys ? h("kbd", { "aria-hidden": "true" }, keys) : null);

// The options of a question as values; none if any text is an answer.
export function optionsOf(question) {
  if (question.options.length) return question.options;
  return question.schema?.type === "boolean" ? [true, false] : [];
}

// A typed answer as the daemon expects it; an Error if it is no JSON where JSON is expected.
export function answerOf(question, text) {
  if (!text.trim() && question.has_default) return question.default;
  const type = question.schema?.type ?? "string";
  if (type === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(type === "number" || type === "integer" ? "The answer must be a number." : "The answer must be JSON, as in the schema.");
  }
}

const optionText = (option) => (option === true ? "Yes" : option === false ? "No" : oneLine(shown(option)));

export function questionCard(question, busy, draft) {
  const options = optionsOf(question);
  const plain = (question.schema?.type ?? "string") === "string";
  const choice = options.map((option, place) => button("option", { "data-place": place, disabled: busy, "aria-keyshortcuts": place < 9 ? `Alt+${place + 1}` : null },
    optionText(option), place < 9 ? hint(`Alt+${place + 1}`) : null));
  const field = h("input", {
    id: "card-field", name: "answer", type: "text", value: draft, autocomplete: "off", disabled: busy, "aria-labelledby": "card-title",
    placeholder: question.has_default ? `Default: ${oneLine(shown(question.default))}` : plain ? "Type an answer…" : "JSON",
  });
  return h("section", { class: "card", "data-key": question.key, "aria-labelledby": "card-title" },
    h("h3", { id: "card-title" }, printable(question.prompt)),
    !plain && !options.length && Object.keys(question.schema).length ? h("details", null, h("summary", null, "Expected form"), h("pre", { tabindex: "0" }, pretty(question.schema))) : null,
    untilTime(question.deadline_time, question.has_default ? `then the answer is ${oneLine(shown(question.default))}` : "then the step fails"),
    options.length
      ? h("div", { class: options.length > 4 || options.some((one) => optionText(one).length > 30) ? "options" : "buttons", "data-key": "options" }, choice)
      : h("form", { "data-act": "answer", "data-key": "form", novalidate: true }, field, h("div", { class: "buttons" }, h("button", { class: "primary", type: "submit", disabled: busy }, "Answer"))));
}

function fact(word, value) {
  return value ? h("p", { class: "fact" }, h("span", { class: "dim" }, `${word} `), h("code", null, oneLine(value))) : null;
}

// The effect of a call as a sentence, from the tool's own preview; without one, only the name of the tool is known.
function effectSentence(tool, preview) {
  const { command = [], source, target, diff: changed, host } = preview;
  if (command.length) return `Run ${short(oneLine(command.join(" ")), 120)}`;
  if (source) return target ? `Move ${oneLine(source)} to ${oneLine(target)}` : `Delete ${oneLine(source)}`;
  if (target && changed) {
    const [before, after] = changed.split("\n", 2);
    if (!target.endsWith(after.slice(after.indexOf("/")).trimEnd())) return `Change files in ${oneLine(target)}`;
    return `${before.startsWith("--- /dev/null") ? "Create" : "Change"} ${oneLine(target)}`;
  }
  if (target) return `Write ${oneLine(target)}`;
  return host ? `Contact ${oneLine(host)}` : `Use the tool ${oneLine(tool.tool)}`;
}

// Exactly what a call would do: its arguments as the tool receives them, and the tool's own preview.
function callOf(tool, preview, step, heading) {
  const whole = preview.diff && !preview.problem;
  return h("div", { class: "call" },
    heading ? h("h4", null, heading) : null,
    h("p", null, h("strong", null, oneLine(tool.tool)), step ? h("span", { class: "dim" }, ` · step ${oneLine(step)}`) : null),
    h("dl", null, Object.entries(tool.arguments).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => {
      const text = typeof value === "string" ? printable(value) : pretty(value);
      return [h("dt", null, oneLine(name)), h("dd", null, whole && text.length > SHORT ? `${counted(text.length, "character")}, see the changes below` : text)];
    })),
    fact("Runs", preview.command?.length ? JSON.stringify(preview.command) : ""),
    fact("Contacts", preview.host),
    preview.source && preview.target ? [fact("Moves", preview.source), fact("to", preview.target)] : [fact("Deletes", preview.source), fact("Writes", preview.target)],
    preview.diff ? diff(preview.diff) : null,
    preview.problem ? h("p", { class: "dim" }, `Not shown in full: ${oneLine(preview.problem)}`) : null);
}

// What would happen as the heading, and below it the policy's reason for asking.
export function approvalCard(approval, busy, taint) {
  const sentences = approval.calls.map((tool, place) => effectSentence(tool, approval.previews[place] ?? {}));
  const several = sentences.length !== 1;
  return h("section", { class: "card warn", "data-key": approval.key, "aria-labelledby": "card-title" },
    h("h3", { id: "card-title" }, several ? `Allow ${counted(sentences.length, "call")}?` : `${sentences[0]}?`),
    h("p", { class: "reason" }, h("span", { class: "dim" }, "Why this is asked: "), printable(approval.message)),
    taint.length ? h("p", { class: "notice" }, `Untrusted sources of this run: ${taint.map(oneLine).join(", ")}.`) : null,
    approval.calls.map((tool, place) => callOf(tool, approval.previews[place] ?? {}, approval.step_ids[place], several ? sentences[place] : "")),
    approval.folders.map((folder) => fact("Folder", folder)),
    approval.hosts.map((host) => fact("Host", host)),
    untilTime(approval.expire_time, "then it counts as denied"),
    h("div", { class: "buttons" },
      button("deny", { disabled: busy, "data-key": "deny", "aria-keyshortcuts": "Control+Backspace" }, "Deny", hint("Ctrl+⌫")),
      (approval.scopes.length ? approval.scopes : ["once"]).filter((scope) => SCOPES[scope]).toReversed().map((scope) =>
        button("allow", { "data-key": scope, "data-scope": scope, disabled: busy, class: scope === "once" ? "primary" : null, "aria-keyshortcuts": SCOPES[scope][1].replace("Ctrl", "Control") || null },
          SCOPES[scope][0], hint(SCOPES[scope][1])))));
}

// None of its buttons is harmless, so that the card itself takes the focus.
export function decisionCard({ key, step, reason }, busy) {
  const words = step
    ? `“${titleOf(step)}” was interrupted when its effect may have happened. Look before you decide.`
    : `The run is suspended: ${printable(reason)}.`;
  const resolve = (word, ...text) => button("resolve", { "data-word": word, disabled: busy }, ...text);
  return h("section", { class: "card warn", "data-key": key, tabindex: "-1", "aria-labelledby": "card-title" },
    h("h3", { id: "card-title" }, words),
    h("div", { class: "buttons" }, resolve("abort", step ? "It failed" : "End the run"), step ? resolve("done", "It is done") : null, resolve("retry", step ? "Run it again" : "Continue")));
}
