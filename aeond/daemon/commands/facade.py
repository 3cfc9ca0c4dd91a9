"""`aeond facade mcp` and `aeond facade openai`: the daemon by other protocols, as a client of the user's daemon."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from aeond.daemon.config.secrets import read_secret
from aeond.daemon.exits import Exit
from aeond.daemon.notify import notifier_from_environment
from aeond.errors import RefusedError
from aeond.facades.listeners import FacadeError, Places, default_path
from aeond.facades.serving import serve


def serve_mcp(daemon: str, socket: Path | None, port: int | None, key_file: str) -> Exit:
    """Serves MCP on standard input and output or, with a socket or a port, by streamable HTTP until a signal;
    RefusedError if a socket or the key cannot be used.
    """
    from aeond.facades.mcp.server import mcp_server, refusal, serve_stdio

    if socket is None and port is None:
        anyio.run(serve_stdio, daemon)
        return Exit.OK
    # The listener has checked host and origin, also of the Unix socket, whose clients name any host.
    return _serve(lambda: mcp_server(daemon).streamable_http_app(host=""), socket, port, key_file, refusal)


def serve_openai(daemon: str, socket: Path | None, port: int | None, key_file: str) -> Exit:
    """Serves the API on a socket, a port, or both until a signal; without either on the socket aeond-openai.sock in the
    user's runtime folder. RefusedError if a socket or the key cannot be used.
    """
    from aeond.daemon.clocks import SystemClock, TimeSortedIds
    from aeond.facades.openai.application import openai_app
    from aeond.facades.openai.failures import refusal

    clock = SystemClock()
    path = default_path("openai") if socket is None and port is None else socket
    return _serve(
        lambda: openai_app(daemon, clock.time, TimeSortedIds(clock).new_id), path, port, key_file, refusal
    )


def _serve(
    application: Callable[[], Any], socket: Path | None, port: int | None, key_file: str, refusal: Any
) -> Exit:
    notifier = notifier_from_environment()

    def ready(addresses: list[str]) -> None:
        print(f"listening on {', '.join(addresses)}", flush=True)
        notifier.ready()

    try:
        places = Places(socket, port, read_secret("", key_file))
        anyio.run(partial(serve, application(), places, refusal, ready))
    except FacadeError as error:
        raise RefusedError(error.message, reason=error.reason) from error
    finally:
        notifier.close()
    return Exit.OK
