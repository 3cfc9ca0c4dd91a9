"""Actions and views of a user of the web page, for tests in a browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from aeond_client import RunOptions
from aeond_client.records.runs import Plan, PlanStep
from tests.support.browser import DEADLINE_MS

REPORT = "report.txt"
BEFORE = "12 failures\n"
AFTER = "all is well\n"
# Playwright's own wait_for_function makes a script from a string at each look, which the page's rules forbid: it works only
# where the first look, which they allow, is enough.
_LOOK_AT_EACH_FRAME = """async ([condition, arg, limit]) => {
  const holds = globalThis.eval(`(${condition})`);
  const end = performance.now() + limit;
  while (!holds(arg)) {
    if (performance.now() > end) throw new Error(`still not so: ${condition}`);
    await new Promise(requestAnimationFrame);
  }
}"""

# Counts the streams of the page, and breaks the last one as a lost connection would.
_BREAKABLE = """
const real = window.fetch;
window.streams = 0;
window.fetch = async (...given) => {
  const reply = await real(...given);
  if (!String(given[0]).endsWith("/stream")) return reply;
  window.streams += 1;
  const breaking = new TransformStream({ start: (way) => { window.breakStream = () => way.error(new Error("cut")); } });
  return new Response(reply.body.pipeThrough(breaking), { status: reply.status });
};
"""

# Holds the half second after which keys on a card count, as long as a test wants.
_HOLDABLE = """
const real = window.setTimeout;
let held = [];
window.holding = false;
window.setTimeout = (work, ms, ...more) => (ms === 500 && window.holding ? held.push(work) : real(work, ms, ...more));
window.goOn = () => { window.holding = false; for (const work of held) work(); held = []; };
"""


def ask(page: Any, text: str) -> None:
    """Types a request into the focused field and sends it."""
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def show(page: Any, run_id: str) -> None:
    """Shows a run by its address."""
    page.evaluate("run => { location.hash = `run=${run}` }", run_id)


def badge(page: Any, words: str) -> None:
    """Waits until the stage of the run is shown with these words."""
    page.locator(".badge").get_by_text(words).wait_for()


def until(page: Any, condition: str, arg: Any = None) -> None:
    """Waits until a function of the page, given as its script, returns something true for `arg`."""
    page.evaluate(_LOOK_AT_EACH_FRAME, [condition, arg, DEADLINE_MS])


def breakable(tab: Callable[..., Any], link: str) -> Any:
    """The page in a tab, with a stream that `cut_off` can break."""
    return _changed(tab, link, _BREAKABLE)


def holdable(tab: Callable[..., Any], link: str) -> Any:
    """The page in a tab, with cards that `held` keeps from taking keys."""
    return _changed(tab, link, _HOLDABLE)


def _changed(tab: Callable[..., Any], link: str, script: str) -> Any:
    page = tab("about:blank")
    page.add_init_script(script)
    page.goto(link)
    return page


def cut_off(page: Any) -> None:
    """Breaks the stream of a breakable page, and waits until it has another one."""
    opened = page.evaluate("streams")
    page.evaluate("breakStream()")
    until(page, "before => streams > before", opened)


def armed(page: Any) -> None:
    """Waits until keys on the card count, half a second after it has appeared."""
    page.locator("[data-armed]").wait_for()


def held(page: Any) -> None:
    """From now on no card's half second ends, in a holdable page."""
    page.evaluate("() => { holding = true }")


def go_on(page: Any) -> None:
    """Lets half seconds end again, and waits until keys on the card count: its own may not have begun yet."""
    page.evaluate("goOn()")
    armed(page)


def numbers(page: Any) -> list[int]:
    """The numbers of all events that the page has, from its journal."""
    page.keyboard.press("Control+j")
    page.locator(".events").wait_for()
    return [int(text) for text in page.locator(".events .seq").all_text_contents()]


def run_of(page: Any) -> str:
    """The id of the run that is shown."""
    return str(page.evaluate("new URLSearchParams(location.hash.slice(1)).get('run')"))


def overwriting(folder: Path) -> RunOptions:
    """A plan that replaces the content of a file, which needs approval."""
    (folder / REPORT).write_text(BEFORE)
    step = PlanStep("s1", "", "write_file", {"path": REPORT, "content": AFTER})
    return RunOptions(plan=Plan("", (step,)), workspace=str(folder))
