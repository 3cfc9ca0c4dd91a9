"""A hook of pytest: a test that is marked for an engine is in a file that the Makefile collects for engines."""

import re
from collections.abc import Iterable

import pytest

from tests.support.repository import ROOT

MARKS = ("model", "vllm")


def engine_pattern() -> re.Pattern[str]:
    """What the Makefile looks for in files, for the list of those with tests of an engine."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (pattern,) = re.findall(
        r"^ENGINE_TESTS = .*--include='test_\*\.py' '(.+)' tests ", makefile, re.MULTILINE
    )
    return re.compile(pattern)


# First: others deselect what is not to run, such as the tests of engines.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    files = {item.path for item in items if any(item.get_closest_marker(mark) for mark in MARKS)}
    pattern = engine_pattern()
    unlisted = [
        str(path)
        for path in sorted(files)
        if not (path.match("test_*.py") and pattern.search(path.read_text(encoding="utf-8")))
    ]
    if unlisted:
        raise pytest.UsageError(
            f"tests of an engine that ENGINE_TESTS of the Makefile does not find: {unlisted}"
        )
