"""The metrics of a daemon as a reader sees them: fetched over a socket, parsed by Prometheus's own parser."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from prometheus_client.openmetrics.parser import text_string_to_metric_families

OPENMETRICS: Final = "application/openmetrics-text; version=1.0.0"
SECONDS: Final = 10.0

Samples = dict[str, float]
"""By the name with its labels in order: `aeond_runs{state="failed"}`."""


def samples(text: str) -> Samples:
    """The samples of an OpenMetrics page; ValueError if it is not valid."""
    families = text_string_to_metric_families(text)  # type: ignore[no-untyped-call] # it has no types
    return dict(_named(families))


def _named(families: object) -> Iterator[tuple[str, float]]:
    assert isinstance(families, Iterator)
    for family in families:
        for sample in family.samples:
            labels = ",".join(f'{key}="{value}"' for key, value in sorted(sample.labels.items()))
            yield f"{sample.name}{{{labels}}}" if labels else sample.name, sample.value


def request(path: str = "/metrics", *headers: str, method: str = "GET") -> bytes:
    """A request as a reader sends it."""
    return "\r\n".join((f"{method} {path} HTTP/1.1", "host: aeond", *headers, "", "")).encode()


def answered(address: Path | tuple[str, int], sent: bytes) -> tuple[int, dict[str, str], str]:
    """Status, headers and content of the answer to these bytes."""
    family = socket.AF_UNIX if isinstance(address, Path) else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(SECONDS)
        connection.connect(str(address) if isinstance(address, Path) else address)
        connection.sendall(sent)
        received = b""
        with suppress(ConnectionResetError):  # a peer that has not read everything resets after its answer
            for part in iter(lambda: connection.recv(65_536), b""):
                received += part
    head, _, content = received.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return int(first.split()[1]), headers, content.decode()


def scraped(path: Path) -> Samples:
    """The samples that the daemon shows now."""
    status, headers, content = answered(path, request("/metrics", f"accept: {OPENMETRICS}"))
    assert status == 200, content
    assert headers["content-type"].startswith("application/openmetrics-text")
    return samples(content)
