"""docs/tutorial.md, typed word by word by an ordinary user."""

import re

import pytest

from tests.support.newcomer import newcomer
from tests.support.stages import planned
from tests.support.tutorial import TUTORIAL, blocks

STEPS = {
    "What is 17.5": {"tool": "calculator", "arguments": {"expression": "17.5 / 100 * 2400"}},
    "disk space is free": {"tool": "free_space", "arguments": {"folder": "/"}},
}
SCRIPT = {
    "rules": [
        {"contains": "reply only: @tools", "text": "@tools"},
        *(planned(words, step) for words, step in STEPS.items()),
        {"pattern": r'"free_gigabytes": ([\d.]+)', "text": r"\1 GB are free.", "expand": True},
        {"text": "17.5% of 2400 is 420."},
    ]
}


@pytest.mark.slow
def test_a_newcomer_who_follows_the_tutorial_succeeds() -> None:
    """Every command before the installation succeeds, prints what the page shows, and leads to an answer."""
    printed = [""]
    with newcomer(SCRIPT) as (first, second):
        for block in blocks(TUTORIAL):
            match block.language, block.place:
                case "sh", "terminal-1":
                    first.type(block.text)
                case "sh", "terminal-2":
                    printed.append(second.type(block.text))
                case "text", "":
                    assert printed[-1] == block.text, "not what the page shows"
                case "console", _:
                    pass  # a dialogue, which tests/acceptance/test_approval_transcript.py has in its terminal
                case _:
                    assert block.place in {"installation", "service", "removal"}
    session = "".join(printed)
    assert '{"result": 420}' in session
    assert re.search(r"^[\d.]+ GB are free\.$", session, re.MULTILINE)
    assert re.search(r"^s1 succeeded \{'free_gigabytes': [\d.]+\}$", session, re.MULTILINE)
