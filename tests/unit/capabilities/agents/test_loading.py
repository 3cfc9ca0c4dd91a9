"""Agents of users: files, packages, and the errors of both."""

import sys
from pathlib import Path

import pytest

from aeond.capabilities.agents.loading import load_agents
from aeond.errors import InvalidInputError
from tests.support.agents import COUNTING_AGENT


def written(path: Path, source: str) -> Path:
    path.write_text(source, encoding="utf-8")
    path.chmod(0o644)
    return path


def package(folder: Path, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package whose entry point `counting` is this target in its module."""
    written(folder / "counting_package.py", COUNTING_AGENT)
    (folder / "counting-1.0.dist-info").mkdir()
    written(folder / "counting-1.0.dist-info" / "METADATA", "Name: counting\nVersion: 1.0\n")
    points = f"[aeond.agents]\ncounting = counting_package:{target}\n"
    written(folder / "counting-1.0.dist-info" / "entry_points.txt", points)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "counting_package", raising=False)


def test_the_reader_is_included() -> None:
    """Without any configuration there is `reader`."""
    assert list(load_agents()) == ["reader"]


def test_a_file_adds_agents(tmp_path: Path) -> None:
    """The agents of a file are registered under their names."""
    assert list(load_agents([written(tmp_path / "a.py", COUNTING_AGENT)])) == ["reader", "counting"]


@pytest.mark.parametrize(
    ("source", "reason", "why"),
    [
        ("AGENTS = []", "AGENT_FILE_EMPTY", "AGENTS = \\[your_agent\\]"),
        ("x = 1\n1 / 0", "AGENT_FILE_BROKEN", "line 2: ZeroDivisionError"),
        ("AGENTS = [7]", "AGENT_FILE_BROKEN", "AGENTS\\[0\\] is not an agent"),
        (COUNTING_AGENT.replace("counting", "Big Name"), "AGENT_FILE_BROKEN", "not an agent"),
        (COUNTING_AGENT.replace("counting", "reader"), "AGENT_DUPLICATE", "'reader' exists already"),
        (COUNTING_AGENT.replace("counting", "llm"), "AGENT_DUPLICATE", "'llm' exists already"),
    ],
)
def test_a_broken_file_is_refused(tmp_path: Path, source: str, reason: str, why: str) -> None:
    """The error names the file, the problem and its place."""
    path = written(tmp_path / "a.py", source)
    with pytest.raises(InvalidInputError, match=why) as refused:
        load_agents([path])
    assert (refused.value.reason, refused.value.field) == (reason, "agents.files")
    assert str(path) in refused.value.message


def test_a_missing_or_unsafe_file_is_refused(tmp_path: Path) -> None:
    """A file that is not there, or that others can change, is not executed."""
    with pytest.raises(InvalidInputError) as refused:
        load_agents([tmp_path / "none.py"])
    assert refused.value.reason == "AGENT_FILE_MISSING"
    unsafe = written(tmp_path / "a.py", COUNTING_AGENT)
    unsafe.chmod(0o666)
    with pytest.raises(InvalidInputError) as refused:
        load_agents([unsafe])
    assert refused.value.reason == "AGENT_FILE_UNSAFE"


def test_an_installed_package_adds_an_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point of the group is loaded if the configuration names it, and only then."""
    package(tmp_path, "AGENT", monkeypatch)
    assert list(load_agents()) == ["reader"]
    assert list(load_agents(packaged=["counting"])) == ["reader", "counting"]


@pytest.mark.parametrize(
    ("target", "name", "reason"),
    [
        ("AGENT", "other", "AGENT_UNKNOWN"),
        ("MISSING", "counting", "AGENT_BROKEN"),
        ("Counting", "counting", "AGENT_BROKEN"),
    ],
)
def test_a_broken_package_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, name: str, reason: str
) -> None:
    """An entry point that does not exist, cannot be loaded or is no agent is an error with its name."""
    package(tmp_path, target, monkeypatch)
    with pytest.raises(InvalidInputError, match=name) as refused:
        load_agents(packaged=[name])
    assert (refused.value.reason, refused.value.field) == (reason, "agents.packaged")
