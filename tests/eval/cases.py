"""Requests of everyday, and what must be true after them."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

HERE: Final = Path(__file__).parent
# What says that something is missing; that a thing cannot be done for other reasons does not.
SAYS_LACKING: Final = (
    r"\?|(provide|tell me|give me|specify|enter|share|send)\b|missing|need to know|(need|want) "
    r"(your|the|more)|(do not|don't|does not|doesn't|did not|didn't) (know|have|exist|remember|contain|say|tell|"
    r"give|provide|specify|mention|find)|not (know|known|given|found|provided|remembered|there|exist|specified|"
    r"mentioned|be found|in (my |the )?memory)|no (such|file|information|record|entry)|nothing|unknown|never told"
)


class Case(BaseModel):
    """A request, where it is made, and by which patterns it is known whether it was fulfilled.

    Nothing else may have changed: no file but those in `files`, nothing remembered where `memory` is empty.
    A request that lacks something (`lacks`: how one recognises what) is fulfilled in two ways: by asking for
    it, getting `tells` and fulfilling the rest; or by an answer that says what is missing.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    says: str
    group: str
    given: Mapping[str, str] = {}  # files that are there besides the usual ones
    remembered: Mapping[str, str | int] = {}
    answer: tuple[str, ...] = ()
    never: tuple[str, ...] = ()  # in the answer
    files: Mapping[str, str] = {}
    memory: tuple[str, ...] = ()
    lacks: str = ""
    tells: str = ""
    invents: tuple[str, ...] = ()  # in an answer that should say what is missing
    right: str = ""  # an answer that is right
    wrong: tuple[str, ...] = ()  # answers that are not


@dataclass(frozen=True, slots=True)
class Effects:
    """The wanted state after a request. `memory` is what is remembered, as JSON text; of files the text."""

    answer: str = ""
    notes: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    memory: str = ""
    memory_before: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    files_before: Mapping[str, str] = field(default_factory=dict)


def read_cases(name: str) -> tuple[Case, ...]:
    return tuple(
        Case.model_validate(case) for case in tomllib.loads((HERE / name).read_text("utf-8"))["case"]
    )


def missed(case: Case, found: Effects) -> tuple[str, ...]:
    """The differences from the wanted state; none if the request was fulfilled."""
    if found.asked and not case.lacks:
        return (f"asked {found.asked[0]!r}, though nothing is missing",)
    if case.lacks and not found.asked:
        return (*_not_said(case, found), *_unasked(Case(says=case.says, group=case.group), found))
    wrong = [f"asked {asked!r}" for asked in found.asked if not _found(case.lacks, asked)]
    wrong += [f"asked again: {asked!r}" for asked in found.asked[1:]]
    return (*wrong, *_lacking(case, found), *_unasked(case, found))


def _not_said(case: Case, found: Effects) -> Sequence[str]:
    said = " ".join((found.answer, *found.notes)).replace(case.says, "")  # to say it back asks nothing
    sentences = re.findall(r"[^.!?\n]+(?:\.\w+[^.!?\n]*)*[.!?]?", said)
    if not any(_found(SAYS_LACKING, one) and _found(case.lacks, one) for one in sentences):
        return (f"neither asked nor said that it lacks {case.lacks}",)
    return [f"the answer holds {p}" for p in (*case.invents, *case.never) if _found(p, found.answer)]


def _lacking(case: Case, found: Effects) -> Sequence[str]:
    lacks = [f"the answer lacks {p}" for p in case.answer if not _found(p, found.answer)]
    lacks += [f"the answer holds {p}" for p in case.never if _found(p, found.answer)]
    lacks += [f"remembered lacks {p}" for p in case.memory if not _found(p, found.memory)]
    for name, pattern in case.files.items():
        if not _found(pattern, found.files.get(name, "")):
            lacks.append(f"{name} lacks {pattern}")
    return lacks


def _unasked(case: Case, found: Effects) -> Sequence[str]:
    """Changes that the request did not ask for."""
    names = sorted({*found.files, *found.files_before} - {*case.files})
    changed = [name for name in names if found.files.get(name) != found.files_before.get(name)]
    wrong = [f"changed {name}" for name in changed]
    if not case.memory and found.memory != found.memory_before:
        wrong.append(f"remembers {found.memory}")
    return wrong


def _found(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE | re.MULTILINE) is not None
