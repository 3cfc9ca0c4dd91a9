"""Rules that no file can weaken: what they match is at least asked, whatever allows it."""

from collections.abc import Callable
from typing import Final

from aeond.capabilities.policy.protected_names import protected_name
from aeond.domain.policy import Access, CallFacts, Effect, TargetKind
from aeond.frozen import frozen
from aeond.plain_files import is_own_code

_CHANGES: Final = (Access.WRITE, Access.DELETE)
_HARMLESS: Final = frozenset({Effect.PURE, Effect.READ})
_CONTAINED: Final = frozenset({*_HARMLESS, Effect.WRITE_CONTAINED, Effect.EXEC_CONTAINED})


@frozen
class Floor:
    """`found` gives the reason for asking about a call; "" if the floor does not concern it."""

    name: str
    summary: str
    found: Callable[[CallFacts], str]


def _protected(facts: CallFacts) -> str:
    for target in facts.targets:
        if (
            target.kind is TargetKind.FILE
            and target.access in _CHANGES
            and (
                name := protected_name(target.name)
                or ("the code of aeond" if is_own_code(target.name) else "")
            )
        ):
            return f"{name} can run code or holds keys"
    return ""


def _undeclared(facts: CallFacts) -> str:
    return "the tool does not declare its effect" if facts.effect is Effect.UNDECLARED else ""


def _tainted_effect(facts: CallFacts) -> str:
    if not facts.taint or facts.effect in _CONTAINED:
        return ""
    return f"the run has read untrusted data, and the effect {facts.effect} reaches beyond its workspace"


def _tainted_change(facts: CallFacts) -> str:
    if not facts.taint or facts.effect in _HARMLESS:
        return ""
    for target in facts.targets:
        if target.kind is TargetKind.FILE and target.access in _CHANGES and target.exists is not False:
            done = "delete" if target.access is Access.DELETE else "change"
            return f"the run has read untrusted data and would {done} an existing file"
        if target.kind is TargetKind.MEMORY and target.access in _CHANGES:
            return "the run has read untrusted data and would change the memory"
    return (
        ""
        if facts.targets_known
        else "the run has read untrusted data and the tool does not report what it changes"
    )


FLOORS: Final = (
    Floor("builtin.protected-name", "changes of files that run code or hold keys", _protected),
    Floor("builtin.undeclared", "tools that do not declare their effect", _undeclared),
    Floor(
        "builtin.tainted-effect", "effects beyond the workspace after reading untrusted data", _tainted_effect
    ),
    Floor(
        "builtin.tainted-change",
        "changes of existing files and of the memory, and unknown changes, after reading untrusted data",
        _tainted_change,
    ),
)
