import pytest

from aeond.api.v1 import models_pb2, parts_pb2
from aeond.domain.llm import Priority
from aeond.domain.runs.run import RunState
from aeond.errors import InvalidInputError
from aeond.server.wire import enums
from aeond.server.wire.enums import PRIORITIES, RUN_STATES, Names

TABLES = [table for table in vars(enums).values() if isinstance(table, Names)]


@pytest.mark.parametrize("table", TABLES)
def test_every_value_goes_out_and_comes_back(table: Names) -> None:  # type: ignore[type-arg] # any of them
    """Each member of each enum has a wire value of its own that means it."""
    members = table._theirs
    assert len(set(members.values())) == len(members)
    for member, number in members.items():
        assert table.wire(member) == number
        assert table.domain(number, "f") is member


def test_no_value_is_unspecified() -> None:
    """An unset value is sent as UNSPECIFIED."""
    assert RUN_STATES.wire(None) == parts_pb2.RUN_STATE_UNSPECIFIED


@pytest.mark.parametrize("number", [0, 99, -1])
def test_a_number_without_a_name_is_refused(number: int) -> None:
    """UNSPECIFIED and numbers of a newer contract are refused where a value is needed."""
    with pytest.raises(InvalidInputError) as raised:
        RUN_STATES.domain(number, "states[0]")  # type: ignore[arg-type] # what a client may send
    assert (raised.value.reason, raised.value.field) == ("UNKNOWN_VALUE", "states[0]")
    assert "RUN_STATE_SUCCEEDED" in raised.value.message


def test_unspecified_may_mean_a_default() -> None:
    """Where a default is documented, UNSPECIFIED is it and unknown numbers are still refused."""
    assert (
        PRIORITIES.domain_or(models_pb2.PRIORITY_UNSPECIFIED, "f", Priority.INTERACTIVE)
        is Priority.INTERACTIVE
    )
    assert (
        PRIORITIES.domain_or(models_pb2.PRIORITY_BACKGROUND, "f", Priority.INTERACTIVE) is Priority.BACKGROUND
    )
    with pytest.raises(InvalidInputError):
        PRIORITIES.domain_or(7, "f", Priority.INTERACTIVE)  # type: ignore[arg-type] # what a client may send


def test_a_member_that_the_contract_lacks_is_seen_on_import() -> None:
    """An enum that has outgrown its contract cannot be loaded, let alone sent."""
    with pytest.raises(ValueError, match="PHASE_PENDING"):
        Names(RunState, parts_pb2.Phase, "PHASE")
