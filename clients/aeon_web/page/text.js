// Text of runs for people. It comes from models, tools and files, so it becomes text nodes and never markup.

import { h } from "./dom.js";

// Control characters, direction overrides and invisible marks, apart from those that only shape their neighbours.
const UNSAFE = /(?![\u00ad\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const escaped = (character) => {
  const code = character.codePointAt(0);
  return code <= 0xff ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
};

// The text with lines and tabs kept and every other control character visible.
export const printable = (text) =>
  String(text).replaceAll("\r\n", "\n").replace(UNSAFE, (one) => (one === "\n" || one === "\t" ? one : escaped(one)));
export const oneLine = (text) => printable(String(text).split(/\s+/u).join(" ").trim());
// A message of the daemon, which has no capital because the command line puts words before it, as a sentence of its own. A
// first word with other signs than small letters stays as it is.
export const sentence = (text) => printable(text).replace(/^[a-z](?=[a-z]* )/, (first) => first.toUpperCase());
export const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));
export const pretty = (value) => printable(typeof value === "string" ? value : JSON.stringify(value, null, 2));
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
export const short = (text, length) => (text.length > length ? `${text.slice(0, length - 1).trimEnd()}…` : text);

export function duration(seconds) {
  const whole = Math.max(0, seconds);
  if (whole < 10) return `${whole.toFixed(1)} s`;
  if (whole < 60) return `${Math.floor(whole)} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${Math.floor(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

export function ago(time) {
  const seconds = Date.now() / 1000 - time;
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return new Date(time * 1000).toLocaleDateString();
}

// The planner's description of a step, else its tool with the arguments.
export function titleOf(step) {
  if (step.description) return oneLine(step.description);
  if (!step.tool) return oneLine(step.agent || step.step_id);
  const values = Object.entries(step.arguments ?? {});
  const words = values.length === 1 ? shown(values[0][1]) : values.map(([name, value]) => `${name}=${shown(value)}`).join(" ");
  return oneLine(`${step.tool} ${words}`);
}

export function effectOf(effect) {
  if (effect.kind === "effects.omitted") return `and ${oneLine(effect.target)} more`;
  const verb = effect.kind.split(".").at(-1).replaceAll("_", " ");
  return `${oneLine(verb)}: ${oneLine(effect.target)}${effect.detail ? ` (${oneLine(effect.detail)})` : ""}`;
}

// A unified diff, line by line; the signs are part of the text, so that colour is not needed.
export function diff(text) {
  const kinds = { "+": "added", "-": "removed", "@": "place" };
  const lines = text.replace(/\n$/, "").split("\n");
  const head = (line) => line.startsWith("+++ ") || line.startsWith("--- ");
  return h("pre", { class: "diff", tabindex: "0", role: "region", "aria-label": "Changes to the file" },
    lines.map((line, place) => h("span", { class: place < 2 && head(line) ? "file" : kinds[line[0]] ?? "same" }, `${printable(line)}\n`)));
}

// ---------------------------------------------------------------- answers: the marks of Markdown, without links

const INLINE = /(`+)([^`]+?)\1|\*\*(.+?)\*\*|(?<![\w*])\*([^*\s][^*]*?)\*(?!\w)/gu;

function inline(text) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    parts.push(text.slice(from, found.index));
    if (found[2] !== undefined) parts.push(h("code", null, found[2]));
    else if (found[3] !== undefined) parts.push(h("strong", null, inline(found[3])));
    else parts.push(h("em", null, inline(found[4])));
    from = found.index + found[0].length;
  }
  return [...parts, text.slice(from)];
}

const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
const isRule = (line) => line !== undefined && /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(line) && line.includes("-");
const ITEM = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$/;

function table(lines) {
  const [head, , ...rows] = lines.map(cells);
  return h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" }, h("table", null,
    h("thead", null, h("tr", null, head.map((cell) => h("th", { scope: "col" }, inline(cell))))),
    h("tbody", null, rows.map((row) => h("tr", null, row.map((cell) => h("td", null, inline(cell))))))));
}

export function markdown(source) {
  const lines = printable(source).split("\n");
  const blocks = [];
  let at = 0;
  const take = (wanted) => {
    const from = at;
    while (at < lines.length && wanted(lines[at])) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at];
    const heading = /^(#{1,4})\s+(.*)$/.exec(line);
    if (/^\s*```/.test(line)) {
      at += 1;
      const code = take((one) => !/^\s*```/.test(one));
      at += 1;
      blocks.push(h("pre", { tabindex: "0", role: "region", "aria-label": "Code" }, h("code", null, code.join("\n"))));
    } else if (heading) {
      at += 1;
      blocks.push(h(`h${Math.min(heading[1].length + 2, 6)}`, null, inline(heading[2])));
    } else if (line.includes("|") && isRule(lines[at + 1])) blocks.push(table(take((one) => one.includes("|"))));
    else if (ITEM.test(line)) {
      const items = take((one) => ITEM.test(one)).map((one) => ITEM.exec(one));
      blocks.push(h(items[0][1] ? "ol" : "ul", null, items.map((item) => h("li", null, inline(item[2])))));
    } else if (!line.trim()) at += 1;
    else {
      const first = lines[at++];
      const more = take((one) => one.trim() && !/^\s*```/.test(one) && !ITEM.test(one) && !/^#{1,4}\s/.test(one) && !one.includes("|"));
      blocks.push(h("p", null, inline([first, ...more].join("\n"))));
    }
  }
  return blocks;
}
