"""Observes the situation of a run: the time, the names in its workspace, the facts that are remembered."""

import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

import anyio

from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation, WorkspaceView
from aeond.domain.values import JsonValue
from aeond.errors import AeondError
from aeond.ports import Clock, Memories

MAX_FILES: Final = 60
MAX_FACTS: Final = 30
MAX_FACT_CHARS: Final = 5_000  # of a value as JSON; a tool remembers less
OBSERVE_SECONDS: Final = 3.0
NEAREST_SECONDS: Final = 10.0
FRESH_SECONDS: Final = 600.0
MAX_RUNS: Final = 64  # whose situations are kept

# Not from the locale: the prompt must not depend on the machine's language.
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)

_NAME: Final = re.compile(r"\S*\w\.\w\S*")

log = logging.getLogger("aeond.service")

Views = Callable[[str, int, str], Awaitable[WorkspaceView]]
"""For a workspace, at most so many files, of more those nearest to a text, and the lines that share most with it."""
Nearest = Callable[[str, str], Awaitable[tuple[str, ...]]]
"""The files of a workspace that a text is probably about, in other words, too."""

Languages = Callable[[str], Awaitable[str]]
"""The English name of the language of a text; "" where that is doubtful."""


class ObservedSituations:
    """The Situations over the clock, the memory of the run's user and the workspace.

    A run sees the situation in which it began for FRESH_SECONDS: its own results show what changes, and an engine
    need not read the rest again. Each part of a request for several things sees what those before it have changed.

    Entries that all fit are sorted, so that the prompts of one workspace begin alike; of more, those nearest to
    the request are listed. A child run sees neither: it works on
    what it was given.
    """

    def __init__(
        self, clock: Clock, memories: Memories, views: Views, nearest: Nearest, languages: Languages
    ) -> None:
        self._clock = clock
        self._memories = memories
        self._views = views
        self._nearest = nearest
        self._languages = languages
        self._seen: dict[
            tuple[str, str], tuple[float, Situation]
        ] = {}  # by run and request, the oldest first

    async def observe(self, run: RunSnapshot) -> Situation:
        key = (run.run_id, run.text)
        time, seen = self._seen.get(key, (0.0, None))
        if seen is None or self._clock.monotonic() - time > FRESH_SECONDS:
            seen = await self._observed(run)
            self._seen.pop(key, None)
            self._seen[key] = (self._clock.monotonic(), seen)
            while len(self._seen) > MAX_RUNS:
                del self._seen[next(iter(self._seen))]
        return seen

    async def nearest(self, run: RunSnapshot, words: str) -> tuple[str, ...]:
        if run.request.tools is None:
            with _bounded(run, NEAREST_SECONDS):
                return await self._nearest(run.workspace, f"{words}\n{_about(run)}")
        return ()

    async def language(self, text: str) -> str:
        with anyio.move_on_after(OBSERVE_SECONDS):
            return await self._languages(text)
        return ""

    async def _observed(self, run: RunSnapshot) -> Situation:
        view = WorkspaceView()
        facts: Sequence[tuple[str, JsonValue]] = ()
        more_facts = memory_seen = folder_seen = False
        if run.request.tools is None:
            with _bounded(run):
                view = await self._views(run.workspace, MAX_FILES, _about(run))
                folder_seen = bool(run.workspace)
                facts, more_facts = await self._facts(run)
                memory_seen = True
        return Situation(
            self._time(),
            view.files,
            view.more_files,
            tuple(facts),
            more_facts,
            view.lines,
            memory_seen,
            view.newest,
            view.largest,
            view.nearest,
            folder_seen,
        )

    async def _facts(self, run: RunSnapshot) -> tuple[Sequence[tuple[str, JsonValue]], bool]:
        memory = self._memories.of(run.request.owner.uid)
        found = await memory.search("", MAX_FACTS + 1, most_chars=MAX_FACT_CHARS)
        more = len(found) > MAX_FACTS
        if more:
            nearest = await memory.recall(run.text, MAX_FACTS, MAX_FACT_CHARS)
            found = [(fact.key, fact.value) for fact in nearest]
        sources = await memory.sources([key for key, _ in found])
        # Facts from untrusted sources are text for the model only once it recalls them, which taints the run.
        shown = [(key, value) for key, value in found if key not in sources or not sources[key].taint]
        return shown, more or len(shown) < len(found)

    def _time(self) -> str:
        now = datetime.fromtimestamp(self._clock.time(), UTC).astimezone()
        day = f"{_WEEKDAYS[now.weekday()]} {now.day} {_MONTHS[now.month - 1]} {now.year}"
        return f"{day}, {now.hour:02d}:{now.minute:02d}"


@contextmanager
def _bounded(run: RunSnapshot, seconds: float = OBSERVE_SECONDS) -> Iterator[None]:
    """Gives up after so long, and where a source fails."""
    with anyio.move_on_after(seconds):
        try:
            yield
        except AeondError as error:
            log.warning("the situation is incomplete: %s", error.message, extra={"run_id": run.run_id})


def _about(run: RunSnapshot) -> str:
    """The text to which files are to be near. A part of a request by itself seldom says which files it is about, but a file that only
    another part names belongs to that one."""
    whole, part = run.request.text, run.text
    if part not in whole:
        return part
    before, _, behind = whole.partition(part)
    return f"{_NAME.sub('', before)}{part}{_NAME.sub('', behind)}"
