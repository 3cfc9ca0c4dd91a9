"""Asks a small model which tool of another author does what a request wants, or whether none does, and for the arguments of its calls.

The prompt of a decision has rules and examples for the product's own tools. With it a small model rarely calls any other tool: it answers
from its own knowledge, or refuses. ADR 0110 has the measurements.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import ToolCall, ToolSpec
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM
from aeond.orchestration.decision.conversations.odds import LIKELY, log_odds, odds_of
from aeond.orchestration.decision.forms.schema import decision_arguments
from aeond.orchestration.decision.interfaces import Offer
from aeond.orchestration.last_runs import LastRuns
from aeond.orchestration.prompts.decision_prompts import YES, begun, tool_form
from aeond.orchestration.prompts.fitting_prompts import (
    CODE,
    EXACT,
    NONE,
    arguments_messages,
    fitting_messages,
)
from aeond.orchestration.repair.strict_json import read_json
from aeond.ports import LLMAdapter, Validator
from aeond.schemas.parts import as_object, is_list

MAX_NAME_TOKENS: Final = 48
MAX_ARGUMENTS_TOKENS: Final = 900
MAX_CALLS: Final = 8
SECONDS: Final = 300.0
# Log-odds of NONE against all names, and of YES against NO, chosen on questions of the function calling leaderboard and of strangers.
_NONE_FROM: Final = -2.5
_EXACT_FROM: Final = 1.0
_TOO_FROM: Final = 1.6  # the same, of a tool whose call may follow another
_CODE_FROM: Final = 0.5  # log-odds of YES against NO, on requests of our own


class FittingTools:
    """The tools that fit requests, each asked once while its run is one of the last ones."""

    def __init__(self) -> None:
        self._known: LastRuns[tuple[str, str], str] = LastRuns()  # by run and request
        self._rest: LastRuns[tuple[str, str], tuple[ToolCall, ...]] = (
            LastRuns()
        )  # calls still to be made, by the same

    async def of(
        self, llm: LLMAdapter, run: RunSnapshot, situation: Situation, offer: Offer, grant: Grant
    ) -> str:
        """The name of the offered tool of another author that fits the run's request, for three calls of the grant if it is not known yet;
        NONE if most likely none does, "" if the model says neither."""
        key = (run.run_id, run.text)
        known = self._known.get(key)
        if known is None and (known := await _fitting(llm, run, situation, offer, grant)) is not None:
            self._known[key] = known
        return known or ""

    async def first_call(
        self,
        llm: LLMAdapter,
        validator: Validator,
        run: RunSnapshot,
        situation: Situation,
        offer: Offer,
        spec: ToolSpec,
        grant: Grant,
    ) -> ToolCall | None:
        """The first of the calls of the tool that the request needs, for one call of the grant, or with the request itself for none; None if
        the model writes none that the tool takes. The others are kept for `rest`."""
        written = (
            [ToolCall(spec.name, {spec.request_argument: run.text})]
            if spec.request_argument
            else await _calls(llm, run, situation, offer, spec, grant)
        )
        calls = [call for call in written if not validator.validate_tool_call(call, spec)]
        if not calls:
            return None
        self._rest[run.run_id, run.text] = tuple(calls[1:])
        return calls[0]

    async def is_asked_for(
        self, llm: LLMAdapter, run: RunSnapshot, tool: ToolSpec | None, grant: Grant
    ) -> bool:
        """Whether the request surely asks for what this tool does, too, for one call of the grant."""
        return tool is not None and await _odds_of_exact(llm, run, tool, grant) >= _TOO_FROM

    def rest(self, run: RunSnapshot) -> tuple[ToolCall, ...] | None:
        """The calls that are still to be made, each returned once; () when there is none left, None if no first one is known."""
        key = (run.run_id, run.text)
        rest = self._rest.get(key)
        if rest:
            self._rest[key] = ()
        return rest


async def _calls(
    llm: LLMAdapter, run: RunSnapshot, situation: Situation, offer: Offer, spec: ToolSpec, grant: Grant
) -> Sequence[ToolCall]:
    """At most MAX_CALLS different calls."""
    items = decision_arguments(spec, offer)
    request = LLMRequest(
        arguments_messages(spec, run, situation),
        max_tokens=MAX_ARGUMENTS_TOKENS,
        schema={"type": "array", "items": items, "minItems": 1, "maxItems": MAX_CALLS},
        fixed=True,
        deadline_seconds=SECONDS,
    )
    written = read_json(await BudgetedLLM(llm, grant).text(request)).value
    calls: list[ToolCall] = []
    for arguments in written if is_list(written) else ():
        call = ToolCall(spec.name, as_object(arguments))
        if call not in calls:
            calls.append(call)
    return calls[:MAX_CALLS]


async def _fitting(
    llm: LLMAdapter, run: RunSnapshot, situation: Situation, offer: Offer, grant: Grant
) -> str | None:
    """What `FittingTools.of` returns; None where the model failed, which is asked again."""
    if (programmer := _programmer(situation, offer)) is not None:
        if await odds_of(YES, CODE, llm, grant, run.text) >= _CODE_FROM:
            return programmer.name
        offer = offer.without(programmer.name)
    if not offer.has_others:
        return NONE
    others = offer.others.tools
    names = [spec.name for spec in others]
    request = LLMRequest(
        fitting_messages(run.text, map(tool_form, others)),
        max_tokens=MAX_NAME_TOKENS,
        likely=LIKELY,
        fixed=True,
    )
    answered = (await BudgetedLLM(llm, grant).generate(request)).value
    if answered is None:
        return None
    if log_odds(answered.likely, begun(NONE, *names), NONE) >= _NONE_FROM:
        return NONE
    name = answered.text.strip().partition("(")[0]
    tool = offer.tool(name) if name in names else None
    if tool is None:
        return ""
    # By its name alone a small model takes one that is near to it.
    return name if await _odds_of_exact(llm, run, tool, grant) >= _EXACT_FROM else NONE


def _programmer(situation: Situation, offer: Offer) -> ToolSpec | None:
    """The tool that changes source code, if such files are there: by its name alone a small model does not find it."""
    names = {path.rpartition("/")[2] for path, _ in (*situation.files, *situation.lines)}
    return next(
        (
            spec
            for spec in offer.others.tools
            if any(fnmatchcase(name, pattern) for name in names for pattern in spec.source_code)
        ),
        None,
    )


async def _odds_of_exact(llm: LLMAdapter, run: RunSnapshot, tool: ToolSpec, grant: Grant) -> float:
    """The log-odds that the tool does just what is wanted, for one call of the grant."""
    return await odds_of(YES, EXACT, llm, grant, tool_form(tool), run.text)
