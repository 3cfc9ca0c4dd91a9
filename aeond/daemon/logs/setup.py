"""Structured logs: one record per line, as text for people or as JSON, or one record with fields for
journald.

Records about a run have the fields `run_id`, `event_seq` and `step_id`, and recurring records have a `kind`.
Requests, prompts, arguments and outputs are content: no message at level info or above contains them.
"""

import logging
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final, TextIO

from aeond.daemon.logs.journald import SOCKET, JournaldSocket
from aeond.daemon.logs.message_ids import MESSAGE_IDS
from aeond.daemon.logs.printable import json_line, printable

_PLAIN: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_PRIORITY: Final = {
    logging.DEBUG: 7,
    logging.INFO: 6,
    logging.WARNING: 4,
    logging.ERROR: 3,
    logging.CRITICAL: 2,
}


# Fields that are omitted from text lines.
_FOR_PROGRAMS: Final = frozenset({"kind", "event_seq"})


class LogFormat(StrEnum):
    """The format of records."""

    AUTO = "auto"  # text on a terminal, journal under journald, else json
    TEXT = "text"
    JOURNAL = "journal"  # journald's own protocol, with fields
    JSON = "json"


class LogLevel(StrEnum):
    """The minimum level of records."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


_LEVELS: Final = {level: logging.getLevelNamesMapping()[level.upper()] for level in LogLevel}


def start_logging(level: LogLevel, form: LogFormat, stream: TextIO, journald: Path = SOCKET) -> None:
    """Sends the log records of this process to the stream or to journald: our own from the given level, those
    of libraries from warnings, because lower levels may contain content. May be called again.
    """
    form = _chosen(form, stream, journald)
    root = logging.getLogger()
    for before in root.handlers:
        if isinstance(before, JournaldRecords):
            before.close()
    root.handlers[:] = [JournaldRecords(journald) if form is LogFormat.JOURNAL else _lines(form, stream)]
    root.setLevel(max(logging.WARNING, _LEVELS[level]))
    logging.getLogger("aeond").setLevel(_LEVELS[level])


def _chosen(form: LogFormat, stream: TextIO, journald: Path) -> LogFormat:
    """The format that auto means here, and JSON if journald was requested but is not listening."""
    if form is LogFormat.AUTO and stream.isatty():
        return LogFormat.TEXT
    if form in {LogFormat.AUTO, LogFormat.JOURNAL}:
        wanted = form is LogFormat.JOURNAL or _is_journald_s(stream)
        return LogFormat.JOURNAL if wanted and journald.is_socket() else LogFormat.JSON
    return form


def _is_journald_s(stream: TextIO) -> bool:
    """Whether systemd connected this stream to journald; see JOURNAL_STREAM in systemd.exec(5)."""
    try:
        found = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return False
    return os.environ.get("JOURNAL_STREAM", "") == f"{found.st_dev}:{found.st_ino}"


def _lines(form: LogFormat, stream: TextIO) -> logging.Handler:
    lines = logging.StreamHandler(stream)
    lines.setFormatter(JsonLines() if form is LogFormat.JSON else TextLines())
    return lines


def _fields(record: logging.LogRecord) -> dict[str, object]:
    """The values given as `extra`."""
    return {name: value for name, value in vars(record).items() if name not in _PLAIN}


def _time(record: logging.LogRecord) -> str:
    return (
        datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )


class JsonLines(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json_line(line)


class TextLines(logging.Formatter):
    """Time, level, message, fields."""

    def format(self, record: logging.LogRecord) -> str:
        # Indented: a line break in a message must not look like the next record.
        text = printable(_formatted(self, record)).replace("\n", "\n    ")
        return f"{_time(record)} {record.levelname.lower():7} {text}"


class JournaldRecords(logging.Handler):
    """One journald record each, with every field under its name in capitals."""

    def __init__(self, socket: Path) -> None:
        super().__init__()
        self._journald = JournaldSocket(socket)

    def emit(self, record: logging.LogRecord) -> None:
        fields = _fields(record)
        trace = f"\n{TextLines().formatException(record.exc_info)}" if record.exc_info else ""
        record_fields = {
            "MESSAGE": printable(_with_fields(record.getMessage(), fields) + trace),
            "PRIORITY": str(_PRIORITY.get(record.levelno, 6)),
            "SYSLOG_IDENTIFIER": "aeond",
            "LOGGER": record.name,
        }
        message_id = MESSAGE_IDS.get(str(fields.get("kind")))
        if message_id is not None:
            record_fields["MESSAGE_ID"] = message_id
        self._journald.send(
            record_fields | {name.upper(): printable(str(value)) for name, value in fields.items()}
        )

    def close(self) -> None:
        self._journald.close()
        super().close()


def _with_fields(message: str, fields: Mapping[str, object]) -> str:
    """The message with the fields that are needed to understand it."""
    shown = {name: value for name, value in fields.items() if name not in _FOR_PROGRAMS}
    return message + "".join(f" {name}={value}" for name, value in shown.items())


def _formatted(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    trace = f"\n{formatter.formatException(record.exc_info)}" if record.exc_info else ""
    return f"{record.name}: {_with_fields(record.getMessage(), _fields(record))}{trace}"
