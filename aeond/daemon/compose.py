"""The composition root: the one file that knows concrete classes, and nothing but what fits where.

Everything is opened in the order of the lines and closed in the reverse order: journal, memory, tools,
engine, orchestration, kernel, service, server.
"""

import grp
import os
import pwd
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from aeond import __version__
from aeond.capabilities.journal.sqlite_journal import SqliteJournal
from aeond.capabilities.memory.in_memory_memory import InMemoryMemory
from aeond.capabilities.memory.sqlite_memory import SqliteMemory
from aeond.capabilities.tools.builtin import builtin_tools
from aeond.capabilities.tools.contained_files import ContainedFiles
from aeond.capabilities.tools.invoking import AcceptAll, GuardedInvoker
from aeond.capabilities.tools.loading import load_tool_files
from aeond.capabilities.tools.registry import Registry
from aeond.capabilities.tools.threads import WorkerThreads
from aeond.daemon.clocks import SystemClock, TimeSortedIds
from aeond.daemon.config import Config
from aeond.daemon.engines import opened_engine
from aeond.daemon.paths import Paths
from aeond.domain.budgets import Budget
from aeond.kernel.executor import StepExecutor
from aeond.kernel.fold import fold
from aeond.kernel.orchestrator import Orchestrator, RunPorts
from aeond.orchestration.intents import PreparedIntents
from aeond.orchestration.mending import StepMender
from aeond.orchestration.readiness import StepReadiness
from aeond.orchestration.repair import ModelSupervisor
from aeond.orchestration.validation import PlanValidator
from aeond.ports import Clock, Engine, Journal
from aeond.server.api import Api, Calls
from aeond.server.listening import bound_socket
from aeond.service.admission import Admission
from aeond.service.containment import RunBoundary
from aeond.service.feed import HotFeed
from aeond.service.folding import RunFolding
from aeond.service.memory import MemoryKeys
from aeond.service.models import Models
from aeond.service.runs import Bounds, Runs
from aeond.service.scheduling import RunLimits, RunScheduler
from aeond.service.status import Process, Status
from aeond.service.tools import Tools
from aeond.service.watching import RunWatching
from aeond.service.workspaces import Workspaces
