// Builds elements and brings the page up to date with them. Text is set as text; nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";

function made(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.flat(4).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
}

export const h = (tag, attributes, ...children) => made(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => made(document.createElementNS(SVG, tag), attributes, children);

// A button that does an action of app.js, named by `data-act` with its arguments in other data attributes.
export const button = (act, attributes, ...children) => h("button", { type: "button", "data-act": act, ...attributes }, ...children);

const keyOf = (node) => (node.nodeType === 1 ? node.getAttribute("data-key") : null);
const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

// Makes `old` like `wanted` with as few changes as possible, so that focus, selection, scrolling and typed text stay.
export function morph(old, wanted) {
  if (old.nodeType !== 1) {
    if (old.nodeValue !== wanted.nodeValue) old.nodeValue = wanted.nodeValue;
    return;
  }
  for (const { name } of [...old.attributes]) if (!wanted.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  for (const { name, value } of [...wanted.attributes]) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (old.nodeName === "TEXTAREA" || old.hasAttribute("data-keep")) return;
  const keyed = new Map([...old.childNodes].filter(keyOf).map((node) => [keyOf(node), node]));
  let next = old.firstChild;
  for (const child of [...wanted.childNodes]) {
    const known = keyOf(child) ? keyed.get(keyOf(child)) : null;
    if (known && alike(known, child)) {
      if (known !== next) old.insertBefore(known, next);
      else next = next.nextSibling;
      morph(known, child);
    } else if (next && !keyOf(child) && alike(next, child)) {
      const same = next;
      next = next.nextSibling;
      morph(same, child);
    } else old.insertBefore(child, next);
  }
  while (next) {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  }
}
