"""The configuration's own rules."""

import pytest
from pydantic import ValidationError

from aeond.daemon.config.schema import Config, RunsSection, SocketSection
from aeond.domain.runs.budgets import Budget
from aeond.server import streaming
from aeond.server.door import proxying


def test_the_default_budget_is_the_domain_s() -> None:
    """The default budget of the configuration equals that of the domain."""
    assert Budget(**RunsSection().budget.model_dump()) == Budget()


def test_no_default_exceeds_its_limit() -> None:
    """Every default of a budget lies within the default limit."""
    runs = RunsSection()
    limit = runs.budget_limit.model_dump()
    assert all(value <= limit[name] for name, value in runs.budget.model_dump().items())


def test_a_configuration_never_changes() -> None:
    """A configuration is immutable."""
    with pytest.raises(ValidationError):
        Config().runs = RunsSection()  # type: ignore[misc]  # which is what is tested


def test_an_unread_stream_is_ended_before_its_connection() -> None:
    """The default time for an unread stream is the server's, and none is longer than the door waits."""
    assert SocketSection().stall_seconds == streaming.STALL_SECONDS
    SocketSection(stall_seconds=proxying.STALL_SECONDS)
    with pytest.raises(ValidationError):
        SocketSection(stall_seconds=proxying.STALL_SECONDS + 1)
