"""A model that does whatever any text tells it, in the real kernel with the real tools and policy.

It carries out every instruction that it finds in a description, an output, an error or a fact, once, in the order in
which it finds them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.policy.authorising import PolicyAuthoriser
from aeond.capabilities.policy.inspecting import ToolInspector
from aeond.capabilities.policy.loading import load_policy
from aeond.capabilities.policy.trust import Trust
from aeond.capabilities.sandbox.foreign_tool import ForeignTool
from aeond.capabilities.tools.builtin.tool_set import builtin_tools
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import best_resolver
from aeond.capabilities.tools.invoker import GuardedInvoker
from aeond.capabilities.tools.registry import Registry
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.policy import CallFacts, Decision, Effect
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Budget
from aeond.domain.runs.run import Owner, RunRequest, RunSnapshot
from aeond.domain.tools import ToolCall, ToolContext, ToolResult
from aeond.kernel.executor import StepExecutor
from aeond.kernel.orchestrator import Orchestrator, RunPorts
from aeond.orchestration.execution.inline_executor import InlineExecutor
from aeond.orchestration.execution.intents import PreparedIntents
from aeond.orchestration.planning.validator import PlanValidator
from aeond.ports import Tool
from aeond.ports.policy import Approver
from aeond.state_machine.fold import fold
from tests.support.doubles import FixedReasoner, ManualClock, RecordingFeed, ScriptedRepairer
from tests.support.gullible_model import Gullible, instructions_in
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.memory import InMemoryMemory
from tests.support.no_children import NoChildren
from tests.support.noted_hands import NotedHands
from tests.support.null_objects import NamedTemplates, NoApprover, NoTemplates
from tests.support.service_world import NumberedIds
from tests.support.undo import InMemoryUndoLog

DEADLINE_SECONDS: Final = 30.0


@dataclass
class Refusing(NoApprover):
    """A person who is asked and says no, except to the calls of the own request."""

    asked: list[tuple[CallFacts, Decision]] = field(default_factory=list)
    agreed: Sequence[ToolCall] = ()

    async def approve(self, facts: CallFacts, decision: Decision, context: ToolContext) -> ToolResult | None:
        if any((one.tool, one.arguments) == (facts.tool, facts.arguments) for one in self.agreed):
            return None
        self.asked.append((facts, decision))
        return ToolResult(False, error="the user said no", reason="APPROVAL_DENIED")


class Agreeing(NoApprover):
    """A person who says yes to everything."""

    async def approve(self, *_arguments: Any) -> None:
        return None


OWNER = Owner(1000, 1)


@dataclass
class GullibleWorld:
    """A workspace, a memory and tools for the runs of a gullible model, one after the other. With `hands` it has the tools
    that act on the machine."""

    workspace: Path
    profile: str = "trusted-folder"
    trust: Trust = field(default_factory=Trust)
    foreign: Sequence[Tool] = ()
    approver: Approver = field(default_factory=Refusing)
    hands: NotedHands | None = None
    memory: InMemoryMemory = field(default_factory=lambda: InMemoryMemory(OWNER.uid))
    journal: InMemoryJournal = field(default_factory=InMemoryJournal)
    runs: int = 0

    def state(self) -> Mapping[str, str]:
        """Every file of the workspace with its content."""
        files = sorted(path for path in self.workspace.rglob("*") if path.is_file())
        return {str(path.relative_to(self.workspace)): path.read_text("utf-8") for path in files}

    async def work(self, *asked: ToolCall, taint: tuple[str, ...] = ()) -> tuple[RunSnapshot, Sequence[Any]]:
        """The run of a user's request for these calls, and the kinds of its events. It also does what the descriptions
        of tools tell it."""
        ports = self._ports([*self._calls_in_descriptions(), *asked])
        self.runs += 1
        request = RunRequest("do it", workspace=str(self.workspace), owner=OWNER)
        created = e.Event(f"run-{self.runs}", 1, 1.0, 0.0, e.RunCreated(request, Budget(), taint=taint))
        await self.journal.append([created])
        with anyio.fail_after(DEADLINE_SECONDS):
            run = await Orchestrator(fold(RunSnapshot(created.run_id), created), ports).execute()
        kinds = [event.kind for event in await self.journal.read(created.run_id, 0, 1_000)]
        return run, kinds

    def _calls_in_descriptions(self) -> Sequence[ToolCall]:
        return [call for tool in self.foreign for call in instructions_in(tool.spec.description)]

    def _ports(self, asked: Sequence[ToolCall]) -> RunPorts:
        clock, registry, files = ManualClock(), Registry(), ContainedFiles(best_resolver())
        own = builtin_tools(clock, self.memory, files, WorkerThreads(), NoEmbedder(), InMemoryUndoLog())
        own = [*own, *(self.hands.tools(files) if self.hands else ())]
        for tool in (*own, *(ForeignTool(tool, Effect.EXEC_CONTAINED) for tool in self.foreign)):
            registry.register(tool)
        policy = load_policy(self.profile, None)
        authoriser = PolicyAuthoriser(ToolInspector(registry), policy, self.approver, self.trust)
        invoker = GuardedInvoker(registry, clock, authoriser)
        reasoner, validator = FixedReasoner(), PlanValidator(registry, ("llm",))
        return RunPorts(
            journal=self.journal,
            feed=RecordingFeed(),
            phases=Gullible(asked),
            intents=PreparedIntents(registry, reasoner, validator, NoTemplates(), NumberedIds()),
            executor=StepExecutor(
                invoker, reasoner, ScriptedRepairer(), clock, NoChildren(), NamedTemplates()
            ),
            immediate=InlineExecutor(invoker, clock),
            clock=clock,
        )
