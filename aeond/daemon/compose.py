"""The composition root: with the other `compose_` files beside it the only one that knows concrete
classes, and nothing but what fits where.

Everything is opened in the order of the lines and closed in the reverse order: journal, memory, tools,
engine, orchestration, kernel, service, socket. The API itself is opened by the lifecycle, last of all.
"""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio

from aeond import __version__
from aeond.capabilities.journal.schema import JOURNAL
from aeond.capabilities.journal.sqlite_journal import SqliteJournal
from aeond.capabilities.memory.sqlite_memory import MEMORY, SqliteMemory
from aeond.capabilities.sessions.sqlite_sessions import SESSIONS, SqliteSessions
from aeond.capabilities.sqlite_file import FileFormat, prepare
from aeond.capabilities.tools.beneath import best_resolver, keep_out
from aeond.capabilities.tools.builtin import builtin_tools
from aeond.capabilities.tools.contained_files import ContainedFiles
from aeond.capabilities.tools.invoking import AcceptAll as AuthoriseAll
from aeond.capabilities.tools.invoking import GuardedInvoker
from aeond.capabilities.tools.registry import Registry
from aeond.capabilities.tools.threads import WorkerThreads
from aeond.daemon.accounts import group_id, user_id
from aeond.daemon.clocks import SystemClock, TimeSortedIds
from aeond.daemon.compose_models import opened_models
from aeond.daemon.compose_thinking import AGENTS, Thinking
from aeond.daemon.compose_tools import open_templates, own_tools
from aeond.daemon.config import Config
from aeond.daemon.paths import Paths, real_names
from aeond.daemon.reloading import LiveConfig
from aeond.domain.budgets import Budget
from aeond.frozen import frozen
from aeond.kernel.decide import decide
from aeond.kernel.fold import fold
from aeond.kernel.orchestrator import Orchestrator
from aeond.orchestration.assembling import usual_openings, usual_schema
from aeond.orchestration.plan_reading import in_order
from aeond.orchestration.validation import PlanValidator
from aeond.ports import Clock, Engine, Journal
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


@frozen
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
        journal = SqliteJournal(paths.journal)
        memory = SqliteMemory(paths.memory)
        sessions = SqliteSessions(paths.sessions)
        async with anyio.create_task_group() as opening:  # together: it is the disk that they wait for
            for store in (journal, memory, sessions):
                opening.start_soon(stack.enter_async_context, store)

        registry = Registry()
        resolve = keep_out(
            best_resolver(), real_names(paths.own_files), but_for=real_names([paths.workspaces])
        )
        files = ContainedFiles(
            resolve, real_names(config.workspaces.readable), real_names(config.workspaces.writable)
        )
        threads = WorkerThreads()
        own = await own_tools(config.tools, paths)
        for tool in (*builtin_tools(clock, memory, files, threads), *own):
            registry.register(tool)
        templates = open_templates(config.tools, registry)
        invoker = GuardedInvoker(registry, clock, AuthoriseAll())

        models = await stack.enter_async_context(opened_models(config, paths, clock))
        engine = models.engine
        validator = PlanValidator(registry, AGENTS)

        feed, admission, folding = HotFeed(tell), Admission(), RunFolding(journal, fold)
        records = SessionRecords(store=sessions, journal=journal, folding=folding)
        await records.settle()
        thinking = Thinking(
            journal=journal,
            feed=feed,
            registry=registry,
            invoker=invoker,
            validator=validator,
            templates=templates,
            history=records,
            session_tokens=config.sessions.context_tokens,
            children=lambda: children,
            clock=clock,
            ids=ids,
        )
        scheduler = await stack.enter_async_context(
            RunScheduler(
                journal=journal,
                feed=feed,
                folding=folding,
                boundary=RunBoundary(journal=journal, feed=feed, clock=clock, ids=ids),
                admission=admission,
                make_loop=lambda run: Orchestrator(run, thinking.over(models.llm_of(run.request.model))),
                clock=clock,
                limits=_limits(config),
            )
        )
        children = RunChildren(journal=journal, feed=feed, folding=folding, scheduler=scheduler, clock=clock)

        workspaces = Workspaces(
            own=paths.workspaces,
            roots=[Path(name) for name in real_names(config.workspaces.roots)],
            protected=paths.own_files,
        )
        replays = Replays(journal, decide, fold)
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
                replays=replays,
                scheduler=scheduler,
                engine=engine,
                clock=clock,
                ids=ids,
                validator=validator,
                workspaces=workspaces,
                in_order=in_order,
            ),
            replays=replays,
            engine=engine,
        )
        calls = Calls(
            runs=runs,
            sessions=Sessions(
                store=sessions,
                records=records,
                contexts=thinking.telling(models.llm_of("")),
                admission=admission,
                clock=clock,
                ids=ids,
            ),
            tools=Tools(
                registry=registry, invoker=invoker, workspaces=workspaces, admission=admission, ids=ids
            ),
            memory=MemoryKeys(memory, admission),
            models=Models(llm_of=models.llm_of, engine=engine, admission=admission),
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
            models.adopt(changed.model)

        live.adopt_by(adopt)
        yield Daemon(
            clock=clock,
            journal=journal,
            engine=engine,
            admission=admission,
            feed=feed,
            showing=EngineShowing(engine, feed),
            warming=PromptWarming(
                models.llm_of(""),
                engine,
                usual_openings(registry, validator),
                clock,
                registry.specs,
                lambda: usual_schema(registry),
            ),
            retention=Retention(
                journal, clock, lambda: live.config.runs.keep_days, lambda: scheduler.running_count > 0
            ),
            scheduler=scheduler,
            calls=calls,
            api=api,
            socket=Path(listener.getsockname()),
        )


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
        user_ids=frozenset(map(user_id, config.socket.allow_users)),
        group_ids=frozenset(map(group_id, config.socket.allow_groups)),
        max_connections=config.socket.max_connections,
    )


def _listener(config: Config, paths: Paths, descriptor: int | None) -> AbstractContextManager[socket.socket]:
    if descriptor is not None:
        return inherited_socket(descriptor)
    group = config.socket.group
    return bound_socket(paths.socket, int(config.socket.mode, 8), group_id(group) if group else None)


def check_journal(paths: Paths) -> str:
    """What is to be said of the journal's file, which is only read. StoreError when it cannot be used."""
    return _checked(paths.journal, JOURNAL)


def check_memory(paths: Paths) -> str:
    """The same for the memory's file."""
    return _checked(paths.memory, MEMORY)


def check_sessions(paths: Paths) -> str:
    """The same for the sessions' file."""
    return _checked(paths.sessions, SESSIONS)


def _checked(path: Path, form: FileFormat) -> str:
    if not path.exists():
        return f"{path} is not there yet; the first start makes it"
    prepare(path, form)
    return f"{path} is whole"


def _resident_bytes() -> int:
    """What this process holds in memory right now."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
