"""Which actions are offered in a decision, and with which existing values."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Final

import anyio

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, ToolCall, ToolSpec
from aeond.frozen import frozen
from aeond.orchestration.context.addresses import addresses_in
from aeond.orchestration.context.new_files import names_file, names_path
from aeond.orchestration.context.statements import gives_operands
from aeond.orchestration.decision.forms.schema import ANSWER, CANNOT, MAX_VALUES, PLAN
from aeond.orchestration.decision.interfaces import LOOKS, Offer, acts_here, looks_here
from aeond.orchestration.decision.results import executed
from aeond.orchestration.execution.tool_visibility import (
    allowed_tools,
    fits,
    offered_tools,
    uninformed,
    usual_tools,
)
from aeond.ports import ToolInvoker, ToolRegistry
from aeond.schemas.parts import required_of

MAX_NAMED: Final = 8  # pages and files that are read because the request names them
MAX_RETRIES: Final = 2  # failed steps after which an answer is not offered yet

_RESERVED: Final = frozenset({ANSWER, CANNOT, PLAN})


@frozen
class Offers:
    """Offers the run's tools. A tool that asks the user is offered only after a step has run: the places that
    could know are looked at before a person is. One that shows remembered facts is offered only if some of them are
    not in view, and one that shows names of files unless all of them are: a small model that looks up what it sees takes the result
    for an answer."""

    registry: ToolRegistry
    invoker: ToolInvoker

    def specs(self, run: RunSnapshot) -> tuple[ToolSpec, ...]:
        """The tools that the run may use, sorted by name: those that the prompt describes."""
        return _choosable(offered_tools(self.registry, run))

    def described(self, run: RunSnapshot, offer: Offer) -> tuple[ToolSpec, ...]:
        """The tools that the prompt of a decision describes: all that the run may use, or, beside many, the informed ones alone where no other is
        offered, whose prompt is the same for every run."""
        specs = self.specs(run)
        if fits(allowed_tools(self.registry, run)) or uninformed(offer.tools):
            return specs
        return tuple(spec for spec in specs if spec.is_informed)

    def usual(self) -> tuple[ToolSpec, ...]:
        """The tools that are described to a run without restrictions: beside many, the informed ones."""
        specs = usual_tools(self.registry)
        return _choosable(
            specs or tuple(one for one in self.registry.specs() if one.offered and one.is_informed)
        )

    async def first(self, run: RunSnapshot, situation: Situation) -> Offer:
        """The offer for a request of which nothing has been done."""
        specs = _uncovered(self.specs(run), situation)
        looking = tuple(spec for spec in specs if not spec.asks_user)
        return await self._with_values(run, looking or specs, plan=bool(specs))

    async def next(self, run: RunSnapshot, situation: Situation) -> Offer:
        """The offer after a result. The user is not asked again after a question was left without an answer. After
        one of the first failures the run goes on: the failed tool and those that look something up are offered."""
        unanswered = {step.tool for step in run.steps_in(StepState.FAILED)}
        seen = _uncovered(self.specs(run), situation)
        specs = tuple(spec for spec in seen if not (spec.asks_user and spec.name in unanswered))
        helpful = _after_failure(run, specs)
        return await self._with_values(run, helpful or specs, plan=False, answer=not helpful)

    def looks(self, call: ToolCall | None, effects: Collection[Effect] = LOOKS) -> bool:
        """Whether the call is one of a tool that only looks up what exists here, or computes, with one of these effects; one that
        reads a page is, too, and one that only proposes changes."""
        spec = self._spec(call)
        if spec is None:
            return False
        reads = bool(spec.page_address) or self.proposes(call)
        return spec.effect in effects if looks_here(spec) else reads and Effect.READ in effects

    def proposes(self, call: ToolCall | None) -> bool:
        """Whether the call is one of a tool that only proposes changes, which another one makes."""
        spec = self._spec(call)
        return spec is not None and bool(spec.private and spec.followed_by)

    def selects(self, call: ToolCall | None) -> bool:
        """Whether the call selects from what another one may have read whole."""
        spec = self._spec(call)
        return spec is not None and spec.effect is Effect.READ and bool(spec.composed)

    def changes(self, call: ToolCall | None) -> bool:
        """Whether the call is one of a tool that is known to change what exists here."""
        spec = self._spec(call)
        return spec is not None and acts_here(spec)

    def following(self, run: RunSnapshot, offer: Offer) -> ToolCall | str | None:
        """What may follow the last step: the call of the tool that its own names, or, where a person should look first at what it proposes, what
        the step says about that."""
        steps = executed(run)
        result = steps[-1].output if steps and steps[-1].state is StepState.SUCCEEDED else None
        spec = self._spec(steps[-1].step.tool_call) if isinstance(result, Mapping) else None
        if spec is None or not isinstance(result, Mapping):
            return None
        if spec.private and spec.followed_by and result.get("ready") is not True:
            return "\n".join(filter(None, (str(result.get("explanation", "")), str(result.get("note", "")))))
        maker = offer.tool(spec.followed_by)
        needed = required_of(maker.input_schema) if maker else ()
        if maker is None or not {*needed} <= {*result}:
            return None
        return ToolCall(maker.name, {name: result[name] for name in needed})

    def made(self, proposal: StepSnapshot, change: StepSnapshot) -> bool:
        """Whether the step `proposal` proposed what the step `change` has made."""
        spec, call, result = self._spec(proposal.step.tool_call), change.step.tool_call, proposal.output
        if spec is None or call is None or not isinstance(result, Mapping) or call.tool != spec.followed_by:
            return False
        return spec.private and all(result.get(name) == value for name, value in call.arguments.items())

    def _spec(self, call: ToolCall | None) -> ToolSpec | None:
        return next(
            (one for one in self.registry.specs() if call is not None and one.name == call.tool), None
        )

    def pages(self, run: RunSnapshot, offer: Offer) -> tuple[ToolCall, ...]:
        """The calls that read the pages whose addresses the request has, and those where such a page has moved, but for those that a step
        was about; at most MAX_NAMED pages in a run."""
        addresses, seen = self._addresses(run), _seen(run)
        calls = (offer.fetching(one) for one in addresses if one not in seen)
        left = max(0, MAX_NAMED - sum(one in seen for one in addresses))
        return tuple(call for call in calls if call is not None)[:left]

    def page_steps(self, run: RunSnapshot) -> Sequence[StepSnapshot]:
        """The steps that were to read such a page."""
        addresses = self._addresses(run)
        return [step for step in executed(run) if self._address(step) in addresses]

    def names_all_seen(self, run: RunSnapshot) -> bool:
        """Whether the request names all pages and files that the run's steps were about."""
        pages = self.page_steps(run)
        return all(
            any(isinstance(value, str) and names_file(run, value) for value in step.values)
            for step in executed(run)
            if step not in pages
        )

    def _addresses(self, run: RunSnapshot) -> Sequence[str]:
        """The addresses in the request, and those where their pages have moved."""
        found = list(addresses_in(run.text))
        for step in executed(run):
            moved = step.output.get("location") if isinstance(step.output, Mapping) else None
            is_address = isinstance(moved, str) and addresses_in(moved) == (moved,)
            if is_address and self._address(step) in found and moved not in found:
                found.append(str(moved))
        return found

    def _address(self, step: StepSnapshot) -> str:
        """The address of the page that the step was to read; "" if it is no such step."""
        call = step.step.tool_call
        spec = self._spec(call)
        named = call.arguments.get(spec.page_address) if call and spec and spec.page_address else None
        return named if isinstance(named, str) else ""

    def asking(self, run: RunSnapshot) -> Offer:
        """The tools that ask the user; a refusal if there are none."""
        asking = tuple(spec for spec in self.specs(run) if spec.asks_user)
        return Offer(asking, answer=False, refusal=not asking)

    async def _with_values(
        self, run: RunSnapshot, specs: tuple[ToolSpec, ...], *, plan: bool, answer: bool = True
    ) -> Offer:
        values: dict[tuple[str, str], tuple[str, ...]] = {}
        context = run.tool_context("", "")

        async def look(tool: str, argument: str) -> None:
            found = await self.invoker.candidates(tool, argument, context, MAX_VALUES, run.text)
            values[tool, argument] = tuple(found)

        async with anyio.create_task_group() as tasks:
            for spec in specs:
                for argument in spec.candidates:
                    tasks.start_soon(look, spec.name, argument)
        return Offer(specs, values, plan, answer)


def _after_failure(run: RunSnapshot, specs: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
    """The tools to go on with if the last step is one of the first to fail, else none."""
    steps = [step for step in run.steps.values() if step.executed]
    failures = [step for step in steps if step.state is not StepState.SUCCEEDED]
    if not failures or steps[-1] is not failures[-1] or len(failures) > MAX_RETRIES:
        return ()
    failed = next((spec for spec in specs if spec.name == failures[-1].tool), None)
    if failed is None or failed.asks_user:
        return ()
    helpful = tuple(spec for spec in specs if spec.shows_names or _looks_something_up(spec))
    again = sum(step.tool == failed.name for step in failures)
    if helpful and again > 1 and failed.effect is Effect.PURE and not gives_operands(run.text):
        return helpful  # what is to be computed has to be looked up first
    return tuple(spec for spec in specs if spec is failed or spec in helpful)


def _looks_something_up(spec: ToolSpec) -> bool:
    """Whether the tool reads what its arguments name."""
    return spec.effect is Effect.READ and not spec.asks_user and bool(spec.input_schema.get("required"))


def _uncovered(specs: tuple[ToolSpec, ...], situation: Situation) -> tuple[ToolSpec, ...]:
    """Without the tools that could show only what is in view."""
    return tuple(
        spec
        for spec in specs
        if (situation.more_facts or not spec.shows_facts)
        and not (spec.shows_names and situation.shows_all_files)
    )


def _choosable(specs: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
    return tuple(spec for spec in specs if spec.name not in _RESERVED)


def named_files_of(run: RunSnapshot, situation: Situation, offer: Offer) -> tuple[ToolCall, ...]:
    """The calls that read the files which the request names, the nearest ones first, but for those that a step was about; none where
    other tools might know what is asked for. Of files with the same name those count that are named with their folders, or else the
    nearest one."""
    listed = dict.fromkeys((*situation.nearest, *(path for path, _ in situation.files)))
    named: dict[str, list[str]] = {}  # by the name without the folder
    for path in filter(partial(names_file, run), listed):
        named.setdefault(path.rpartition("/")[2], []).append(path)
    paths = [
        path for same in named.values() for path in (list(filter(partial(names_path, run), same)) or same[:1])
    ]
    return unread_of(paths, run, offer)[:MAX_NAMED]


def unread_of(paths: Sequence[str], run: RunSnapshot, offer: Offer) -> tuple[ToolCall, ...]:
    """The calls that read these files, but for those that a step was about; none where other tools might know what is asked for."""
    seen = _seen(run)
    calls = (offer.reading(path) for path in paths if path not in seen and not offer.has_others)
    return tuple(call for call in calls if call is not None)


def reading_of(run: RunSnapshot, situation: Situation, offer: Offer) -> ToolCall | None:
    """The call that reads the nearest file that no step was about; None where other tools might know what is asked for."""
    return next(iter(unread_of(situation.nearest, run, offer)), None)


def _seen(run: RunSnapshot) -> Sequence[str]:
    """The pages and files that the calls of the run are about, with other texts in them, and calls that were not made: a denied one is not made
    again."""
    return [value for step in run.steps.values() for value in step.values if isinstance(value, str)]
