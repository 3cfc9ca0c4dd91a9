"""The composition root: the one file that knows concrete classes, and nothing but what fits where.

Everything is opened in the order of the lines and closed in the reverse order: journal, memory, tools,
engine, orchestration, kernel, service, socket. The API itself is opened by the lifecycle, last of all.
"""

import grp
import os
import pwd
import socket
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aeond import __version__
from aeond.capabilities.journal.schema import JOURNAL
from aeond.capabilities.journal.sqlite_journal import SqliteJournal
from aeond.capabilities.llm.agent import LLMAgent
from aeond.capabilities.memory.sqlite_memory import MEMORY, SqliteMemory
from aeond.capabilities.sessions.sqlite_sessions import SqliteSessions
from aeond.capabilities.sqlite_file import FileFormat, prepare
from aeond.capabilities.templates.loading import check_tools, load_templates
from aeond.capabilities.templates.subtask_tools import subtask_tools
from aeond.capabilities.tool_files import load_tool_files
from aeond.capabilities.tools.beneath import best_resolver, keep_out
from aeond.capabilities.tools.builtin import builtin_tools
from aeond.capabilities.tools.contained_files import ContainedFiles
from aeond.capabilities.tools.invoking import AcceptAll as AuthoriseAll
from aeond.capabilities.tools.invoking import GuardedInvoker
from aeond.capabilities.tools.registry import Registry
from aeond.capabilities.tools.threads import WorkerThreads
from aeond.daemon.clocks import SystemClock, TimeSortedIds, chance
from aeond.daemon.config import Config, EngineKind, EngineRun, ModelSection, SandboxKind, ToolsSection
from aeond.daemon.paths import Paths
from aeond.daemon.reloading import LiveConfig
from aeond.daemon.secrets import read_secret
from aeond.domain.budgets import Budget
from aeond.errors import InvalidInputError, LLMError, NotFoundError
from aeond.kernel.decide import decide
from aeond.kernel.executor import LLM_AGENT, StepExecutor
from aeond.kernel.fold import fold
from aeond.kernel.orchestrator import Orchestrator, RunPorts
from aeond.orchestration.answering import StepAnswerer
from aeond.orchestration.immediate import AtOnce
from aeond.orchestration.intents import PreparedIntents
from aeond.orchestration.mending import StepMender
from aeond.orchestration.phases import PhaseOrchestrator
from aeond.orchestration.plan_reading import in_order
from aeond.orchestration.planning import ModelPlanner
from aeond.orchestration.preamble import Preamble
from aeond.orchestration.readiness import StepReadiness
from aeond.orchestration.reasoning import AgentReasoner
from aeond.orchestration.repair import ModelSupervisor
from aeond.orchestration.session_telling import SessionTelling
from aeond.orchestration.template_matching import TemplateLibrary
from aeond.orchestration.trivial import AcceptAll, AlwaysPlan, AsSaid, FixedDepth, NeverRefine
from aeond.orchestration.validation import PlanValidator
from aeond.ports import Clock, Engine, Journal, LLMAdapter, Tool
from aeond.server.api import Api, Calls
from aeond.server.entry import EntryRule
from aeond.server.listening import bound_socket, inherited_socket
from aeond.service.admission import Admission
from aeond.service.answers import Answers
from aeond.service.children import RunChildren
from aeond.service.containment import RunBoundary
from aeond.service.feed import HotFeed
from aeond.service.folding import RunFolding
from aeond.service.forking import Forks
from aeond.service.memory import MemoryKeys
from aeond.service.models import Models
from aeond.service.replaying import Replays
from aeond.service.retention import Retention
from aeond.service.runs import Bounds, Runs
from aeond.service.scheduling import RunLimits, RunScheduler
from aeond.service.session_records import SessionRecords
from aeond.service.sessions import Sessions
from aeond.service.showing import EngineShowing
from aeond.service.status import Process, Status
from aeond.service.story import tell
from aeond.service.tools import Tools
from aeond.service.tree_watching import TreeWatching
from aeond.service.warming import PromptWarming
from aeond.service.watching import RunWatching
from aeond.service.workspaces import Workspaces

if TYPE_CHECKING:
    from aeond.capabilities.llm.catalogue import Catalogue
    from aeond.capabilities.llm.downloading import ModelStore


@dataclass(frozen=True, slots=True)
class Daemon:
    """A composed daemon: all is open but the API, and nothing is admitted yet."""

    clock: Clock
    journal: Journal
    engine: Engine
    admission: Admission
    feed: HotFeed
    showing: EngineShowing
    warming: PromptWarming
    retention: Retention
    scheduler: RunScheduler
    calls: Calls
    api: Api
    socket: Path


@asynccontextmanager
async def composed(live: LiveConfig, paths: Paths, descriptor: int | None = None) -> AsyncIterator[Daemon]:
    """Opens everything for as long as the block lasts. The caller holds the lock of a single instance.
    A configuration that is read again is adopted as far as that is possible.

    With the descriptor of a listening socket that one is served, and its path and permissions are the
    business of whoever made it; else one is made where the configuration says.
    """
    config = live.config
    async with AsyncExitStack() as stack:
        clock = SystemClock()
        ids = TimeSortedIds(clock)
        journal = await stack.enter_async_context(SqliteJournal(paths.journal))
        memory = await stack.enter_async_context(SqliteMemory(paths.memory))
        sessions = await stack.enter_async_context(SqliteSessions(paths.sessions))

        registry = Registry()
        resolve = keep_out(best_resolver(), _names(paths.own_files), but_for=_names([paths.workspaces]))
        files = ContainedFiles(
            resolve, _names(config.workspaces.readable), _names(config.workspaces.writable)
        )
        threads = WorkerThreads()
        own_tools = await _own_tools(config.tools, paths)
        for tool in (*builtin_tools(clock, memory, files, threads), *own_tools):
            registry.register(tool)
        templates = _templates(config.tools, registry)
        invoker = GuardedInvoker(registry, clock, AuthoriseAll())

        open_engine = _OPENED[config.model.engine]
        adapter, engine = await stack.enter_async_context(open_engine(config, paths, clock))
        agents = {LLM_AGENT: LLMAgent(adapter)}

        validator = PlanValidator(registry, agents)
        supervisor = ModelSupervisor(adapter, validator)
        reasoner = AgentReasoner(agents, adapter)
        mender = StepMender(registry, supervisor, validator)

        feed, admission, folding = HotFeed(tell), Admission(), RunFolding(journal, fold)
        scheduler = await stack.enter_async_context(
            RunScheduler(
                journal=journal,
                feed=feed,
                folding=folding,
                boundary=RunBoundary(journal=journal, feed=feed, clock=clock, ids=ids),
                admission=admission,
                make_loop=lambda run: Orchestrator(run, ports),
                clock=clock,
                limits=_limits(config),
            )
        )
        children = RunChildren(journal=journal, feed=feed, folding=folding, scheduler=scheduler, clock=clock)
        ports = RunPorts(
            journal=journal,
            feed=feed,
            phases=PhaseOrchestrator(
                references=AsSaid(),
                router=AlwaysPlan(),
                depth=FixedDepth(),
                planner=ModelPlanner(adapter, registry, supervisor, validator),
                evaluator=AcceptAll(),
                refiner=NeverRefine(),
                answerer=StepAnswerer(adapter),
            ),
            intents=PreparedIntents(registry, reasoner, validator, StepReadiness(), templates, ids),
            immediate=AtOnce(invoker, clock),
            executor=StepExecutor(invoker, reasoner, mender, clock, children),
            clock=clock,
        )

        records = SessionRecords(store=sessions, journal=journal, folding=folding)
        telling = SessionTelling(records, adapter, config.sessions.context_tokens)
        workspaces = Workspaces(
            own=paths.workspaces,
            roots=[Path(name) for name in _names(config.workspaces.roots)],
            protected=paths.own_files,
        )
        runs = Runs(
            journal=journal,
            folding=folding,
            scheduler=scheduler,
            watching=RunWatching(journal, feed),
            tree_watching=TreeWatching(journal, feed),
            answers=Answers(folding=folding, scheduler=scheduler, validator=validator),
            validator=validator,
            workspaces=workspaces,
            sessions=records,
            clock=clock,
            ids=ids,
            bounds=_bounds(config),
            in_order=in_order,
            forks=Forks(
                journal=journal,
                folding=folding,
                scheduler=scheduler,
                engine=engine,
                clock=clock,
                ids=ids,
                validator=validator,
                in_order=in_order,
            ),
            replays=Replays(journal, decide, fold),
        )
        calls = Calls(
            runs=runs,
            sessions=Sessions(
                store=sessions,
                records=records,
                contexts=telling,
                admission=admission,
                clock=clock,
                ids=ids,
            ),
            tools=Tools(
                registry=registry, invoker=invoker, workspaces=workspaces, admission=admission, ids=ids
            ),
            memory=MemoryKeys(memory, admission),
            models=Models(adapter=adapter, engine=engine, admission=admission),
            daemon=Status(
                process=Process(__version__, os.getpid(), _resident_bytes),
                admission=admission,
                scheduler=scheduler,
                engine=engine,
                registry=registry,
                clock=clock,
                reload=live.reload,
            ),
        )

        listener = stack.enter_context(_listener(config, paths, descriptor))
        api = Api(
            calls,
            listener=listener,
            inner_folder=paths.inner_dir,
            entry=_entry_rule(config),
            clock=clock,
            ids=ids,
        )

        def adopt(changed: Config) -> None:
            entry = _entry_rule(changed)  # first: names may be wrong, and then nothing is to change
            api.adopt(entry)
            scheduler.adopt(_limits(changed))
            runs.adopt(_bounds(changed))

        live.adopt_by(adopt)
        yield Daemon(
            clock=clock,
            journal=journal,
            engine=engine,
            admission=admission,
            feed=feed,
            showing=EngineShowing(engine, feed),
            warming=PromptWarming(adapter, engine, Preamble(registry, validator).usual, clock),
            retention=Retention(
                journal, clock, lambda: live.config.runs.keep_days, lambda: scheduler.running_count > 0
            ),
            scheduler=scheduler,
            calls=calls,
            api=api,
            socket=Path(listener.getsockname()),
        )


def _templates(tools: ToolsSection, registry: Registry) -> TemplateLibrary:
    """The library of templates; those that are offered as tools are registered."""
    files = load_templates([Path(name).expanduser() for name in tools.templates])
    for subtask in subtask_tools(files, tools.subtasks):
        registry.register(subtask)
    check_tools(files, registry.list_names())
    return TemplateLibrary([file.template for file in files])


async def _own_tools(tools: ToolsSection, paths: Paths) -> Sequence[Tool]:
    """The tools of people's own files, each in the daemon or in a sandbox, as configured."""
    if not tools.files and not tools.folders:
        return ()
    from aeond.capabilities.sandbox.choosing import Choice, sandbox_for
    from aeond.capabilities.sandbox.sandboxed_tool import python_files, replaced, sandboxed_tools

    files = [Path(name).expanduser() for name in tools.files]
    foreign = python_files([Path(name).expanduser() for name in tools.folders])
    if tools.sandbox is SandboxKind.NONE:
        return load_tool_files([*files, *foreign])
    hidden = [Path(name) for name in _names(paths.own_files)]
    sandbox = sandbox_for(Choice(tools.sandbox), paths.tool_unit, hidden)
    bound = partial(sandboxed_tools, sandbox=sandbox, memory_bytes=tools.sandbox_memory_mib << 20)
    own = load_tool_files(files)
    apart = await bound(files) if tools.sandboxed else ()
    return [*replaced(own, apart, tools.sandboxed), *await bound(foreign)]


def _limits(config: Config) -> RunLimits:
    return RunLimits(config.runs.max_running, config.runs.max_waiting)


def _bounds(config: Config) -> Bounds:
    return Bounds(
        default=Budget(**config.runs.budget.model_dump()),
        limit=Budget(**config.runs.budget_limit.model_dump()),
    )


def _entry_rule(config: Config) -> EntryRule:
    """InvalidInputError (reason CONFIG_INVALID) for a user or group that this machine does not have."""
    return EntryRule(
        user_ids=frozenset(map(_user_id, config.socket.allow_users)),
        group_ids=frozenset(map(_group_id, config.socket.allow_groups)),
        max_connections=config.socket.max_connections,
    )


def _names(places: Iterable[str | Path]) -> list[str]:
    """Where the places really are."""
    return [str(Path(place).expanduser().resolve()) for place in places]


def _listener(config: Config, paths: Paths, descriptor: int | None) -> AbstractContextManager[socket.socket]:
    if descriptor is not None:
        return inherited_socket(descriptor)
    group = config.socket.group
    return bound_socket(paths.socket, int(config.socket.mode, 8), _group_id(group) if group else None)


@asynccontextmanager
async def _llama_cpp(config: Config, paths: Paths, clock: Clock) -> AsyncIterator[tuple[LLMAdapter, Engine]]:
    from aeond.capabilities.llm.llama_cpp import LlamaCppAdapter
    from aeond.capabilities.llm.llama_engine import LlamaEngine, LlamaSettings
    from aeond.capabilities.llm.retrying import Retries

    model, start = config.model, _started(config.engine.run, paths)
    catalogue, store = _models(model, paths)
    settings = LlamaSettings(
        slots=model.parallel_requests,
        context_length=model.context_tokens,
        threads=model.threads,
        busy_seconds=model.busy_seconds,
    )
    async with LlamaEngine(
        catalogue, store, paths.engine_dir, paths.prompts_dir, clock, settings, **start
    ) as engine:
        if model.load_at_start:
            await engine.load("")
        yield LlamaCppAdapter(engine, Retries(clock, chance)), engine


def _started(run: EngineRun, paths: Paths) -> "dict[str, Any]":
    """How the engine's host is started, as LlamaEngine takes it: a child is what it does by itself."""
    from aeond.capabilities.llm.engine_unit import engine_unit

    as_unit = run is EngineRun.UNIT or (run is EngineRun.AUTO and paths.engine_unit.is_socket())
    return {"program": (), "start": partial(engine_unit, paths.engine_unit)} if as_unit else {}


def _models(model: ModelSection, paths: Paths) -> "tuple[Catalogue, ModelStore]":
    from aeond.capabilities.llm.catalogue import BUILT_IN, Catalogue, own_file
    from aeond.capabilities.llm.downloading import ModelStore
    from aeond.capabilities.llm.hub_source import Hub

    entries = (*BUILT_IN, *([own_file("own", Path(model.file).expanduser())] if model.file else ()))
    catalogue = Catalogue(entries, "own" if model.file else model.name or BUILT_IN[0].name)
    token = read_secret(model.hub_credential, model.hub_token_file)
    return catalogue, ModelStore(paths.models_dir, hub=Hub(model.hub_url, token))


@asynccontextmanager
async def _scripted(config: Config, _paths: Paths, _clock: Clock) -> AsyncIterator[tuple[LLMAdapter, Engine]]:
    from aeond.capabilities.llm.scripted import Script, ScriptedLLM, read_script
    from aeond.capabilities.llm.scripted_engine import ScriptedEngine

    model = config.model
    script = read_script(Path(model.script).expanduser()) if model.script else Script()
    adapter = ScriptedLLM(script)
    yield adapter, ScriptedEngine(adapter)


_OPENED = {EngineKind.LLAMA_CPP: _llama_cpp, EngineKind.SCRIPTED: _scripted}


def check_journal(paths: Paths) -> str:
    """What is to be said of the journal's file, which is only read. StoreError when it cannot be used."""
    return _checked(paths.journal, JOURNAL)


def check_memory(paths: Paths) -> str:
    """The same for the memory's file."""
    return _checked(paths.memory, MEMORY)


def _checked(path: Path, form: FileFormat) -> str:
    if not path.exists():
        return f"{path} is not there yet; the first start makes it"
    prepare(path, form)
    return f"{path} is whole"


async def check_model(config: Config, paths: Paths) -> str:
    """What is to be said of the model's file, which is read whole. NotFoundError when it is not there,
    LLMError (reason MODEL_DAMAGED) when it is not what its digest says."""
    from aeond.capabilities.llm.downloading import digest_of

    catalogue, store = _models(config.model, paths)
    entry = catalogue.get("")
    path = store.find(entry)
    if path is None:
        raise NotFoundError(f"{entry.name} is not in {paths.models_dir}", reason="MODEL_MISSING")
    if entry.digest and await digest_of(path, entry.size_bytes) != entry.digest:
        raise LLMError(f"{path} is damaged: its digest is not {entry.digest}", reason="MODEL_DAMAGED")
    return f"{entry.name} is at {path}"


def _user_id(name: str) -> int:
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        raise _unknown("user", name, "socket.allow_users") from None


def _group_id(name: str) -> int:
    try:
        return grp.getgrnam(name).gr_gid
    except KeyError:
        raise _unknown("group", name, "socket.group and socket.allow_groups") from None


def _unknown(what: str, name: str, where: str) -> InvalidInputError:
    return InvalidInputError(f"this machine has no {what} {name!r}: mend {where}", reason="CONFIG_INVALID")


def _resident_bytes() -> int:
    """What this process holds in memory right now."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
