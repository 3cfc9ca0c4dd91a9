"""What a rewritten file has lost: a small model that returns whole files leaves out what it was not asked about."""

import re
from collections.abc import Mapping
from typing import Final

_DEFINITION: Final = re.compile(
    r"\b(?:def|class|func|fn|fun|function|sub|struct|enum|interface|trait|type|module|namespace)\s+(?:\([^)\n]*\)\s*)?(\w+)"
)


def lost_names(before: Mapping[str, str], after: Mapping[str, str], task: str) -> frozenset[str]:
    """The names that files define before and none defines after, but for those that the task has."""
    return _defined(before) - _defined(after) - set(re.findall(r"\w+", task))


def _defined(texts: Mapping[str, str]) -> frozenset[str]:
    return frozenset(name for text in texts.values() for name in _DEFINITION.findall(text))
