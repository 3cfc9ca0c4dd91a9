"""Policy operations for clients: the rules in force, hypothetical decisions, and past calls decided again."""

from collections.abc import AsyncIterator, Callable
from typing import Final

from aeond.domain.plans.steps import StepMode
from aeond.domain.policy import (
    CallFacts,
    DecidedCall,
    Decision,
    Effect,
    Origin,
    PolicyDescription,
    PolicyReplay,
    ReplayedDecision,
    Verdict,
)
from aeond.domain.runs import events as e
from aeond.domain.runs.run import Caller, Owner, RunRequest
from aeond.domain.tools import ToolCall, ToolContext
from aeond.domain.values import compact_json
from aeond.errors import InvalidInputError, ToolError
from aeond.frozen import frozen
from aeond.ports import Journal, ToolRegistry
from aeond.ports.policy import CallInspector, RuledPolicy
from aeond.service.folding import RunOwners, run_not_found
from aeond.service.runs.workspaces import Workspaces
from aeond.service.tools import OWN_WORKSPACE

MAX_DECISIONS: Final = 1_000
MAX_ARGUMENT_CHARS: Final = 2 << 20  # of all calls together: a reply is bounded


@frozen
class PolicyDecisions:
    """Decides without carrying anything out. `parse` reads the text of a policy file, or raises InvalidInputError
    (reason POLICY_INVALID)."""

    policy: RuledPolicy
    parse: Callable[[str], RuledPolicy]
    inspector: CallInspector
    registry: ToolRegistry
    journal: Journal
    owners: RunOwners
    workspaces: Workspaces

    async def in_force(self) -> PolicyDescription:
        return self.policy.describe()

    async def test(self, call: ToolCall, workspace: str, taint: tuple[str, ...], owner: Owner) -> DecidedCall:
        """The decision about the call as a step of a run that has read these untrusted sources."""
        folder = await self.workspaces.resolve(workspace, OWN_WORKSPACE.format(uid=owner.uid), owner)
        context = ToolContext("", "", "", folder, None, owner.uid, Origin.MODEL, tuple(sorted(set(taint))))
        try:
            facts = await self.inspector.inspect(call, context)
        except ToolError as error:
            raise InvalidInputError(error.message, reason=error.reason, field="call") from error
        return DecidedCall(facts, self.policy.decide(facts))

    async def replay(self, run_id: str, text: str, caller: Caller) -> PolicyReplay:
        """The calls of a run decided by the policy of this text ("": the one in force), at most MAX_DECISIONS.
        NotFoundError (reason RUN_NOT_FOUND) unless the caller sees the run."""
        await self.owners.check(run_id, caller)
        policy = self.parse(text) if text else self.policy
        decisions: list[ReplayedDecision] = []
        size, request = 0, RunRequest("")
        pending: dict[str, ToolCall] = {}  # calls without a recorded decision, by step
        started: dict[str, ToolCall] = {}
        async for event in self._events(run_id):
            match event.kind:
                case e.RunCreated():
                    request = event.kind.request
                case e.StepStarted(mode=StepMode.TOOL, step=step) if step.tool_call and not step.errors:
                    started[step.step_id] = pending[step.step_id] = step.tool_call
                    size += len(compact_json(step.tool_call.arguments))
                case e.PolicyDecided() as kind if kind.step_id in started:
                    pending.pop(kind.step_id, None)
                    decisions.append(_recorded(kind, started[kind.step_id], policy))
                case e.StepEnded(step_id=step_id) if step_id in pending:
                    call, version = pending.pop(step_id), event.kind.policy_version
                    before = Decision(Verdict.ALLOW, event.kind.rule, "", version) if version else None
                    decided = policy.decide(self._derived(call, request))
                    replayed = ReplayedDecision(
                        step_id, call.tool, call.arguments, before, decided, facts_recorded=bool(version)
                    )
                    decisions.append(replayed)
            if len(decisions) >= MAX_DECISIONS or size > MAX_ARGUMENT_CHARS:
                break
        return PolicyReplay(tuple(decisions), policy.version)

    def _derived(self, call: ToolCall, request: RunRequest) -> CallFacts:
        """Facts of a call of which none were recorded: from the call and its tool alone."""
        tool = self.registry.of(request.owner.uid).get(call.tool)
        effect = Effect.UNDECLARED if tool is None else tool.spec.effect
        return CallFacts(
            call.tool,
            effect,
            call.arguments,
            targets_known=effect is Effect.PURE,
            uid=request.owner.uid,
            workspace=request.workspace,
            foreign=tool is not None and bool(tool.spec.source),
        )

    async def _events(self, run_id: str) -> AsyncIterator[e.Event]:
        seq = 0
        while page := await self.journal.read(run_id, seq):
            for event in page:
                yield event
            seq = page[-1].seq
        if seq == 0:
            raise run_not_found(run_id)


def _recorded(kind: e.PolicyDecided, call: ToolCall, policy: RuledPolicy) -> ReplayedDecision:
    before = Decision(kind.verdict, kind.rule, kind.reason, kind.policy_version)
    facts = CallFacts.from_json(kind.call.tool, call.arguments, kind.facts)
    return ReplayedDecision(
        kind.step_id, kind.call.tool, call.arguments, before, policy.decide(facts), facts_recorded=True
    )
