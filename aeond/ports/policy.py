"""Ports of the policy: facts of a call, the decision about it, and the person who is asked."""

from collections.abc import Callable
from typing import Protocol, TypeGuard, runtime_checkable

from aeond.domain.policy import CallFacts, DecidedCall, Decision, PolicyDescription, Target
from aeond.domain.tools import ToolCall, ToolCode, ToolContext, ToolResult
from aeond.domain.values import JsonObject

Decided = Callable[[DecidedCall], None]
"""Receives a decision before the call is carried out."""


def ignore_decision(_decided: DecidedCall) -> None:
    """For calls whose decisions are recorded elsewhere."""


class Policy(Protocol):
    """A pure function of the facts of a call."""

    @property
    def version(self) -> str:
        """Identifies the rules in force: it changes whenever a decision could."""

    def decide(self, facts: CallFacts) -> Decision:
        """The decision. The same facts give the same decision as long as the version stays the same. Never raises."""


class RuledPolicy(Policy, Protocol):
    """A policy of rules that can be shown."""

    def describe(self) -> PolicyDescription: ...


class ReportsTargets(Protocol):
    """What a Tool has beside `execute` and `reconcile` if it can say beforehand what a call touches."""

    async def targets(self, arguments: JsonObject, context: ToolContext) -> tuple[Target, ...] | None:
        """Everything that the call would touch; None if that cannot be determined. Changes nothing; may raise."""


def reports_targets(tool: object) -> TypeGuard[ReportsTargets]:
    """Whether the tool can. For every call, so without isinstance, which for a protocol costs as much as the decision."""
    return hasattr(tool, "targets")


@runtime_checkable
class StatesCode(Protocol):
    """What a Tool has beside `execute` and `reconcile` if its code comes from a file or runs in a sandbox."""

    @property
    def tool_code(self) -> ToolCode: ...


@runtime_checkable
class HoldsCalls(Protocol):
    """What a Tool has beside `execute` and `reconcile` if its calls stay in progress while a person is asked."""

    def holds(self, arguments: JsonObject, context: ToolContext) -> bool:
        """Whether exactly this call is in progress and continues with the answer in `context`; `execute` then begins no
        call. ToolError (CALL_CUT) if the call that asked is lost."""


class CallInspector(Protocol):
    """Determines the facts of a call without carrying it out."""

    async def inspect(self, call: ToolCall, context: ToolContext) -> CallFacts:
        """The facts of a call with valid arguments. Reads names and attributes of files at most; changes nothing.
        Returns without suspending for a tool without targets."""


class Approver(Protocol):
    """Obtains a person's decision about a call that the policy does not allow by itself (Verdict.ASK)."""

    async def approve(self, facts: CallFacts, decision: Decision, context: ToolContext) -> ToolResult | None:
        """None if the call may be carried out now. Otherwise the result of this attempt, with which nothing is carried
        out: a failure (denied, expired, no person to ask), or a result with a `request` that the kernel fulfils before
        the step is attempted again."""


class Authoriser(Protocol):
    """Decides, beyond the model's influence, whether a well-formed call is carried out."""

    async def authorise(self, call: ToolCall, context: ToolContext, decided: Decided) -> ToolResult | None:
        """None if the call may be carried out, otherwise its result. `decided` receives the decision first. Whatever
        this raises, the call is not carried out."""
