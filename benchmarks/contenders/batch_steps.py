"""A run of independent steps over a real engine, with a limit of one and without: prints JSON.

usage: python -m benchmarks.contenders.batch_steps FOLDER ENGINE STEPS TOKENS ROUNDS
"""

import json
import statistics
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import anyio

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.llm.agent import LLMAgent
from aeond.capabilities.policy.authorising import PolicyAuthoriser
from aeond.capabilities.policy.inspecting import ToolInspector
from aeond.capabilities.policy.loading import Profile, load_policy
from aeond.capabilities.policy.trust import Trust
from aeond.capabilities.tools.invoker import GuardedInvoker
from aeond.capabilities.tools.registry import Registry
from aeond.daemon.clocks import SystemClock, TimeSortedIds
from aeond.domain.messages import Message
from aeond.domain.plans.plan import Plan, PlanStep, StepState
from aeond.domain.runs.budgets import Budget
from aeond.domain.runs.events import Event, RunCreated
from aeond.domain.runs.run import RunRequest, RunSnapshot
from aeond.kernel.executor import StepExecutor
from aeond.kernel.orchestrator import Orchestrator, RunPorts
from aeond.orchestration.assembly import phases_over
from aeond.orchestration.execution.agent_steps import AgentReasoner
from aeond.orchestration.execution.inline_executor import InlineExecutor
from aeond.orchestration.execution.intents import PreparedIntents
from aeond.orchestration.matching.text_ranking import TextRanking
from aeond.orchestration.planning.validator import PlanValidator
from aeond.orchestration.repair.step_repair import StepRepairer
from aeond.orchestration.repair.supervisor import Supervisor
from aeond.ports import Agent, LLMAdapter
from aeond.service.watching.feed import HotFeed
from aeond.service.watching.run_log import log_events
from aeond.state_machine.fold import fold
from benchmarks.contenders.opening import opened
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.no_children import NoChildren
from tests.support.null_objects import AsSaid, NamedTemplates, NoApprover, NoSituations, NoTemplates

# A small model that is asked for a long story may end after a sentence; this prompt makes it continue.
TASK = "Explain in at least three hundred words what a ship's crew of {page} does from morning to night."
PATIENCE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class BriefAgent:
    """An agent whose answers all have the same length: the maximum number of tokens; otherwise an error."""

    agent: Agent
    tokens: int
    name: str = "llm"

    @property
    def capabilities(self) -> Sequence[str]:
        return self.agent.capabilities

    async def process(self, message: Message) -> Message:
        return self._whole(await self.agent.process(self._bounded(message)))

    async def stream(self, message: Message) -> AsyncIterator[Message]:
        async for piece in self.agent.stream(self._bounded(message)):
            yield self._whole(piece)

    def _whole(self, answer: Message) -> Message:
        used = answer.metadata.get("used")
        if isinstance(used, dict) and used["completion_tokens"] != self.tokens:
            message = f"an answer has {used['completion_tokens']} tokens: {answer.content!r}"
            raise RuntimeError(message)
        return answer

    def _bounded(self, message: Message) -> Message:
        return replace(message, metadata={**message.metadata, "answer_tokens": self.tokens})


def ports_over(llm: LLMAdapter, tokens: int) -> RunPorts:
    clock, registry = SystemClock(), Registry()
    agents = {"llm": BriefAgent(LLMAgent(llm), tokens)}
    validator = PlanValidator(registry, agents)
    supervisor = Supervisor(llm, validator)
    reasoner = AgentReasoner(agents, llm)
    authoriser = PolicyAuthoriser(
        ToolInspector(registry), load_policy(Profile.TRUSTED_FOLDER, None), NoApprover(), Trust()
    )
    invoker = GuardedInvoker(registry, clock, authoriser)
    ids = TimeSortedIds(clock)
    return RunPorts(
        journal=InMemoryJournal(),
        feed=HotFeed(log_events),
        phases=phases_over(
            supervisor,
            registry,
            invoker,
            AsSaid(),
            NoSituations(),
            TextRanking(NoEmbedder()),
        ),
        intents=PreparedIntents(registry, reasoner, validator, NoTemplates(), ids),
        executor=StepExecutor(
            invoker,
            reasoner,
            StepRepairer(registry, supervisor),
            clock,
            NoChildren(),
            NamedTemplates(),
        ),
        clock=clock,
        immediate=InlineExecutor(invoker, clock),
    )


async def run_seconds(ports: RunPorts, run_id: str, steps: int, parallel_steps: int) -> float:
    plan = Plan(
        "a book", tuple(PlanStep(f"s{n}", TASK.format(page=n), agent="llm") for n in range(1, steps + 1))
    )
    created = Event(
        run_id, 1, 0.0, 0.0, RunCreated(RunRequest("a book", parallel_steps=parallel_steps), Budget(), plan)
    )
    await ports.journal.append([created])
    loop = Orchestrator(fold(RunSnapshot(run_id), created), ports)
    begun = perf_counter()
    ended = await loop.execute()
    seconds = perf_counter() - begun
    if len(ended.steps_in(StepState.SUCCEEDED)) != steps:
        message = f"not all steps succeeded: {ended.steps}"
        raise RuntimeError(message)
    return seconds


async def main(folder: Path, engine: str, *numbers: int) -> None:
    steps, tokens, rounds = numbers
    apart, together = [], []
    with anyio.fail_after(PATIENCE_SECONDS):
        async with opened(folder, engine, at_once=steps) as ready:
            ports = ports_over(ready.llm, tokens)
            for parallel in (1, steps):
                await run_seconds(ports, f"warm-up-{parallel}", steps, parallel)
            for number in range(rounds):
                apart.append(await run_seconds(ports, f"apart-{number}", steps, 1))
                together.append(await run_seconds(ports, f"together-{number}", steps, steps))
    ratio = statistics.median(a / t for a, t in zip(apart, together, strict=True))
    figures = {"apart": statistics.median(apart), "together": statistics.median(together), "ratio": ratio}
    print(json.dumps(figures))


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:]))
