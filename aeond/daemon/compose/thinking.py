"""Composes the orchestration for any model that a run uses."""

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial

from aeond.capabilities.agents.loading import AnyAgent
from aeond.capabilities.llm.agent import LLMAgent
from aeond.capabilities.tools.calculator.calculator import computed, local_now
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.previews import file_names, previews
from aeond.capabilities.tools.relevance.related_lines import related
from aeond.capabilities.tools.worker_threads import Stopped, WorkerThreads
from aeond.domain.names import nearest
from aeond.domain.plans.plan import LLM_AGENT
from aeond.domain.runs.situations import WorkspaceView
from aeond.frozen import frozen
from aeond.kernel.executor import StepExecutor
from aeond.kernel.orchestrator import RunPorts
from aeond.orchestration.assembly import phases_over
from aeond.orchestration.context.coreference import ModelReferences
from aeond.orchestration.context.session_context import SessionContextBuilder
from aeond.orchestration.decision.means import Answered
from aeond.orchestration.execution.agent_steps import AgentReasoner
from aeond.orchestration.execution.inline_executor import InlineExecutor
from aeond.orchestration.execution.intents import PreparedIntents
from aeond.orchestration.last_runs import LastRuns
from aeond.orchestration.matching.template_choice import TemplateChooser, TemplateLibrary
from aeond.orchestration.matching.text_ranking import TextRanking
from aeond.orchestration.planning.validator import PlanValidator
from aeond.orchestration.repair.step_repair import StepRepairer
from aeond.orchestration.repair.supervisor import Supervisor
from aeond.ports import Appends, Children, Clock, Feed, Ids, LLMAdapter, ToolInvoker, ToolRegistry
from aeond.ports.sessions import SessionHistory
from aeond.ports.situations import Situations
from aeond.service.paced_appends import PacedAppends, RunTurns
from aeond.service.runs.situations import Views


@frozen
class Thinking:
    """The orchestration without its model. `children` is a function called when a run begins: child runs need
    the scheduler, which needs this object.
    """

    journal: Appends
    turns: RunTurns
    feed: Feed
    registry: ToolRegistry
    invoker: ToolInvoker
    validator: PlanValidator
    agents: Mapping[str, AnyAgent]
    templates: TemplateLibrary
    ranking: TextRanking
    history: SessionHistory
    session_tokens: int
    situations: Situations
    children: Callable[[], Children]
    clock: Clock
    ids: Ids
    answered: LastRuns[str, Answered] = field(default_factory=LastRuns)  # by the model

    def over(self, llm: LLMAdapter, uid: int) -> RunPorts:
        """The orchestration with this model, and the tools and turns of this user."""
        answered = self.answered.get(llm.model) or Answered()
        self.answered[llm.model] = answered
        registry = self.registry.of(uid)
        validator = self.validator.over(registry)
        agents = {**self.agents, LLM_AGENT: LLMAgent(llm)}
        supervisor = Supervisor(llm, validator)
        reasoner = AgentReasoner(agents, llm)
        repairer = StepRepairer(registry, supervisor)
        chooser = TemplateChooser(self.templates, self.ranking, supervisor)
        references = ModelReferences(llm, self.session_context(llm))
        return RunPorts(
            journal=PacedAppends(self.journal, self.turns, uid),
            feed=self.feed,
            phases=phases_over(
                supervisor,
                registry,
                self.invoker,
                references,
                self.situations,
                self.ranking,
                partial(computed, now=partial(local_now, self.clock)),
                answered,
            ),
            intents=PreparedIntents(registry, reasoner, validator, self.templates, self.ids),
            immediate=InlineExecutor(self.invoker, self.clock),
            executor=StepExecutor(self.invoker, reasoner, repairer, self.clock, self.children(), chooser),
            clock=self.clock,
        )

    def session_context(self, llm: LLMAdapter) -> SessionContextBuilder:
        """The session context for this model."""
        return SessionContextBuilder(self.history, llm, self.session_tokens)


def workspace_views(
    files: ContainedFiles, threads: WorkerThreads, trusts: Callable[[str, str], bool]
) -> Views:
    """The files of a workspace, of more than are wanted those that share most with the request, and the lines
    that share most with it. Untrusted files are left out: a run sees them only once it reads them."""

    async def view(workspace: str, most: int, near: str) -> WorkspaceView:
        def viewed(stopped: Stopped) -> WorkspaceView:
            found = file_names(files, workspace, stopped)
            names = [name for name in found if trusts(f"{workspace}/{name}", workspace)]
            shown = names if len(names) <= most else sorted(nearest(near, names, most))
            seen = previews(files, workspace, shown, stopped)
            shared = related(files, workspace, names, near, stopped)
            return WorkspaceView(
                tuple((name, seen[name].line if name in seen else "") for name in shown),
                len(found) > len(shown),
                shared.lines,
                newest=max(seen, key=lambda name: seen[name].changed, default=""),
                largest=max(seen, key=lambda name: seen[name].size, default=""),
                nearest=shared.nearest,
            )

        return await threads.run(viewed)

    return view
