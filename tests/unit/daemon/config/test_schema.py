"""The configuration's own rules."""

import pytest
from pydantic import ValidationError

from aeond.daemon.config.schema import Config, RunsSection
from aeond.domain.runs.budgets import Budget


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
