"""The composition of all that thinks, over whichever model a run is to have."""

from collections.abc import Callable

from aeond.capabilities.llm.agent import LLMAgent
from aeond.domain.plans import LLM_AGENT
from aeond.frozen import frozen
from aeond.kernel.executor import StepExecutor
from aeond.kernel.orchestrator import RunPorts
from aeond.orchestration.assembling import phases_over
from aeond.orchestration.contracts import Templates
from aeond.orchestration.immediate import AtOnce
from aeond.orchestration.intents import PreparedIntents
from aeond.orchestration.mending import StepMender
from aeond.orchestration.readiness import StepReadiness
from aeond.orchestration.reasoning import AgentReasoner
from aeond.orchestration.references import ModelReferences
from aeond.orchestration.repair import ModelSupervisor
from aeond.orchestration.session_telling import SessionTelling
from aeond.orchestration.validation import PlanValidator
from aeond.ports import Children, Clock, Feed, Ids, Journal, LLMAdapter, ToolInvoker, ToolRegistry
from aeond.ports.sessions import SessionHistory

AGENTS = frozenset({LLM_AGENT})


@frozen
class Thinking:
    """What runs are worked on with, but for the model. `children` is asked for when a run begins: it needs the
    scheduler, which needs this."""

    journal: Journal
    feed: Feed
    registry: ToolRegistry
    invoker: ToolInvoker
    validator: PlanValidator
    templates: Templates
    history: SessionHistory
    session_tokens: int
    children: Callable[[], Children]
    clock: Clock
    ids: Ids

    def over(self, llm: LLMAdapter) -> RunPorts:
        """All of it with this model."""
        agents = {LLM_AGENT: LLMAgent(llm)}
        supervisor = ModelSupervisor(llm, self.validator)
        reasoner = AgentReasoner(agents, llm)
        mender = StepMender(self.registry, supervisor, self.validator)
        references = ModelReferences(llm, self.telling(llm))
        return RunPorts(
            journal=self.journal,
            feed=self.feed,
            phases=phases_over(llm, self.registry, supervisor, self.validator, references),
            intents=PreparedIntents(
                self.registry, reasoner, self.validator, StepReadiness(), self.templates, self.ids
            ),
            immediate=AtOnce(self.invoker, self.clock),
            executor=StepExecutor(self.invoker, reasoner, mender, self.clock, self.children()),
            clock=self.clock,
        )

    def telling(self, llm: LLMAdapter) -> SessionTelling:
        """What this model is told of sessions."""
        return SessionTelling(self.history, llm, self.session_tokens)
