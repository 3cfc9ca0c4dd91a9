"""The data of a decision."""

from dataclasses import replace

import pytest

from aeond.domain.tools import Composition, Effect, ToolSpec
from aeond.domain.values import JsonValue
from aeond.orchestration.decision.interfaces import acts_here, looks_here

PLAIN = ToolSpec("lamp", "Does something.", {"type": "object"}, {}, Effect.READ)
INFORMED: list[dict[str, object]] = [
    {"candidates": ("path",)},
    {"composition": Composition(("text",), "", ())},
    {"for_existing": "edit_file"},
    {"for_part": "edit_file"},
    {"new_name": "path", "new_text": "text"},
    {"shows_facts": True},
    {"shows_names": True},
]


@pytest.mark.parametrize("declared", INFORMED, ids=lambda declared: next(iter(declared)))
@pytest.mark.parametrize(
    ("effect", "acts", "looks"),
    [
        (Effect.PURE, False, True),
        (Effect.READ, False, True),
        (Effect.WRITE_CONTAINED, True, False),
        (Effect.WRITE_OUTSIDE, True, False),
        (Effect.MEMORY, True, False),
        (Effect.NET, False, False),
        (Effect.EXEC_HOST, False, False),
    ],
)
def test_an_informed_tool_acts_or_looks_here_by_its_effect(
    declared: dict[str, JsonValue], effect: Effect, acts: bool, looks: bool
) -> None:
    """A tool that declares what it is about acts here or looks here, by its effect; one that does not is about anything."""
    spec = replace(PLAIN, effect=effect)
    assert (spec.is_informed, acts_here(spec), looks_here(spec)) == (False, False, False)
    spec = replace(spec, **declared)  # type: ignore[arg-type]  # names and values of fields
    assert (spec.is_informed, acts_here(spec), looks_here(spec)) == (True, acts, looks)
    theirs = replace(spec, source="tools.folders")
    assert (theirs.is_informed, acts_here(theirs), looks_here(theirs)) == (False, False, False)


def test_a_tool_that_asks_the_user_does_not_look_here() -> None:
    """A tool that asks the user is informed and is nevertheless not one of those that look into what exists here."""
    spec = replace(PLAIN, asks_user=True)
    assert (spec.is_informed, looks_here(spec)) == (True, False)
