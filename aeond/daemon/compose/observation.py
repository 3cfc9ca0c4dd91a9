"""Composes metrics and traces, if the configuration asks for them; their libraries are imported only then."""

import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from aeond import __version__
from aeond.daemon.config.paths import Paths
from aeond.daemon.config.schema import Config
from aeond.daemon.config.secrets import read_secret
from aeond.errors import InvalidInputError, RefusedError
from aeond.ports import Clock, Engine, Journal
from aeond.server.api import Api
from aeond.server.door.listening import bound_socket
from aeond.service.status import Status
from aeond.service.watching.feed import HotFeed

if TYPE_CHECKING:
    from aeond.observability.metrics import Metrics
    from aeond.observability.traces.tracing import Tracing

LOOPBACK = "127.0.0.1"


class Observation:
    """Metrics and traces of one daemon. Costs nothing if both are off."""

    def __init__(self, config: Config, paths: Paths, clock: Clock) -> None:
        self._config = config
        self._paths = paths
        self._clock = clock
        self._metrics = _metrics() if config.metrics.enabled else None

    def timed(self, journal: Journal) -> Journal:
        """The journal for runs, whose commits are measured."""
        if self._metrics is None:
            return journal
        from aeond.observability.timed_journal import TimedJournal

        return TimedJournal(journal, self._clock, self._metrics.commits)

    @asynccontextmanager
    async def opened(
        self, journal: Journal, feed: HotFeed, engine: Engine, status: Status, api: Api
    ) -> AsyncIterator[None]:
        """Follows events and serves metrics while the context is open. Enter it before runs of an earlier daemon
        continue."""
        metrics = self._metrics
        with ExitStack() as sockets:
            async with anyio.create_task_group() as tasks:
                tracing = self._tracing(journal, engine)
                if tracing is not None:
                    feed.listen(tracing.hear)
                    tasks.start_soon(tracing.run)
                if metrics is not None:
                    await metrics.recall(journal)
                    feed.listen(metrics.counts.hear)
                    self._serve(metrics, journal, status, api, tracing, tasks, sockets)
                yield
                tasks.cancel_scope.cancel()

    def _serve(
        self,
        metrics: "Metrics",
        journal: Journal,
        status: Status,
        api: Api,
        tracing: "Tracing | None",
        tasks: anyio.abc.TaskGroup,
        sockets: ExitStack,
    ) -> None:
        from aeond.observability.families import Export
        from aeond.observability.http_endpoint import HttpEndpoint
        from aeond.observability.textfile import Textfile

        config = self._config.metrics
        spans = Export if tracing is None else lambda: tracing.counts
        page_of = partial(metrics.page_of, journal, status.status, api, spans)
        page = page_of()
        socket_path = Path(config.path).expanduser() if config.path else self._paths.metrics_socket
        tasks.start_soon(HttpEndpoint(page).serve, sockets.enter_context(bound_socket(socket_path)))
        if config.port:
            key = read_secret(config.key_credential, config.key_file)
            if not key:
                raise InvalidInputError(
                    "metrics.port needs a key, because every user of the machine can connect to it: set"
                    " metrics.key_file or metrics.key_credential",
                    reason="CONFIG_INVALID",
                )
            listener = sockets.enter_context(_loopback(config.port))
            tasks.start_soon(HttpEndpoint(page, key).serve, listener)
        if config.textfile:
            path = Path(config.textfile).expanduser()
            page = page_of(of_process=False)  # node_exporter has the metrics of its own process
            tasks.start_soon(Textfile(path, config.textfile_seconds, page, self._clock).keep)

    def _tracing(self, journal: Journal, engine: Engine) -> "Tracing | None":
        endpoint = self._config.traces.endpoint
        if not endpoint:
            return None
        try:
            from aeond.observability.traces.span_exporter import SpanExporter
            from aeond.observability.traces.tracing import Tracing
        except ModuleNotFoundError as error:
            raise InvalidInputError(
                f"traces.endpoint needs the library {error.name}: install the extra otlp, in a checkout with pip"
                " install '.[otlp]', or remove the key",
                reason="CONFIG_INVALID",
            ) from error
        exporter = SpanExporter(endpoint, __version__, self._clock)
        provider = self._config.model.engine.value
        return Tracing(journal, exporter, lambda: engine.snapshot().model, provider, self._clock)


def _metrics() -> "Metrics":
    from aeond.observability.metrics import Metrics

    return Metrics()


def _loopback(port: int) -> socket.socket:
    try:
        return socket.create_server((LOOPBACK, port))
    except OSError as error:
        raise RefusedError(
            f"cannot listen at {LOOPBACK}:{port} ({error.strerror}): choose another metrics.port",
            reason="PORT_REFUSED",
        ) from error
