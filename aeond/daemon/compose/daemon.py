"""The composition root: this package alone knows concrete classes, and holds no logic of its own.

Everything is opened in the order of the lines and closed in the reverse order: journal, memory, tools,
engine, orchestration, kernel, service, socket. The API itself is opened by the lifecycle, last of all.
"""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio

from aeond import __version__
from aeond.capabilities.journal.sqlite_journal import SqliteJournal
from aeond.capabilities.languages.spoken_language import SpokenLanguages
from aeond.capabilities.llm.models.embedding_files import EmbeddingFiles
from aeond.capabilities.memory.sqlite_memory import SqliteMemory
from aeond.capabilities.policy.authorising import PolicyAuthoriser
from aeond.capabilities.policy.inspecting import ToolInspector
from aeond.capabilities.policy.loading import parse_policy
from aeond.capabilities.policy.rule_policy import LivePolicy
from aeond.capabilities.sessions.sqlite_sessions import SqliteSessions
from aeond.capabilities.tools.builtin.tool_set import builtin_tools
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import best_resolver, keep_out
from aeond.capabilities.tools.invoker import GuardedInvoker
from aeond.capabilities.tools.registry import Registry
from aeond.capabilities.tools.relevance.files_by_meaning import FilesByMeaning
from aeond.capabilities.tools.restorer import Restorer
from aeond.capabilities.tools.served.tool_serving import RegisteredServing
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.capabilities.undo.sqlite_undo_log import SqliteUndoLog
from aeond.daemon.clocks import SystemClock, TimeSortedIds
from aeond.daemon.compose.embedding import embedding_files, opened_embedder
from aeond.daemon.compose.observation import Observation
from aeond.daemon.compose.parts import PRODUCT, Parts
from aeond.daemon.compose.policy import configured_trust, opened_policy
from aeond.daemon.compose.settings import access_rule, admin_listener_of, listener_of, run_bounds, run_limits
from aeond.daemon.compose.thinking import Thinking, workspace_views
from aeond.daemon.compose.tooling.mcp import opened_mcp
from aeond.daemon.compose.tooling.tools import open_agents, open_templates, own_hands, own_tools
from aeond.daemon.config.paths import Paths, real_names
from aeond.daemon.config.reloading import LiveConfig
from aeond.daemon.config.schema import Config
from aeond.daemon.socket_activation import NONE_INHERITED, Inherited
from aeond.domain.plans.plan import LLM_AGENT
from aeond.frozen import frozen
from aeond.kernel.orchestrator import Orchestrator
from aeond.orchestration.assembly import usual_openings, usual_schema
from aeond.orchestration.execution.planned_calls import PlannedCalls
from aeond.orchestration.matching.text_ranking import TextRanking
from aeond.orchestration.planning.plan_parsing import in_order
from aeond.orchestration.planning.validator import PlanValidator
from aeond.ports import Clock, Engine, Journal
from aeond.ports.journal import RunFilter
from aeond.server.api import Api, Calls
from aeond.service.approvals.decisions import ApprovalDecisions
from aeond.service.approvals.requests import ApprovalRequests, ApprovalRules
from aeond.service.folding import RunFolding, RunOwners
from aeond.service.history.deletion import RunDeletion
from aeond.service.history.forks import Forks
from aeond.service.history.replays import Replays
from aeond.service.history.retention import Retention
from aeond.service.history.undoing import RunUndo
from aeond.service.memory import MemoryKeys
from aeond.service.models.models import Models
from aeond.service.models.prompt_warmup import PromptWarmup
from aeond.service.paced_appends import RunTurns
from aeond.service.policy import PolicyDecisions
from aeond.service.recovery.run_boundary import RunBoundary
from aeond.service.run_use_cases import Runs
from aeond.service.runs.admission import Admission
from aeond.service.runs.answers import Answers
from aeond.service.runs.children import RunChildren
from aeond.service.runs.scheduler import RunScheduler
from aeond.service.runs.situations import ObservedSituations
from aeond.service.runs.tool_profiles import ToolProfiles
from aeond.service.runs.workspaces import Workspaces
from aeond.service.sessions.session_records import SessionRecords
from aeond.service.sessions.sessions import Sessions
from aeond.service.status import Process, Status
from aeond.service.storage import BoundedMemories, StorageLimit
from aeond.service.tools import Tools
from aeond.service.user_turns import ActiveUsers
from aeond.service.watching.engine_progress import EngineProgress
from aeond.service.watching.feed import HotFeed
from aeond.service.watching.run_log import log_events
from aeond.service.watching.run_stream import RunWatching
from aeond.service.watching.tree_stream import TreeWatching
from aeond.state_machine.decide import decide
from aeond.state_machine.fold import fold


@frozen
class Daemon:
    """A composed daemon: everything is open except the API, and no work is admitted yet."""

    clock: Clock
    journal: Journal
    engine: Engine
    admission: Admission
    feed: HotFeed
    showing: EngineProgress
    warming: PromptWarmup
    retention: Retention
    embedding: EmbeddingFiles
    scheduler: RunScheduler
    calls: Calls
    api: Api
    socket: Path


@asynccontextmanager
async def composed(
    live: LiveConfig, paths: Paths, inherited: Inherited = NONE_INHERITED, parts: Parts = PRODUCT
) -> AsyncIterator[Daemon]:
    """Opens everything while the context is open. The caller holds the single-instance lock. A reloaded
    configuration is applied as far as possible.

    The daemon serves an inherited listening socket and leaves its path and permissions to the program that created
    it. Otherwise it creates the configured socket.
    """
    config = live.config
    policy, trust = LivePolicy(opened_policy(config)), configured_trust(config)
    async with AsyncExitStack() as stack:
        clock = SystemClock()
        ids = TimeSortedIds(clock)
        embedding = embedding_files(config, paths)
        embedder = await stack.enter_async_context(opened_embedder(config, embedding, clock))
        journal, sessions = SqliteJournal(paths.journal), SqliteSessions(paths.sessions)
        memory = SqliteMemory(paths.memory, embedder=embedder)
        storage = StorageLimit(
            {"runs": journal, "sessions": sessions, "facts": memory},
            config.daemon.max_stored_mib_per_user << 20,
            frozenset({0, os.geteuid()}),
        )
        bounded_memory = BoundedMemories(memory, storage)
        undo_log = SqliteUndoLog(paths.undo, config.tools.undo_mib << 20)
        observation = Observation(config, paths, clock)
        recorded = observation.timed(journal)
        async with anyio.create_task_group() as opening:  # together: both wait for disk space
            for store in (journal, memory, sessions, undo_log):
                opening.start_soon(stack.enter_async_context, store)
        ids.follow([newest.run_id for newest in await journal.list_runs(RunFilter(limit=1))])

        registry = Registry(accepted=config.tools.accepted)
        serving = await stack.enter_async_context(RegisteredServing(registry, clock))
        resolve = keep_out(
            best_resolver(), real_names(paths.own_files), but_for=real_names([paths.workspaces])
        )
        files = ContainedFiles(
            resolve, real_names(config.workspaces.readable), real_names(config.workspaces.writable)
        )
        threads = WorkerThreads()
        own, unconfined = await own_tools(config.tools, paths)
        feed, admission, folding = HotFeed(log_events), Admission(), RunFolding(journal, fold)
        hands, web = own_hands(
            config, paths, files, threads, undo_log, clock, feed.text_sink, lambda: models, serving.terminals
        )
        builtin = builtin_tools(clock, bounded_memory, files, threads, embedder, undo_log, trust.trusts)
        for tool in parts.tools((*builtin, *hands, *own)):
            registry.register(tool)
        web.adopt(web.tools(config), registry)
        templates = open_templates(config.tools, registry, agents := open_agents(config.agents))
        validator, inspector = PlanValidator(registry, {LLM_AGENT, *agents}), ToolInspector(registry)
        requests = ApprovalRequests(
            folding=folding,
            policy=policy,
            inspector=inspector,
            preview=lambda call, context: invoker.preview(call, context),  # noqa: PLW0108 - made below
            planned=PlannedCalls(registry, validator),
            sources=trust.sources,
            clock=clock,
            rules=ApprovalRules(config.approvals.expire_seconds),
        )
        feed.listen(requests.hear)
        mcp = await stack.enter_async_context(opened_mcp(config, paths, registry, clock, feed))
        authoriser = PolicyAuthoriser(inspector, policy, requests, trust)
        invoker = GuardedInvoker(registry, clock, authoriser, unconfined)
        models = await stack.enter_async_context(parts.open_models(config, paths, clock))
        engine = models.engine
        records = SessionRecords(store=sessions, journal=journal, folding=folding)
        await records.settle()
        active = ActiveUsers(clock)
        thinking = Thinking(
            journal=recorded,
            turns=RunTurns(active, lambda uid: scheduler.waiting_for_own(uid)),  # noqa: PLW0108 - made below
            feed=feed,
            registry=registry,
            invoker=invoker,
            validator=validator,
            agents=agents,
            templates=templates,
            ranking=TextRanking(embedder),
            history=records,
            session_tokens=config.sessions.context_tokens,
            situations=ObservedSituations(
                clock,
                memory,
                workspace_views(files, threads, trust.trusts),
                FilesByMeaning(files, threads, embedder, trust.trusts).nearest,
                SpokenLanguages().of,
            ),
            children=lambda: children,
            clock=clock,
            ids=ids,
        )
        workspaces = Workspaces(
            own=paths.workspaces.resolve(),
            roots=[Path(name) for name in real_names(config.workspaces.roots)],
            protected=paths.own_files,
            user_id=os.geteuid(),
        )
        scheduler = await stack.enter_async_context(
            RunScheduler(
                journal=recorded,
                feed=feed,
                folding=folding,
                boundary=RunBoundary(journal=recorded, feed=feed, clock=clock, ids=ids),
                admission=admission,
                make_loop=lambda run: Orchestrator(
                    run, thinking.over(models.llm_of(run.request.model), run.request.owner.uid)
                ),
                clock=clock,
                limits=run_limits(config),
                workspaces=workspaces,
            )
        )
        children = RunChildren(journal=recorded, feed=feed, folding=folding, scheduler=scheduler, clock=clock)
        replays = Replays(journal, decide, fold)
        owners, profiles = RunOwners(journal), ToolProfiles(config.tools.profiles)
        runs = Runs(
            journal=journal,
            folding=folding,
            owners=owners,
            scheduler=scheduler,
            watching=RunWatching(journal, feed),
            tree_watching=TreeWatching(journal, feed),
            answers=Answers(folding=folding, scheduler=scheduler, validator=validator),
            approvals=ApprovalDecisions(folding=folding, scheduler=scheduler),
            validator=validator,
            workspaces=workspaces,
            sessions=records,
            clock=clock,
            ids=ids,
            bounds=run_bounds(config),
            profiles=profiles,
            asking_tools=registry.asking_tools,
            in_order=in_order,
            forks=Forks(
                journal=journal,
                folding=folding,
                replays=replays,
                scheduler=scheduler,
                engine=engine,
                clock=clock,
                ids=ids,
                validator=validator,
                workspaces=workspaces,
                in_order=in_order,
                storage=storage,
            ),
            replays=replays,
            undoing=RunUndo(journal, folding, Restorer(undo_log, files, threads, memory)),
            deletion=RunDeletion(journal, journal, sessions, workspaces, admission),
            storage=storage,
            engine=engine,
        )
        status = Status(
            process=Process(__version__, os.getpid(), _resident_bytes),
            admission=admission,
            scheduler=scheduler,
            engine=engine,
            registry=registry,
            clock=clock,
            reload=live.reload,
        )
        calls = Calls(
            runs=runs,
            sessions=Sessions(
                store=sessions,
                records=records,
                contexts=thinking.session_context(models.llm_of("")),
                admission=admission,
                clock=clock,
                ids=ids,
                storage=storage,
            ),
            tools=Tools(
                registry=registry,
                invoker=invoker,
                workspaces=workspaces,
                admission=admission,
                ids=ids,
                serving=serving,
            ),
            memory=MemoryKeys(bounded_memory, admission),
            policy=PolicyDecisions(
                policy=policy,
                parse=parse_policy,
                inspector=inspector,
                registry=registry,
                journal=journal,
                owners=owners,
                workspaces=workspaces,
            ),
            models=Models(llm_of=models.llm_of, engine=engine, embedder=embedder, admission=admission),
            daemon=status,
        )

        listener = stack.enter_context(listener_of(config, paths, inherited.main))
        admin_listener = stack.enter_context(admin_listener_of(paths, inherited.admin))
        api = Api(
            calls,
            listener=listener,
            admin_listener=admin_listener,
            inner_folder=paths.inner_dir,
            entry=access_rule(config),
            clock=clock,
            ids=ids,
            active=active,
            stall_seconds=config.socket.stall_seconds,
            request_limit_bytes=config.socket.max_request_mib_per_user << 20,
        )

        def adopt(changed: Config) -> None:
            # First: if a name or the policy is wrong, nothing must change.
            entry, rules = access_rule(changed), opened_policy(changed)
            servers, pages = mcp.settings(changed), web.tools(changed)
            policy.adopt(rules)
            trust.adopt(configured_trust(changed))
            api.adopt(entry, changed.socket.max_request_mib_per_user << 20)
            scheduler.adopt(run_limits(changed))
            runs.adopt(run_bounds(changed))
            storage.adopt(changed.daemon.max_stored_mib_per_user << 20)
            profiles.adopt(changed.tools.profiles)
            requests.adopt(ApprovalRules(changed.approvals.expire_seconds))
            models.adopt(changed.model)
            registry.accept(changed.tools.accepted)
            mcp.adopt(servers, changed)
            web.adopt(pages, registry)

        live.adopt_by(adopt)
        await stack.enter_async_context(observation.opened(journal, feed, engine, status, api))
        yield Daemon(
            clock=clock,
            journal=journal,
            engine=engine,
            admission=admission,
            feed=feed,
            showing=EngineProgress(engine, feed),
            warming=PromptWarmup(
                models.llm_of(""),
                engine,
                usual_openings(models.llm_of(""), registry, invoker, validator),
                clock,
                registry.specs,
                lambda: usual_schema(registry, invoker),
            ),
            retention=Retention(
                (journal, undo_log),
                clock,
                lambda: live.config.runs.keep_days,
                lambda: scheduler.running_count > 0,
            ),
            embedding=embedding,
            scheduler=scheduler,
            calls=calls,
            api=api,
            socket=Path(listener.getsockname()),
        )


def _resident_bytes() -> int:
    """The resident memory of this process; 0 if it cannot be read because too many files are open."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
