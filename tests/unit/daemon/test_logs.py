"""Structured logs."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from aeond.daemon.logs import LogFormat, LogLevel, start_logging


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
    """What one message about a run looks like."""
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
def test_journal_lines_carry_their_priority() -> None:
    """Each line has its priority for journald, those of a trace included."""
    assert said(LogFormat.JOURNAL) == "<6>aeond.test: it happened run_id=r1 step_id=s1\n"
    lines = said(LogFormat.JOURNAL, broken=True).splitlines()
    assert len(lines) > 3
    assert all(line.startswith("<3>") for line in lines)


@pytest.mark.usefixtures("root")
def test_a_trace_stays_in_its_json_line() -> None:
    """A trace of many lines is a field of one."""
    (line,) = said(LogFormat.JSON, broken=True).splitlines()
    assert json.loads(line)["trace"].endswith("'a bug'")


@pytest.mark.usefixtures("root")
def test_the_form_follows_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless told otherwise, a pipe gets JSON, journald its own form."""
    monkeypatch.delenv("JOURNAL_STREAM", raising=False)
    assert said(LogFormat.AUTO).startswith("{")
    monkeypatch.setenv("JOURNAL_STREAM", "8:123")
    assert said(LogFormat.AUTO).startswith("<6>")


@pytest.mark.usefixtures("root")
def test_what_is_less_important_is_not_said() -> None:
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
