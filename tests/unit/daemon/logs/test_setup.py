"""Structured logs."""

import io
import json
import logging
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from aeond.daemon.logs.message_ids import MESSAGE_IDS
from aeond.daemon.logs.setup import LogFormat, LogLevel, start_logging


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger, given back as it was."""
    logger, ours = logging.getLogger(), logging.getLogger("aeond")
    before = logger.handlers[:], logger.level, ours.level
    yield logger
    logger.handlers[:], level, our_level = before
    logger.setLevel(level)
    ours.setLevel(our_level)


def said(form: LogFormat, level: LogLevel = LogLevel.INFO, *, broken: bool = False) -> str:
    """The formatted record of one message about a run."""
    stream = io.StringIO()
    start_logging(level, form, stream)
    log = logging.getLogger("aeond.test")
    log.debug("too small to say")
    if broken:
        try:
            int("a bug")
        except ValueError:
            log.exception("it broke", extra={"run_id": "r1"})
    else:
        log.info("it %s", "happened", extra={"run_id": "r1", "step_id": "s1"})
    return stream.getvalue()


@pytest.mark.usefixtures("root")
def test_json_lines_hold_the_fields() -> None:
    """A program reads message, level and the run's fields from one object a line."""
    line = json.loads(said(LogFormat.JSON))
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "info",
        "logger": "aeond.test",
        "message": "it happened",
        "run_id": "r1",
        "step_id": "s1",
    }


@pytest.mark.usefixtures("root")
def test_text_lines_are_for_people() -> None:
    """A person reads time, level, message and fields in one line."""
    assert said(LogFormat.TEXT).endswith("Z info    aeond.test: it happened run_id=r1 step_id=s1\n")


@pytest.mark.usefixtures("root")
def test_records_of_journald_carry_their_fields(journald: socket.socket) -> None:
    """Words, priority, message id and every field of a record arrive under their own names."""
    start_logging(LogLevel.INFO, LogFormat.JOURNAL, io.StringIO(), Path(journald.getsockname()))
    log = logging.getLogger("aeond.test")
    log.info("run ended", extra={"kind": "run_ended", "run_id": "r1", "event_seq": 9})
    log.warning("it is %s", "late")
    assert journald.recv(10_000).decode().splitlines() == [
        "MESSAGE=run ended run_id=r1",
        "PRIORITY=6",
        "SYSLOG_IDENTIFIER=aeond",
        "LOGGER=aeond.test",
        f"MESSAGE_ID={MESSAGE_IDS['run_ended']}",
        "KIND=run_ended",
        "RUN_ID=r1",
        "EVENT_SEQ=9",
    ]
    assert journald.recv(10_000).startswith(b"MESSAGE=it is late\nPRIORITY=4\n")
    start_logging(LogLevel.INFO, LogFormat.TEXT, io.StringIO())  # which closes the socket


@pytest.mark.usefixtures("root")
def test_a_trace_is_part_of_its_record(journald: socket.socket) -> None:
    """A trace of many lines is in the message of one record of journald."""
    start_logging(LogLevel.INFO, LogFormat.JOURNAL, io.StringIO(), Path(journald.getsockname()))
    try:
        int("a bug")
    except ValueError:
        logging.getLogger("aeond.test").exception("it broke")
    record = journald.recv(10_000)
    assert record.startswith(b"MESSAGE\n")
    assert b"it broke\nTraceback" in record
    assert b"PRIORITY=3\n" in record
    start_logging(LogLevel.INFO, LogFormat.TEXT, io.StringIO())


@pytest.mark.usefixtures("root")
def test_a_trace_stays_in_its_json_line() -> None:
    """A trace of many lines is a field of one."""
    (line,) = said(LogFormat.JSON, broken=True).splitlines()
    assert json.loads(line)["trace"].endswith("'a bug'")


@pytest.mark.usefixtures("root")
def test_the_form_follows_the_place(
    monkeypatch: pytest.MonkeyPatch, journald: socket.socket, tmp_path: Path
) -> None:
    """By default, journald receives records if systemd connected the stream to it, and a pipe receives
    JSON.
    """
    monkeypatch.delenv("JOURNAL_STREAM", raising=False)
    assert said(LogFormat.AUTO).startswith("{")
    with (tmp_path / "log").open("w+", encoding="utf-8") as stream:
        found = os.fstat(stream.fileno())
        monkeypatch.setenv("JOURNAL_STREAM", f"{found.st_dev}:{found.st_ino}")
        start_logging(LogLevel.INFO, LogFormat.AUTO, stream, Path(journald.getsockname()))
        logging.getLogger("aeond.test").info("hello")
        assert journald.recv(10_000).startswith(b"MESSAGE=hello\n")
        monkeypatch.setenv("JOURNAL_STREAM", "8:123")
        start_logging(LogLevel.INFO, LogFormat.AUTO, stream, Path(journald.getsockname()))
        logging.getLogger("aeond.test").info("hello")
        assert Path(stream.name).read_text(encoding="utf-8").startswith("{")


@pytest.mark.usefixtures("root")
def test_where_no_journald_listens_lines_are_json(tmp_path: Path) -> None:
    """Asked for records where there is no journald, the log is still one that programs read."""
    stream = io.StringIO()
    start_logging(LogLevel.INFO, LogFormat.JOURNAL, stream, tmp_path / "nothing")
    logging.getLogger("aeond.test").info("hello")
    assert json.loads(stream.getvalue())["message"] == "hello"


@pytest.mark.usefixtures("root")
def test_records_below_the_level_are_hidden() -> None:
    """A level hides what lies below it."""
    assert said(LogFormat.TEXT, LogLevel.WARNING) == ""
    assert "too small" in said(LogFormat.TEXT, LogLevel.DEBUG)


@pytest.mark.usefixtures("root")
def test_libraries_say_what_is_wrong_and_nothing_else() -> None:
    """Even at level debug a library's small talk, which may hold content, stays out of the log."""
    stream = io.StringIO()
    start_logging(LogLevel.DEBUG, LogFormat.TEXT, stream)
    logging.getLogger("some.library").info("a prompt")
    logging.getLogger("some.library").warning("something broke")
    assert "a prompt" not in stream.getvalue()
    assert "something broke" in stream.getvalue()
