"""Requests for approval: their content, and whether a call is covered by what was allowed."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Final
from weakref import WeakValueDictionary

import anyio

from aeond.domain.plans.approvals import (
    APPROVAL_REQUIRED,
    ApprovalGrant,
    ApprovalRequest,
    ApprovalScope,
)
from aeond.domain.policy import CallFacts, Decision, TargetKind, Verdict, call_digest, joined
from aeond.domain.runs.events import Event, RunEnded
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import ToolCall, ToolContext, ToolResult
from aeond.domain.values import JsonObject, canonical_json
from aeond.errors import AeondError
from aeond.frozen import frozen
from aeond.ports import Clock
from aeond.ports.approvals import Preview
from aeond.ports.policy import CallInspector, Policy
from aeond.service.folding import RunFolding

MAX_CALLS: Final = 32  # of one request
MAX_PLANNED_BYTES: Final = 256 * 1024  # of the arguments of the calls shown with the first one

Sources = Callable[[CallFacts], tuple[str, ...]]
"""The untrusted sources that a call reads."""

PlannedCalls = Callable[[RunSnapshot], Sequence[tuple[str, ToolCall]]]
"""The calls of steps that have not ended, by step id in plan order, of which every argument is known."""


@frozen
class ApprovalRules:
    """How long a request for approval stays open, in seconds; 0 for without limit."""

    expire_seconds: float = 3_600.0


@frozen
class _AskedCall:
    step_id: str
    call: ToolCall
    facts: CallFacts
    decision: Decision

    @property
    def digest(self) -> str:
        return call_digest(self.facts, self.decision.version)

    @property
    def kind(self) -> str:
        """Identifies it without its arguments and targets, with the rule that asks and with what the run has read: what was
        allowed for more than the calls shown covers no call that is asked about for another reason, such as a protected
        name, and ends when untrusted data are read later."""
        reason: JsonObject = {"taint": list(self.facts.taint), "rule": self.decision.rule}
        facts = replace(self.facts, arguments=reason, targets=(), targets_known=True)
        return call_digest(facts, self.decision.version)


@dataclass(eq=False, slots=True, kw_only=True)
class ApprovalRequests:
    """The Approver of runs: the journal alone says what was allowed.

    One request covers the call that is asked about and the calls planned after it that need approval as well and have
    no unknown argument. A step whose call is among those of an open request waits for the same one.
    """

    folding: RunFolding
    policy: Policy
    inspector: CallInspector
    preview: Preview
    planned: PlannedCalls
    sources: Sources
    clock: Clock
    rules: ApprovalRules
    # By run id.
    _one_by_one: WeakValueDictionary[str, anyio.Lock] = field(init=False, default_factory=WeakValueDictionary)
    # By run id: the newest request, which may not be in the journal yet, and the steps that have not joined it
    _newest: dict[str, tuple[ApprovalRequest, set[str]]] = field(init=False, default_factory=dict)

    def adopt(self, rules: ApprovalRules) -> None:
        """Applies these rules to new requests."""
        self.rules = rules

    def hear(self, events: Sequence[Event]) -> None:
        """Forgets the requests of runs that have ended."""
        for event in events:
            if isinstance(event.kind, RunEnded):
                self._newest.pop(event.run_id, None)

    async def approve(self, facts: CallFacts, decision: Decision, context: ToolContext) -> ToolResult | None:
        """See Approver. A call outside of a run cannot wait: it fails with reason APPROVAL_REQUIRED."""
        if not context.run_id:
            return ToolResult(False, error=_outside(facts, decision), reason=APPROVAL_REQUIRED)
        call = ToolCall(facts.tool, facts.arguments, context.call_id)
        asked = _AskedCall(context.step_id, call, facts, decision)
        async with self._one_by_one.setdefault(context.run_id, anyio.Lock()):
            run = await self.folding.snapshot(context.run_id)
            if _granted(run, asked):
                return None
            request = self._shared(run, asked)
            if request is None:
                request = await self._request(run, asked)
                self._newest[run.run_id] = request, set(request.step_ids[1:])
        return ToolResult(True, request=request)

    def _shared(self, run: RunSnapshot, asked: _AskedCall) -> ApprovalRequest | None:
        """The request that another step of the run made for this call as well."""
        for request in run.approvals:
            if request.shows(asked.step_id, asked.digest):
                return request
        newest, joining = self._newest.get(run.run_id, (None, set[str]()))
        if newest is None or asked.step_id not in joining or not newest.shows(asked.step_id, asked.digest):
            return None
        joining.discard(asked.step_id)  # if it was denied meanwhile, the next attempt asks again
        return newest

    async def _request(self, run: RunSnapshot, first: _AskedCall) -> ApprovalRequest:
        asked = (first, *[one async for one in self._more(run, first)])
        targets = [target for one in asked for target in one.facts.targets]
        files = [target.name for target in targets if target.kind is TargetKind.FILE]
        hosts = [target.name for target in targets if target.kind is TargetKind.HOST]
        step = run.steps[first.step_id]
        previews = [
            await self.preview(one.call, run.tool_context(one.step_id, one.call.call_id)) for one in asked
        ]
        digests = tuple(one.digest for one in asked)
        step_ids = tuple(one.step_id for one in asked)
        return ApprovalRequest(
            approval_id=f"{first.step_id}.{step.attempt}",
            step_ids=step_ids,
            calls=tuple(one.call for one in asked),
            digests=digests,
            digest=request_digest(run.run_id, step_ids, digests),
            message="; ".join(dict.fromkeys(one.decision.reason for one in asked)),
            previews=tuple(previews),
            kinds=tuple(dict.fromkeys(kind for one in asked for kind in self._kinds(one, asked))),
            folders=tuple(dict.fromkeys(str(PurePosixPath(name).parent) for name in files)),
            hosts=tuple(dict.fromkeys(hosts)),
            requested_time=self.clock.time(),
            expire_seconds=self.rules.expire_seconds,
            unattended=run.request.unattended,
        )

    def _kinds(self, one: _AskedCall, asked: Sequence[_AskedCall]) -> Iterator[str]:
        """The kinds of a call now, after it was made, and after all of the request were: what they read themselves was allowed
        with them, and must not end what was allowed."""
        own = joined(one.facts.taint, self.sources(one.facts))
        every = reduce(joined, (self.sources(other.facts) for other in asked), own)
        for taint in (one.facts.taint, own, every):
            facts = replace(one.facts, taint=taint)
            decision = self.policy.decide(facts)
            if decision.verdict is Verdict.ASK:
                yield replace(one, facts=facts, decision=decision).kind

    async def _more(self, run: RunSnapshot, first: _AskedCall) -> AsyncIterator[_AskedCall]:
        """The calls planned besides the first one that need approval too."""
        room, most = MAX_PLANNED_BYTES, MAX_CALLS - 1
        for step_id, call in self.planned(run):
            if step_id == first.step_id or most == 0:
                continue
            try:
                facts = await self.inspector.inspect(call, run.tool_context(step_id, call.call_id))
            except AeondError:
                continue  # not possible as things are now: it is asked about when its step starts
            decision = self.policy.decide(facts)
            size = len(canonical_json(call.arguments))
            asked = _AskedCall(step_id, call, facts, decision)
            if decision.verdict is Verdict.ASK and size <= room and not _granted(run, asked):
                room, most = room - size, most - 1
                yield asked


def _granted(run: RunSnapshot, asked: _AskedCall) -> bool:
    return any(_covers(grant, run.run_id, asked) for grant in run.grants)


def _covers(grant: ApprovalGrant, run_id: str, asked: _AskedCall) -> bool:
    """Whether the permission includes this call of this step. A fork has copies of what was allowed for the
    original run, and they allow nothing."""
    approval, facts = grant.approval, asked.facts
    if approval.digest != request_digest(run_id, approval.step_ids, approval.digests):
        return False
    if approval.shows(asked.step_id, asked.digest):
        return True
    if grant.scope is ApprovalScope.ONCE or asked.kind not in approval.kinds:
        return False
    if grant.scope is ApprovalScope.RUN:
        return True
    return facts.targets_known and bool(facts.targets) and all(_within(grant, facts))


def _within(grant: ApprovalGrant, facts: CallFacts) -> Iterator[bool]:
    """For each target of the call, whether it is in a folder or is a host of the grant."""
    for target in facts.targets:
        if grant.scope is ApprovalScope.HOST:
            yield target.kind is TargetKind.HOST and target.name in grant.approval.hosts
        else:
            path = PurePosixPath(target.name)
            inside = any(PurePosixPath(folder) in path.parents for folder in grant.approval.folders)
            yield target.kind is TargetKind.FILE and inside


def request_digest(run_id: str, step_ids: Sequence[str], digests: Sequence[str]) -> str:
    """Identifies the calls of a request, their steps and their run: SHA-256 as 64 hexadecimal digits."""
    parts = [[step_id, digest] for step_id, digest in zip(step_ids, digests, strict=True)]
    return sha256(canonical_json({"run": run_id, "calls": parts}).encode()).hexdigest()


def _outside(facts: CallFacts, decision: Decision) -> str:
    return (
        f"{facts.tool} needs approval here ({decision.reason}), and a call outside of a run cannot wait for it: make"
        " it a step of a run, with `aeonctl ask --plan`, or allow it in the policy"
    )
