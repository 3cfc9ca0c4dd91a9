"""The state with which a call continues that waited for a person."""

import json

import pytest

from aeond.facades.mcp.following import resumed_run


def test_a_state_names_its_run_and_what_was_asked() -> None:
    """A state that the server gave out is read back."""
    asked = json.dumps({"run": "r2", "question": "q"})
    assert resumed_run(json.dumps({"root": "r1", "asked": asked})) == ("r1", asked)


@pytest.mark.parametrize(
    "state",
    ["", "nonsense", "[]", '{"root": "r1"}', '{"root": 1, "asked": "{}"}', '{"root": "r1", "asked": "[]"}'],
)
def test_a_state_of_another_form_is_refused(state: str) -> None:
    """A state that is not one of the server's is a ValueError, whatever JSON it is."""
    with pytest.raises(ValueError, match=r".+"):
        resumed_run(state)
