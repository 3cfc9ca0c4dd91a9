"""The mechanisms beside the first choice of a small model: in which requests each acts, and an evaluation without some of them.

A request in which a mechanism did not act comes out the same without it, so that only the others need to be repeated.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

import pytest

from aeond.capabilities.tools.relevance import related_lines
from aeond.domain.tools import ToolSpec
from aeond.orchestration.context.file_search import FileSearch
from aeond.orchestration.decision import after_looks, decider, first_action, next_action, objections
from aeond.orchestration.decision.conversations import fitting, redirection, results_reply
from aeond.orchestration.decision.conversations.composing import Composer
from aeond.orchestration.decision.conversations.correction import Corrections
from aeond.orchestration.decision.conversations.fitting import FittingTools
from aeond.orchestration.decision.conversations.redirection import Redirection
from aeond.orchestration.decision.conversations.subject import Subject, Subjects
from aeond.orchestration.decision.first_action import FirstAction

_ACTED: ContextVar[set[str] | None] = ContextVar("acted", default=None)
_judged: Final[list[set[str]]] = []
"""Of all requests that are judged at the time: what acts in a thread has no context, and is noted for each of them."""


@dataclass(frozen=True)
class Mechanism:
    """The function `attribute` of `owner`, async unless it is `plain`; without the mechanism it returns `off`. It acted
    where it returned anything else. With a `tool` it is a mechanism of calls of that tool alone. `also` are further modules that call
    the function by a name of their own."""

    owner: Any
    attribute: str
    off: Any
    plain: bool = False
    tool: str = ""
    also: tuple[Any, ...] = ()

    def concerns(self, arguments: Sequence[Any]) -> bool:
        """Whether a call with these positional arguments is one of this mechanism."""
        return not self.tool or any(isinstance(one, ToolSpec) and one.name == self.tool for one in arguments)


MECHANISMS: Final = {
    "knowledge": Mechanism(after_looks, "general_reply", "", also=(first_action,)),
    "small talk": Mechanism(Subjects, "is_small_talk", False),
    "results": Mechanism(results_reply, "results_reply", ""),
    "fitting": Mechanism(FittingTools, "of", ""),
    "source code": Mechanism(fitting, "_programmer", None, plain=True),
    "intent": Mechanism(Subject, "may_not_ask", False, plain=True),
    "calculation": Mechanism(Redirection, "of_calculation", None, plain=True),
    "sure": Mechanism(Redirection, "of_sure", None),
    "first call": Mechanism(Redirection, "of_call", None),
    "first answer": Mechanism(Redirection, "of_text", None),
    "correction": Mechanism(Corrections, "of", None),
    "report": Mechanism(decider, "after_change", ""),
    "lines": Mechanism(related_lines, "rank", (), plain=True),
    "nearest": Mechanism(after_looks, "reading_of", None, plain=True, also=(first_action,)),
    "pages": Mechanism(FirstAction, "page_calls", ()),
    "named files": Mechanism(after_looks, "named_files_of", (), plain=True, also=(first_action,)),
    "folder": Mechanism(FirstAction, "folder_calls", ()),
    "new file": Mechanism(after_looks, "new_file_call", None),
    "words": Mechanism(FileSearch, "_words_of", ""),
    "undone": Mechanism(Redirection, "of_undone", None),
    "place": Mechanism(redirection, "place_of", ""),
    "part": Mechanism(next_action, "means_part", False),
    "changes": Mechanism(Composer, "complete", None, tool="edit_file"),
    "expressions": Mechanism(Composer, "complete", None, tool="calculator"),
    "facts": Mechanism(Composer, "complete", None, tool="remember"),
    "statements": Mechanism(Composer, "complete", None, tool="query_table"),
    "invention": Mechanism(objections, "is_invented", False, plain=True),
}
"""By name; the last four are conversations in which an argument of one tool is written."""


@contextmanager
def acting() -> Iterator[set[str]]:
    """Collects the names of the mechanisms that act in what is done meanwhile, tasks that it starts included."""
    names: set[str] = set()
    token = _ACTED.set(names)
    _judged.append(names)
    try:
        yield names
    finally:
        _judged[:] = [one for one in _judged if one is not names]
        _ACTED.reset(token)


@contextmanager
def without(names: Sequence[str]) -> Iterator[None]:
    """Switches the named mechanisms off, and has all others noted; KeyError for an unknown name."""
    unknown = set(names) - MECHANISMS.keys()
    if unknown:
        raise KeyError(", ".join(sorted(unknown)))
    with pytest.MonkeyPatch.context() as patch:
        for name, mechanism in MECHANISMS.items():
            replaced = _replaced(name, mechanism, off=name in names)
            for owner in (mechanism.owner, *mechanism.also):
                patch.setattr(owner, mechanism.attribute, replaced)
        yield


def _replaced(name: str, mechanism: Mechanism, *, off: bool) -> Callable[..., Any]:
    function = getattr(mechanism.owner, mechanism.attribute)

    @functools.wraps(function)
    async def awaited(*args: Any, **named: Any) -> Any:
        if off and mechanism.concerns(args):
            return mechanism.off
        result = await function(*args, **named)
        return _noted(name, mechanism, args, result)

    @functools.wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        return mechanism.off if off else _noted(name, mechanism, args, function(*args, **named))

    return called if mechanism.plain else awaited


def _noted(name: str, mechanism: Mechanism, arguments: Sequence[Any], result: Any) -> Any:
    if result != mechanism.off and mechanism.concerns(arguments):
        acted = _ACTED.get()
        for names in tuple(_judged) if acted is None else (acted,):
            names.add(name)
    return result
