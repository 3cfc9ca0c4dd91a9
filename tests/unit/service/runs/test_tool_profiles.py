"""Named lists of tools."""

import pytest

from aeond.domain.runs.run import RunRequest
from aeond.errors import InvalidInputError
from aeond.service.runs.tool_profiles import ToolProfiles

PROFILES = ToolProfiles({"look": ("read_*", "list_dir"), "none": ()})


def test_a_request_gets_the_tools_of_its_profile() -> None:
    """The patterns become part of the request, so that the run keeps them."""
    assert PROFILES.applied(RunRequest("x", tool_profile="look")).tools == ("read_*", "list_dir")
    assert PROFILES.applied(RunRequest("x", tool_profile="none")).tools == ()
    own = RunRequest("x", tools=("a*",))
    assert PROFILES.applied(own) is own


@pytest.mark.parametrize(
    ("request_of", "reason"),
    [
        (RunRequest("x", tool_profile="lok"), "TOOL_PROFILE_UNKNOWN"),
        (RunRequest("x", tool_profile="look", tools=("*",)), "TOOLS_AND_PROFILE"),
    ],
)
def test_a_profile_that_cannot_be_used_is_an_error(request_of: RunRequest, reason: str) -> None:
    """An unknown profile, or one beside an own list, is refused with a reason."""
    with pytest.raises(InvalidInputError) as raised:
        PROFILES.applied(request_of)
    assert (raised.value.reason, raised.value.field) == (reason, "request.tool_profile")


def test_new_profiles_apply_to_new_requests() -> None:
    """A reload replaces the profiles."""
    profiles = ToolProfiles({})
    profiles.adopt({"new": ("a",)})
    assert profiles.applied(RunRequest("x", tool_profile="new")).tools == ("a",)
