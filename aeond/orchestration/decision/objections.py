"""Reasons against a call that a small model chose, with the offer or the call that replaces it.

Each objection looks at the call in a certain order, once: those to a choice before its further arguments are written, those to a call after it.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from aeond.domain.plans.plan import StepState
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, ToolCall, ToolSpec
from aeond.frozen import frozen
from aeond.orchestration.context.new_files import names_file, names_new_file
from aeond.orchestration.decision.interfaces import FILE_CHANGES, Offer
from aeond.orchestration.decision.invention import (
    glimpsed_in,
    has_news,
    is_copied,
    is_invented,
    is_unsaid,
    removes_other,
)
from aeond.orchestration.decision.offers import Offers
from aeond.orchestration.decision.results import MAX_RESULT_CHARS, executed, turns_of
from aeond.orchestration.last_runs import LastRuns


@frozen
class Choice:
    """A call with its tool, what it was chosen from, and the examples of the prompt."""

    call: ToolCall
    spec: ToolSpec
    offer: Offer
    run: RunSnapshot
    situation: Situation
    examples: str


Objection = Callable[[Choice], Awaitable[Offer | ToolCall | None]]
"""What is offered, or called, instead; None where nothing speaks against the call."""


@frozen
class Objections:
    """`findings` holds what was found out, by run."""

    offers: Offers
    findings: LastRuns[str, str]

    @property
    def to_choice(self) -> Sequence[Objection]:
        return (
            self._forgets_news,
            self._removes_other,
            self._unmakes,
            self._misses_new_file,
            self._is_elsewhere,
        )

    @property
    def to_call(self) -> Sequence[Objection]:
        return self._is_unsaid, self._is_glimpsed, self._copies, self._invents

    async def _forgets_news(self, choice: Choice) -> Offer | None:
        """A fact of which the request says something new is not forgotten, but kept."""
        keeping = choice.offer.to_keep()
        news = keeping.tools and has_news(choice.call, choice.spec, choice.run, choice.situation)
        return keeping if news else None

    async def _removes_other(self, choice: Choice) -> Offer | None:
        """A fact is not forgotten where something is to be removed from a file."""
        acting = choice.offer.to_act(FILE_CHANGES)
        other = acting.tools and removes_other(choice.call, choice.spec, choice.run, choice.situation)
        return acting if other else None

    async def _unmakes(self, choice: Choice) -> Offer | None:
        """What a step of the run has made or changed is not removed."""
        calls = [step.step.tool_call for step in executed(choice.run) if step.state is StepState.SUCCEEDED]
        made = [
            value for call in calls if call and self.offers.changes(call) for value in call.arguments.values()
        ]
        unmakes = choice.spec.for_part and any(value in made for value in choice.call.arguments.values())
        return choice.offer.without(choice.spec.name) if unmakes else None

    async def _misses_new_file(self, choice: Choice) -> Offer | ToolCall | None:
        """A file that the request does not name is not changed where it names one that is to be made: the nearest one is read first."""
        named = [value for value in choice.call.arguments.values() if isinstance(value, str)]
        misses = (
            choice.spec.effect in FILE_CHANGES
            and bool(choice.spec.composed)
            and names_new_file(choice.run, choice.situation)
            and not any(names_file(choice.run, value) for value in named)
        )
        return (await self._nearest(choice) or choice.offer.without(choice.spec.name)) if misses else None

    async def _is_elsewhere(self, choice: Choice) -> ToolCall | None:
        """No file is changed that is neither named nor near, but the nearest one."""
        named = [value for value in choice.call.arguments.values() if isinstance(value, str)]
        changes = choice.spec.effect in FILE_CHANGES and choice.spec.composed and not executed(choice.run)
        if not changes or any(names_file(choice.run, value) for value in named):
            return None
        near = choice.situation.nearest
        return (
            None
            if not near or set(named).intersection(near)
            else choice.offer.only(choice.spec).changing(near[0])
        )

    async def _is_unsaid(self, choice: Choice) -> ToolCall | None:
        """Nothing new is filled with what was not said before the nearest file was read."""
        unsaid = is_unsaid(choice.call, choice.spec, choice.run, choice.situation)
        return await self._nearest(choice) if unsaid else None

    async def _is_glimpsed(self, choice: Choice) -> ToolCall | None:
        """Nothing new is filled with the lines of a file that are in view before the file was read."""
        path = glimpsed_in(choice.call, choice.spec, choice.run, choice.situation)
        return await self._reading(choice, path) if path else None

    async def _copies(self, choice: Choice) -> Offer | None:
        """Nothing new is filled from the examples of the prompt before any look."""
        looking = choice.offer.to_look((Effect.READ,))
        if executed(choice.run) or not looking.tools:
            return None
        copied = is_copied(choice.call, choice.spec, choice.run, choice.situation, choice.examples)
        return looking if copied else None

    async def _invents(self, choice: Choice) -> Offer | None:
        """No invented number is stored: the user is asked for it."""
        turns = turns_of(executed(choice.run), MAX_RESULT_CHARS)
        found = self.findings.get(choice.run.run_id)
        turns += (replace(turns[-1], result=found),) if found and turns else ()
        invented = is_invented(choice.call, choice.spec, choice.run, choice.situation, turns)
        return self.offers.asking(choice.run) if invented else None

    async def _nearest(self, choice: Choice) -> ToolCall | None:
        """The first call of a run, which reads the nearest file; None after others, and if none is near."""
        nearest = choice.situation.nearest
        return await self._reading(choice, nearest[0]) if nearest else None

    async def _reading(self, choice: Choice, path: str) -> ToolCall | None:
        """The first call of a run, which reads this file; None after others."""
        if executed(choice.run):
            return None
        return (await self.offers.first(choice.run, choice.situation)).reading(path)
