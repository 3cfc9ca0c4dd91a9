"""Ports of the policy: facts of a call, the decision about it, and the person who is asked."""

from typing import Protocol

from aeond.domain.policy import CallFacts, Decision
from aeond.domain.tools import ToolCall, ToolContext, ToolResult


class Policy(Protocol):
    """A pure function of the facts of a call."""

    @property
    def version(self) -> str:
        """Identifies the rules in force: it changes whenever a decision could."""

    def decide(self, facts: CallFacts) -> Decision:
        """The decision. The same facts give the same decision as long as the version stays the same. Never raises."""


class CallInspector(Protocol):
    """Determines the facts of a call without carrying it out."""

    async def inspect(self, call: ToolCall, context: ToolContext) -> CallFacts:
        """The facts of a call with valid arguments. Reads names and attributes of files at most; changes nothing.
        Returns without suspending for a tool without targets."""


class Approver(Protocol):
    """Obtains a person's decision about a call that the policy does not allow by itself (Verdict.ASK)."""

    async def approve(self, facts: CallFacts, decision: Decision, context: ToolContext) -> ToolResult | None:
        """None if the call may be carried out now. Otherwise the result of this attempt, with which nothing is carried
        out: a failure (denied, expired, nobody to ask), or a result with a `request` that the kernel fulfils before
        the step is attempted again."""
