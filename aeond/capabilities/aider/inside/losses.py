"""What a rewritten file has lost: a small model that returns whole files leaves out what it was not asked about."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

_MODIFIERS: Final = (
    r"(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)\n]*\))?|unsafe|const|inline|virtual|override|local"
    r"|data|case)"
)
_DEFINITION: Final = re.compile(
    rf"^[ \t]*(?:{_MODIFIERS}[ \t]+)*"
    r"(?:(?:def|class|func|fn|fun|function\*?|sub|struct|enum|interface|trait|module)[ \t]+(?:\([^)\n]*\)[ \t]*|self\.)?(\w+)[ \t]*(?=[(:<\[{;]|$)"
    r"|(?:const|let|var)[ \t]+(\w+)[^=\n]*=[ \t]*(?:async\b[ \t]*)?(?:function\b|\w+[ \t]*=>|\([^)\n]*\)[^=\n]*=>))",
    re.MULTILINE,
)


def lost_names(before: Mapping[str, str], after: Mapping[str, str], task: str) -> frozenset[str]:
    """The names of functions and classes that files define less often after than before, but for those that the task has. Lines count that
    begin with a keyword for definitions, such as `def`, `class` or `func`."""
    return frozenset(_defined(before) - _defined(after)) - set(re.findall(r"\w+", task))


def _defined(texts: Mapping[str, str]) -> Counter[str]:
    found = (one for text in texts.values() for one in _DEFINITION.findall(text))
    return Counter(function or assigned for function, assigned in found)
