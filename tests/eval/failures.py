"""Classes of failure, computed from the effects of a request alone."""

import re
from enum import StrEnum

from tests.eval.cases import SAYS_LACKING, Case, Effects

# Words that report a search without a result; English, as the answers of most cases are.
NOT_FOUND = r"(no|not|n't|cannot|can't|unable|could not|couldn't) .{0,40}(find|found|match|exist|file|record|result|access)"


class Failure(StrEnum):
    """The kind of failure of a case."""

    TIMEOUT = "timeout"
    ERROR = "error"
    ASKED = "asked needlessly"
    NOT_ASKED = "did not ask"
    UNWANTED = "unwanted change"
    NOT_DONE = "effect that did not happen"  # the answer comes as if it had, or says how one could do it
    WRONG_CHANGE = "wrong change"
    NOTHING_FOUND = "nothing found"
    WRONG_ANSWER = "wrong answer"


def failure_of(case: Case, effects: Effects, *, timed_out: bool = False, failed: bool = False) -> Failure:
    """The class of a case that was missed: the first that applies, in the order in which a person would name them."""
    if timed_out:
        return Failure.TIMEOUT
    if failed and not effects.asked:
        return Failure.ERROR
    if effects.asked and not case.lacks:
        return Failure.ASKED
    changed = {
        name
        for name in {*effects.files, *effects.files_before}
        if effects.files.get(name) != effects.files_before.get(name)
    }
    remembered = effects.memory != effects.memory_before
    if changed - {*case.files} or (remembered and not case.memory):
        return Failure.UNWANTED
    if case.lacks and not effects.asked:
        return Failure.NOT_ASKED
    undone = [
        name for name, pattern in case.files.items() if not _found(pattern, effects.files.get(name, ""))
    ]
    forgotten = [pattern for pattern in case.memory if not _found(pattern, effects.memory)]
    if undone or forgotten:
        tried = changed & {*undone} or (forgotten and remembered)
        return Failure.WRONG_CHANGE if tried else Failure.NOT_DONE
    if _found(NOT_FOUND, effects.answer) or _found(SAYS_LACKING, effects.answer.replace("?", "")):
        return Failure.NOTHING_FOUND
    return Failure.WRONG_ANSWER


def _found(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE | re.MULTILINE) is not None
