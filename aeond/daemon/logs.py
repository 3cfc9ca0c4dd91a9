"""Structured logs: one record a line, for people at a terminal, for journald, or as JSON.

What is said about a run carries `run_id` and `step_id` as fields. Requests, prompts, arguments and
outputs are content: no message holds them at level info or above.
"""

import json
import logging
import os
import sys
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, TextIO

_PLAIN: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_PRIORITY: Final = {
    logging.DEBUG: 7,
    logging.INFO: 6,
    logging.WARNING: 4,
    logging.ERROR: 3,
    logging.CRITICAL: 2,
}


class LogFormat(StrEnum):
    """How a line looks."""

    AUTO = "auto"  # text at a terminal, journal under journald, else json
    TEXT = "text"
    JOURNAL = "journal"  # text with the priority that journald reads, without the time that it adds
    JSON = "json"


class LogLevel(StrEnum):
    """The least important thing that is said."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


_LEVELS: Final = {level: logging.getLevelNamesMapping()[level.upper()] for level in LogLevel}


def start_logging(level: LogLevel, form: LogFormat, stream: TextIO) -> None:
    """Sends what is logged in this process to the stream: of our own what is important enough, of libraries
    warnings at least, for their lesser words may hold content."""
    lines = logging.StreamHandler(stream)
    lines.setFormatter(_formatter(form, stream))
    root = logging.getLogger()
    root.handlers[:] = [lines]
    root.setLevel(max(logging.WARNING, _LEVELS[level]))
    logging.getLogger("aeond").setLevel(_LEVELS[level])


def _formatter(form: LogFormat, stream: TextIO) -> logging.Formatter:
    if form is LogFormat.AUTO:
        if stream.isatty():
            form = LogFormat.TEXT
        else:
            form = LogFormat.JOURNAL if "JOURNAL_STREAM" in os.environ else LogFormat.JSON
    match form:
        case LogFormat.JSON:
            return JsonLines()
        case LogFormat.JOURNAL:
            return JournalLines()
        case _:
            return TextLines()


def _fields(record: logging.LogRecord) -> dict[str, object]:
    """What was given as `extra`."""
    return {name: value for name, value in vars(record).items() if name not in _PLAIN}


def _time(record: logging.LogRecord) -> str:
    return (
        datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )


class JsonLines(logging.Formatter):
    """One JSON object a line."""

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
        return json.dumps(line, ensure_ascii=False, default=str)


class TextLines(logging.Formatter):
    """Time, level, message, fields."""

    def format(self, record: logging.LogRecord) -> str:
        return f"{_time(record)} {record.levelname.lower():7} {_told(self, record)}"


class JournalLines(logging.Formatter):
    """Each line with its priority as journald wants it."""

    def format(self, record: logging.LogRecord) -> str:
        priority = f"<{_PRIORITY.get(record.levelno, 6)}>"
        return "\n".join(priority + line for line in _told(self, record).split("\n"))


def _told(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    fields = "".join(f" {name}={value}" for name, value in _fields(record).items())
    trace = f"\n{formatter.formatException(record.exc_info)}" if record.exc_info else ""
    return f"{record.name}: {record.getMessage()}{fields}{trace}"


def standard_error() -> TextIO:
    """Where logs go: what a terminal, systemd and a pipe all understand."""
    return sys.stderr
