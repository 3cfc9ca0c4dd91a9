"""The address of a daemon's socket, and the setting that it comes from."""

from dataclasses import dataclass
from enum import StrEnum

ENVIRONMENT_VARIABLE = "AEOND_SOCKET"


class SocketSource(StrEnum):
    """How a socket was chosen, in order of precedence."""

    OPTION = "option"
    ENVIRONMENT = "environment"
    USER = "user"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class SocketAddress:
    """The path of a socket, and how it was chosen."""

    path: str
    source: SocketSource

    @property
    def target(self) -> str:
        """Its address in gRPC's syntax."""
        return f"unix:{self.path}"

    def __str__(self) -> str:
        return f"{self.path} ({_SOURCE_WORDS[self.source]})"


_SOURCE_WORDS = {
    SocketSource.OPTION: "as given",
    SocketSource.ENVIRONMENT: f"from {ENVIRONMENT_VARIABLE}",
    SocketSource.USER: "yours",
    SocketSource.SYSTEM: "the system's",
}
