import pytest

from aeond.api.v1 import models_pb2, parts_pb2
from aeond.domain.llm import Priority
from aeond.domain.runs.run import RunState
from aeond.errors import InvalidInputError
from aeond.server.wire.enums import Names, number_by_name
from aeond.server.wire.requests import PRIORITIES, RUN_STATES


def test_values_are_found_by_the_name_in_the_domain() -> None:
    """A wire value has the name of the domain after the prefix of its enum, and UNSPECIFIED has none."""
    numbers = number_by_name(parts_pb2.RunState.DESCRIPTOR)
    assert numbers["AWAITING_INPUT"] == parts_pb2.RUN_STATE_AWAITING_INPUT
    assert "UNSPECIFIED" not in numbers


@pytest.mark.parametrize("number", [0, 99, -1])
def test_a_number_without_a_name_is_refused(number: int) -> None:
    """UNSPECIFIED and numbers of a newer contract are refused where a value is needed."""
    with pytest.raises(InvalidInputError) as raised:
        RUN_STATES.domain(number, "states[0]")
    assert (raised.value.reason, raised.value.field) == ("UNKNOWN_VALUE", "states[0]")
    assert "RUN_STATE_SUCCEEDED" in raised.value.message


def test_unspecified_may_mean_a_default() -> None:
    """Where a default is documented, UNSPECIFIED is it and unknown numbers are still refused."""
    default = Priority.INTERACTIVE
    assert PRIORITIES.domain_or(models_pb2.PRIORITY_UNSPECIFIED, "f", default) is default
    assert PRIORITIES.domain_or(models_pb2.PRIORITY_BACKGROUND, "f", default) is Priority.BACKGROUND
    with pytest.raises(InvalidInputError):
        PRIORITIES.domain_or(7, "f", default)


def test_a_member_that_the_contract_lacks_is_seen_on_import() -> None:
    """An enum that has outgrown its contract cannot be loaded, let alone received."""
    with pytest.raises(KeyError, match="PENDING"):
        Names(RunState, parts_pb2.Phase.DESCRIPTOR)
