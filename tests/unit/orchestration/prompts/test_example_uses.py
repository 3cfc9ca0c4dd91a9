from aeond.orchestration.prompts.example_uses import EXAMPLE_USES


def test_uses_are_different() -> None:
    """No request stands twice, and each has one action."""
    assert len({use.request for use in EXAMPLE_USES}) == len(EXAMPLE_USES)
    assert all(len(use.action) == 1 for use in EXAMPLE_USES)
