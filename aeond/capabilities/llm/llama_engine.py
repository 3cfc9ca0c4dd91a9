"""llama.cpp as the program of a supervised engine."""

import functools
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from aeond.capabilities.llm.catalogue import Catalogue, CatalogueEntry
from aeond.capabilities.llm.downloading import ShowProgress, version_of
from aeond.capabilities.llm.engine_process import clean_environment, mapped_bytes
from aeond.capabilities.llm.engine_program import ModelFiles
from aeond.capabilities.llm.engine_unit import Start, as_child
from aeond.capabilities.llm.openai_client import OpenAIClient
from aeond.capabilities.llm.prompt_files import PromptFiles
from aeond.capabilities.llm.prompt_reading import PromptReading, Resident
from aeond.capabilities.llm.supervising import SupervisedEngine
from aeond.capabilities.llm.supervision import Supervision
from aeond.frozen import frozen
from aeond.ports import Clock
from aeond.private_folders import make_private

HOST_MODULE = "aeond.capabilities.llm.llama_host"
# -P: the folder that it runs in is not a place to import from.
HOST_PROGRAM = (sys.executable, "-P", "-m", HOST_MODULE)
LOOK_SECONDS = 0.25


@frozen
class LlamaSettings(Supervision):
    """How the engine runs.

    Memory is set aside for `slots` times `context_length`. A prompt is read in pieces that keep the engine for
    `busy_seconds` each and have at most `batch` tokens: a cancelled request ends between two of them.
    """

    slots: int = 4
    threads: int = 0  # 0: one per core
    batch: int = 64
    busy_seconds: float = 0.1


class LlamaProgram:
    """The host of llama.cpp. `prompts` is for prompts that were read ahead; it may be emptied at any time.
    `host` is the host's command line without its options."""

    def __init__(self, prompts: Path, clock: Clock, settings: LlamaSettings, host: Sequence[str]) -> None:
        self._prompts = prompts
        self._clock = clock
        self._settings = settings
        self._host = tuple(host)

    @property
    def environment(self) -> Mapping[str, str]:
        return clean_environment()

    def command(self, entry: CatalogueEntry, path: Path, socket: Path, context_length: int) -> Sequence[str]:
        make_private(self._prompts)
        settings = self._settings
        options = {
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

        reading = PromptReading(
            client,
            self._clock,
            PromptFiles(self._prompts, f"{_content_of(entry)} {version('xllamacpp')}"),
            slots=self._settings.slots,
            most=self._settings.batch,
            piece_seconds=0.8 * self._settings.busy_seconds,  # no two pieces take quite the same time
            show=functools.partial(show_reading, show),
        )
        return Resident(client, reading)

    async def proves_alive(self, _client: OpenAIClient) -> bool:
        """Prompts are read in pieces, each of which makes itself heard: silence is proof enough."""
        return False

    async def sleep(self, _client: OpenAIClient) -> bool:
        """llama.cpp keeps its memory as long as it lives."""
        return False

    async def wake(self, _client: OpenAIClient) -> None:
        """It never sleeps."""


class LlamaEngine(SupervisedEngine[Resident]):
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


def show_reading(show: ShowProgress, done: float) -> None:
    """How far a prompt is that is read ahead."""
    show("reading ahead" if done < 1 else "", done if done < 1 else 0.0)


def _content_of(entry: CatalogueEntry) -> str:
    """What tells this model's weights from any other's, also where a user puts another file in their place."""
    own = [
        (place, *version_of(place)) for place in entry.places if isinstance(place, Path) and place.is_file()
    ]
    return entry.digest or str(own)
