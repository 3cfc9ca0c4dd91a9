"""Configuration of what tools reach beyond this machine: hosts of the web, and MCP servers."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from aeond.daemon.config.secrets import looks_secret
from aeond.daemon.config.section import PathText, Section, UrlText
from aeond.domain.policy import Effect

ServerName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Word = Annotated[str, StringConstraints(max_length=1_000, pattern=r"^[^\x00]*$")]


def _harmless(name: str) -> str:
    if looks_secret(name):
        raise ValueError("it looks like a secret, which no server receives")
    return name


HostText = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Variable = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"), AfterValidator(_harmless)
]


class EgressSection(Section):
    """Requests of tools to the web: fetch_url, http_request and web_search."""

    hosts: tuple[HostText, ...] = Field(
        (),
        description="Hosts that tools may send requests to, as far as their addresses are public: example.org, *.example.org"
        " for everything below it, or * for all. Without a port the ports 80 and 443 are meant; otherwise write"
        " example.org:8443. Without `hosts` and `local` the tools fetch_url and http_request do not exist.",
    )
    local: tuple[HostText, ...] = Field(
        (),
        description="Services on this machine or in its network that tools may send requests to, each exactly as host:port,"
        " such as 127.0.0.1:8080.",
    )
    search_url: UrlText = Field(
        "",
        max_length=500,
        pattern=r"^(https?://.*)?$",
        description="Address of a search server with the interface of SearXNG and the format JSON, such as"
        " http://127.0.0.1:8888/search. Searches may reach it wherever it is. Empty: the tool web_search does not exist.",
    )


class McpNetwork(StrEnum):
    """The network of a server's process."""

    NONE = "none"
    HOST = "host"


class McpSection(Section):
    """An MCP server: a command that runs in a sandbox, or an address. Its tools are named NAME_TOOL."""

    command: Word = Field(
        "",
        description="Program of the server, with a path or from /usr/bin and /bin. It speaks MCP over its standard input"
        " and output, and runs in a bubblewrap sandbox of its own. Either this or `url` is required.",
    )
    args: tuple[Word, ...] = Field((), description="Arguments of the program.")
    environment: tuple[Variable, ...] = Field(
        (),
        description="Names of variables of the daemon's environment that the program receives; it has no others. Names of"
        " secrets are rejected.",
    )
    readable: tuple[PathText, ...] = Field(
        (), description="Folders that the program may read, besides the system's programs and libraries."
    )
    writable: tuple[PathText, ...] = Field((), description="Folders that the program may read and write.")
    network: McpNetwork = Field(
        McpNetwork.NONE,
        description="Network of the program: none; host, everything that this machine reaches, its own services included.",
    )
    memory_mib: int = Field(
        1024,
        ge=64,
        le=1_048_576,
        description="Maximum memory of the program and its children, if the daemon may make control groups.",
    )
    url: UrlText = Field(
        "",
        max_length=500,
        pattern=r"^(https?://.*)?$",
        description="Address of the server, if it speaks MCP over HTTP (streamable HTTP).",
    )
    local: bool = Field(
        False,
        description="Whether the host of `url` may have an address of this machine or its network, such as 127.0.0.1 or"
        " 10.0.0.5. Without it, a host with such an address is refused.",
    )
    key_credential: str = Field(
        "",
        max_length=255,
        description="Name of the systemd credential with the bearer token for `url`. Empty: none.",
    )
    key_file: PathText = Field(
        "",
        description="File with the bearer token if there is no credential; only its owner may have read permission.",
    )
    effects: dict[str, Effect] = Field(
        default_factory=dict,
        description="Effect classes of tools, by the server's own names for them, such as read or write_outside. They apply"
        " once the tool's digest is in `tools.accepted`; until then, and for all other tools, the effect is undeclared and"
        " every call is asked about.",
    )
    timeout_seconds: float = Field(60.0, gt=0, le=3_600, description="Time limit of one call.")
    max_output_bytes: int = Field(
        65_536, ge=1_024, le=1 << 20, description="Size limit of one result as JSON text, in bytes."
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("give either command or url")
        return self
