"""The interface of an engine program: the files it loads, its command, and its client once it is ready."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from aeond.capabilities.llm.engine.process import clean_environment
from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.capabilities.llm.models.catalogue import CatalogueEntry
from aeond.capabilities.llm.models.store import ShowProgress

R_co = TypeVar("R_co", covariant=True)


class ModelFiles(Protocol):
    """Where a program's models are."""

    def find(self, entry: CatalogueEntry) -> Path | None:
        """The model's file, or its folder, if it is here."""

    async def fetch(self, entry: CatalogueEntry, on_progress: ShowProgress) -> Path:
        """The model in the form that the program loads; gets or makes it if need be. Raises LLMError."""
        ...

    async def remove_if_damaged(self, entry: CatalogueEntry) -> bool:
        """Looks at what is kept again, after a program refused it; True when it had gone bad and is away."""
        ...


class EngineProgram(ABC, Generic[R_co]):
    """A server program with an OpenAI-compatible interface on a Unix socket.

    It reports on standard output, a JSON object a line: `{"activity": text, "progress": 0..1}` while it starts,
    `{"ready": true}`, or `{"error": text}` when it cannot use the model. It ends with its parent.
    """

    @property
    def environment(self) -> Mapping[str, str]:
        """All that it knows of our environment."""
        return clean_environment()

    @abstractmethod
    def command(self, entry: CatalogueEntry, path: Path, socket: Path, context_length: int) -> Sequence[str]:
        """The command line that serves the model at `path` on `socket`."""

    async def show_loading(self, pid: int, path: Path, show: ShowProgress) -> None:
        """Tells how far loading is where the program does not say so itself, until it is cancelled."""

    @abstractmethod
    def resident(self, entry: CatalogueEntry, client: OpenAIClient, show: ShowProgress) -> R_co:
        """What adapters work with, from ready to the end of this life. `show` takes what a ready engine does
        beside answering; ("", 0) when it is nothing any more."""

    async def proves_alive(self, client: OpenAIClient) -> bool:
        """Whether an engine that was silent for long does something after all. May wait for ever: the caller
        bounds it."""
        return False

    async def sleep(self, client: OpenAIClient) -> bool:
        """Has the engine give its memory back and keep its process. False if that would free none: nothing was
        done then. The caller sends no requests before `wake`. Raises LLMError."""
        return False

    async def wake(self, client: OpenAIClient) -> None:
        """Returns when an engine that sleeps can be asked again. Raises LLMError."""
