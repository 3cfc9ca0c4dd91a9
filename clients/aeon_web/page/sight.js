// Whether the user sees the card: only then, and not at once, do its keys and clicks count.

// They count from this time after the card came into sight, so that none is meant for something else.
const ARMING_MS = 500;

const root = document.getElementById("app");
let arming = 0;

export const isArmed = (key) => root.dataset.armed === key;

// `data-armed` names the card whose keys and clicks count.
function disarm() {
  clearTimeout(arming);
  delete root.dataset.armed;
}

// A card out of the window, or below the bar at its end, is not armed; back in sight it is again after a while.
const sight = new IntersectionObserver((changes) => {
  const { isIntersecting, target } = changes.at(-1);
  disarm();
  if (isIntersecting) arming = setTimeout(() => { root.dataset.armed = target.dataset.key; }, ARMING_MS);
}, { rootMargin: "-24px 0px -64px" });

export function watchSight(card) {
  sight.disconnect();
  disarm();
  if (card) sight.observe(card);
}

// The card takes the focus unless the user is writing. Of an approval, Deny has it; in a field, the cursor follows the draft.
export function focusCard(card) {
  const writing = document.activeElement?.matches("textarea, input:enabled") && document.activeElement.value;
  if (writing) return;
  const at = card.hasAttribute("tabindex") ? card : card.querySelector("[data-act=deny], input, button");
  at?.focus({ preventScroll: true });
  if (at?.nodeName === "INPUT") at.setSelectionRange(at.value.length, at.value.length);
}

export function appeared(card) {
  focusCard(card);
  card.scrollIntoView({ block: "nearest" });
  watchSight(card);
}
