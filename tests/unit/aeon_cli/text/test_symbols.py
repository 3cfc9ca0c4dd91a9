"""Signs of states."""

from aeon_cli.text.printable import width_of
from aeon_cli.text.symbols import OF_RUN, OF_STEP
from aeond_client.records.runs import RunState, StepState


def test_every_state_has_a_sign() -> None:
    """No state of a run or a step, a new one included, is without a sign of one cell in both scripts."""
    assert set(OF_STEP) == set(StepState)
    assert set(OF_RUN) == set(RunState)
    for mark in (*OF_STEP.values(), *OF_RUN.values()):
        assert width_of(mark.sign) == len(mark.ascii_sign) == 1
        assert mark.ascii_sign.isascii()
