"""Carries out a request for several things part by part, each decided about as a request of its own."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.outcome import Outcome, success
from aeond.domain.plans.profiles import Route
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.frozen import frozen
from aeond.orchestration.context.statements import last_question, question_and_rest
from aeond.orchestration.decision.decider import (
    ANSWERED,
    CANNOT,
    NOT_DECIDED,
    Decider,
    ended,
    going_on,
    may_go_on,
    may_have_changed,
)
from aeond.orchestration.interfaces import Judgement, RouteChoice, discard_text
from aeond.orchestration.last_runs import LastRuns
from aeond.orchestration.prompts.run_prompts import exchange_text
from aeond.orchestration.sequence.splitting import cut_of
from aeond.ports import TextSink

# Two about the request, two about what stands behind its question, two about its parts, one about the first of these, and a decision.
_CALLS: Final = 8
_SEVERAL_FROM_WORDS: Final = 8
_SURELY_ONE_FROM: Final = 0.6  # log-odds
_SEVERAL_FROM: Final = 1.3  # log-odds of several parts, less those of one thing


@frozen
class _Progress:
    """How far a request has been carried out: the answers to the parts that are done, and how many steps these took. A request without
    parts is decided about as a whole."""

    parts: tuple[str, ...]
    said: tuple[str, ...] = ()
    steps: int = 0

    @property
    def done(self) -> bool:
        return len(self.said) == len(self.parts)

    @property
    def text(self) -> str:
        """The answers below each other, each line once."""
        return "\n".join(dict.fromkeys(line for text in self.said for line in text.splitlines()))

    def view(self, run: RunSnapshot) -> RunSnapshot:
        """The run as one whose request is the next part; the parts before it were said before."""
        before = [exchange_text(part, (), text) for part, text in zip(self.parts, self.said, strict=False)]
        steps = dict(list(run.steps.items())[self.steps :])
        context = "\n".join(filter(None, (run.context, *before)))
        return replace(run, resolved_text=self.parts[len(self.said)], context=context, steps=steps)

    def after(self, run: RunSnapshot, text: str) -> "_Progress":
        """The same when the next part is done as well."""
        return _Progress(self.parts, (*self.said, text), len(run.steps))


class InParts:
    """The Router, and the Evaluator of DIRECT runs, over a Decider.

    A small model is asked whether a request that may change something is for several things, and then for its parts. A question with an
    order behind it has two. The progress of a run is known while it is one of the last ones; after a restart of the daemon a run
    that has changed nothing begins with its first part, with the results of its steps, and another one is decided about undivided.
    """

    def __init__(self, decider: Decider) -> None:
        self._decider = decider
        self._runs: LastRuns[str, _Progress] = LastRuns()

    async def choose(self, snapshot: RunSnapshot, grant: Grant, on_text: TextSink) -> Outcome[RouteChoice]:
        progress = _Progress(await self._parts(snapshot, grant))
        if not progress.parts:
            self._runs[snapshot.run_id] = progress
            return await self._decider.choose(snapshot, grant, on_text)
        progress, chosen = await self._decide(progress, snapshot, grant)
        if chosen.value.answer is not None:
            on_text(chosen.value.answer.text)
        elif chosen.value.tool_call is not None:
            self._runs[snapshot.run_id] = progress
        return chosen

    async def evaluate(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[Judgement]:
        progress = self._runs.get(snapshot.run_id)
        if progress is None and not may_have_changed(snapshot):
            progress = _Progress(await self._parts(snapshot, grant))
            self._runs[snapshot.run_id] = progress
        if progress is None or not progress.parts:
            return await self._decider.evaluate(snapshot, grant)
        judged = await self._decider.evaluate(progress.view(snapshot), grant)
        steps = [action.step for action in judged.value.actions if action.step is not None]
        if calls := [step.tool_call for step in steps if step.tool_call is not None]:
            return success(going_on(snapshot, *calls))
        evaluation = judged.value.evaluation
        progress = progress.after(snapshot, evaluation.final_output)
        if evaluation.reasons != (ANSWERED,) or progress.done or not may_go_on(snapshot):
            whole = replace(evaluation, final_output=progress.text)
            return replace(judged, value=replace(judged.value, evaluation=whole))
        progress, chosen = await self._decide(progress, snapshot, grant)
        self._runs[snapshot.run_id] = progress
        call, answer = chosen.value.tool_call, chosen.value.answer
        if call is not None:
            return success(going_on(snapshot, call))
        if answer is None:
            return success(ended(snapshot, NOT_DECIDED, progress.text))
        return success(ended(snapshot, CANNOT if answer.notes else ANSWERED, progress.text))

    async def _parts(self, run: RunSnapshot, grant: Grant) -> tuple[str, ...]:
        """The parts of the request of a run without restrictions, () if it is for one thing."""
        decider = self._decider
        if grant.left.llm_calls < _CALLS or not decider.asks_about(run):
            return ()
        question, rest = question_and_rest(run.text)
        if rest and await self._are_question_and_order(question, rest, run, grant):
            return self._each_for_one((question, rest), run)
        subject = await decider.subjects.of(decider.llm, run, grant)
        if subject.wants_no_change and (rest or _is_short(run.text)):
            return ()
        if await decider.subjects.is_small_talk(subject, decider.llm, run, grant):
            return ()
        one = await decider.extents.odds_of_one(decider.llm, run, grant)
        if one >= _SURELY_ONE_FROM:
            return ()
        cut = await cut_of(decider.llm, run, grant)
        has_several = cut.several - one >= _SEVERAL_FROM
        parts = await self._with_reasons(cut.parts, run, grant) if has_several else ()
        if len(parts) > 1:
            return self._each_for_one(parts, run)
        if cut.known:
            decider.extents.take_for_one(run, run.text)
        return ()

    def _each_for_one(self, parts: tuple[str, ...], run: RunSnapshot) -> tuple[str, ...]:
        for part in parts:
            self._decider.extents.take_for_one(run, part)
        return parts

    async def _are_question_and_order(self, question: str, rest: str, run: RunSnapshot, grant: Grant) -> bool:
        """Whether something is asked, and what stands behind it wants something changed. Of the whole request the model sees the question alone."""
        subjects, llm = self._decider.subjects, self._decider.llm
        ordered = (await subjects.of(llm, run, grant, rest)).is_order
        return ordered and (await subjects.of(llm, run, grant, question)).wants_no_change

    async def _with_reasons(self, parts: Sequence[str], run: RunSnapshot, grant: Grant) -> tuple[str, ...]:
        """The parts, of which one that only says something is the beginning of the next one: it says why that is wanted."""
        joined: list[str] = []
        reason = ""
        for part in parts[:-1]:
            whole = f"{reason} {part}".strip()
            subject = await self._decider.subjects.of(self._decider.llm, run, grant, part)
            reason = whole if subject.may_only_say else ""
            joined += [] if reason else [whole]
        joined.append(f"{reason} {parts[-1]}".strip())
        return tuple(joined)

    async def _decide(
        self, progress: _Progress, run: RunSnapshot, grant: Grant
    ) -> tuple[_Progress, Outcome[RouteChoice]]:
        """Decides about the parts until one needs a step, or cannot be done, or all are answered; the answer is then what was said
        about all of them."""
        while True:
            chosen = await self._decider.choose(progress.view(run), grant, discard_text)
            answer = chosen.value.answer
            if answer is None:
                return progress, chosen
            progress = progress.after(run, answer.text)
            if answer.notes or progress.done:
                whole = replace(answer, text=progress.text)
                return progress, success(RouteChoice(Route.REPLY, answer=whole))


def _is_short(text: str) -> bool:
    """Whether the form of a request that seems to change nothing leaves no room for several things: a question, or few words."""
    return bool(last_question(text)) or len(text.split()) < _SEVERAL_FROM_WORDS
