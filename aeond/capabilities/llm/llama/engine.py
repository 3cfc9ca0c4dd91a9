"""llama.cpp as the program of a supervised engine."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from aeond.capabilities.llm.engine.interface import EngineProgram, ModelFiles
from aeond.capabilities.llm.engine.process import mapped_bytes
from aeond.capabilities.llm.engine.supervision_rules import Supervision
from aeond.capabilities.llm.engine.supervisor import EngineSupervisor
from aeond.capabilities.llm.engine.systemd_unit import Start, as_child
from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.capabilities.llm.llama.prefill import Prefill, Resident
from aeond.capabilities.llm.llama.prefix_cache import PrefixCache
from aeond.capabilities.llm.models.catalogue import Catalogue, CatalogueEntry
from aeond.capabilities.llm.models.store import ShowProgress, version_of
from aeond.frozen import frozen
from aeond.ports import Clock
from aeond.private_folders import make_private

HOST_MODULE = "aeond.capabilities.llm.llama.host"
# -P: the folder that it runs in is not a place to import from.
HOST_PROGRAM = (sys.executable, "-P", "-m", HOST_MODULE)
LOOK_SECONDS = 0.25


@frozen
class LlamaSettings(Supervision):
    """How the engine runs.

    Memory is set aside for `slots` times `context_length`. A prompt is read in batches of about `busy_seconds`
    and at most `batch` tokens; a cancelled request ends after the current batch.
    """

    slots: int = 4
    threads: int = 0  # 0: one per core
    batch: int = 512
    busy_seconds: float = 1.5
    library: Path | None = None  # a build of xllamacpp for this processor; None: the installed wheel


class LlamaProgram(EngineProgram[Resident]):
    """The host of llama.cpp. `prompts` is for prompts that were read ahead; it may be emptied at any time.
    `host` is the host's command line without its options.

    It never sleeps: llama.cpp keeps its memory as long as it lives. One that answers no batch of a prompt within the
    stall limit is not alive.
    """

    def __init__(self, prompts: Path, clock: Clock, settings: LlamaSettings, host: Sequence[str]) -> None:
        self._prompts = prompts
        self._clock = clock
        self._settings = settings
        self._host = tuple(host)

    def command(self, entry: CatalogueEntry, path: Path, socket: Path, context_length: int) -> Sequence[str]:
        make_private(self._prompts)
        settings = self._settings
        options: dict[str, object] = {
            "--parent": os.getpid(),
            "--socket": socket,
            "--model": path,
            "--name": entry.name,
            "--slots": settings.slots,
            "--context-length": context_length,
            "--threads": settings.threads or len(os.sched_getaffinity(0)),
            "--batch": settings.batch,
            # Each request holds one while it waits or streams; a few more for counting and looking.
            "--http-threads": settings.max_requests + 8,
            "--prompts": self._prompts,
        }
        if settings.library is not None:
            options["--library"] = settings.library
        if entry.chat_template is not None:
            options["--chat-template"] = entry.chat_template
        flat = [str(part) for option in options.items() for part in option]
        return [*self._host, *flat]

    async def show_loading(self, pid: int, path: Path, show: ShowProgress) -> None:
        """How much of the model's file is in memory, and then that it is being made ready there."""
        size = path.stat().st_size
        while True:
            share = mapped_bytes(pid) / size
            loaded = share >= 1
            show("preparing" if loaded else "loading", 0.0 if loaded else share)
            await self._clock.sleep_until(self._clock.monotonic() + LOOK_SECONDS)

    def resident(self, entry: CatalogueEntry, client: OpenAIClient, show: ShowProgress) -> Resident:
        from importlib.metadata import version

        # A native build has no flash attention, and keeps what it has read in another form.
        build = "" if self._settings.library is None else " native"
        reading = Prefill(
            client,
            self._clock,
            PrefixCache(self._prompts, f"{_content_of(entry)} {version('xllamacpp')}{build}"),
            slots=self._settings.slots,
            most=self._settings.batch,
            batch_seconds=self._settings.busy_seconds,
            show=lambda done: show("reading ahead", done) if done < 1 else show("", 0.0),
        )
        return Resident(client, reading, guided=self._settings.library is None)


class LlamaEngine(EngineSupervisor[Resident]):
    """A supervised llama.cpp."""

    def __init__(
        self,
        catalogue: Catalogue,
        store: ModelFiles,
        folder: Path,
        prompts: Path,
        clock: Clock,
        settings: LlamaSettings,
        program: Sequence[str] = HOST_PROGRAM,
        start: Start = as_child,
    ) -> None:
        host = LlamaProgram(prompts, clock, settings, program)
        super().__init__(catalogue, store, folder, clock, settings, host, start)


def _content_of(entry: CatalogueEntry) -> str:
    """What tells this model's weights from any other's, also where a user puts another file in their place."""
    own = [
        (place, *version_of(place)) for place in entry.places if isinstance(place, Path) and place.is_file()
    ]
    return entry.digest or f"{entry.name} {own}"
