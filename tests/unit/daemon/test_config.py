"""The configuration's own rules."""

import pytest
from pydantic import ValidationError

from aeond.daemon.config import Config, RunsSection
from aeond.domain.budgets import Budget


def test_the_default_budget_is_the_domain_s() -> None:
    """What a run gets without a configuration is what the domain says a run gets."""
    assert Budget(**RunsSection().budget.model_dump()) == Budget()


def test_no_default_exceeds_its_limit() -> None:
    """Every default of a budget lies within the default limit."""
    runs = RunsSection()
    limit = runs.budget_limit.model_dump()
    assert all(value <= limit[name] for name, value in runs.budget.model_dump().items())


def test_a_configuration_never_changes() -> None:
    """What a daemon was started with stays what it is."""
    with pytest.raises(ValidationError):
        Config().runs = RunsSection()  # type: ignore[misc]  # which is what is tested
