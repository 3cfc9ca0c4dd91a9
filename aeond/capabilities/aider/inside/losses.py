"""What a rewritten file has lost: a small model that returns whole files leaves out what it was not asked about."""

import re
from collections.abc import Mapping
from typing import Final

_MODIFIERS: Final = r"(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)\n]*\))?|unsafe|inline|virtual|override)"
_DEFINITION: Final = re.compile(
    rf"^[ \t]*(?:{_MODIFIERS}[ \t]+)*"
    r"(?:(?:def|class|func|fn|fun|function\*?|sub|struct|enum|interface|trait|module|type)[ \t]+(?:\([^)\n]*\)[ \t]*)?(\w+)"
    r"|(?:const|let|var)[ \t]+(\w+)[ \t]*=[ \t]*(?:async[ \t]*)?(?:function\b|\())",
    re.MULTILINE,
)


def lost_names(before: Mapping[str, str], after: Mapping[str, str], task: str) -> frozenset[str]:
    """The names of functions and classes that files define before and none defines after, but for those that the task has. Lines count that
    begin with a definition as most languages write it."""
    return _defined(before) - _defined(after) - set(re.findall(r"\w+", task))


def _defined(texts: Mapping[str, str]) -> frozenset[str]:
    return frozenset(
        name for text in texts.values() for found in _DEFINITION.findall(text) for name in found if name
    )
