"""`aeond facade mcp`: the daemon as an MCP server, as a client of the user's daemon."""

from functools import partial
from pathlib import Path

import anyio

from aeond.daemon.config.secrets import read_secret
from aeond.daemon.exits import Exit
from aeond.errors import RefusedError
from aeond.facades.errors import FacadeError
from aeond.facades.listeners import Places
from aeond.facades.mcp.server import mcp_server, refusal, serve_stdio
from aeond.facades.serving import serve


def serve_mcp(*, daemon: str, socket: Path | None, port: int | None, key_file: str) -> Exit:
    """Serves MCP on standard input and output or, with a socket or a port, by streamable HTTP until a signal;
    RefusedError if a socket or the key cannot be used.
    """
    if socket is None and port is None:
        anyio.run(serve_stdio, daemon)
        return Exit.OK
    try:
        places = Places(socket, port, read_secret("", key_file))
        # The listener has checked host and origin, also of the Unix socket, whose clients name any host.
        application = mcp_server(daemon).streamable_http_app(host="")
        anyio.run(partial(serve, application, places, refusal, _say))
    except FacadeError as error:
        raise RefusedError(error.message, reason=error.reason) from error
    return Exit.OK


def _say(addresses: list[str]) -> None:
    print(f"listening on {', '.join(addresses)}", flush=True)
