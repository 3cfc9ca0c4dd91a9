"""The facts that requests correct, for fitting."""

import math

import numpy as np

from tests.eval.corrections import CORRECTED, Asked, cases, fitted, shares


def test_each_corrected_fact_is_remembered() -> None:
    """Every request of the group updating has its fact, and that is in the memory of its case."""
    found = [(letter, placed, name) for letter, placed, name in cases() if placed.case.group == "updating"]
    assert len(found) == 5 * len(CORRECTED)
    assert [name for _, placed, name in found if name and name not in placed.memory] == []


def test_the_weights_follow_what_tells_facts_apart() -> None:
    """A feature that marks the corrected fact gets weight, and what marks nothing gets less."""
    dice = np.random.default_rng(1)
    rows = [
        Asked(
            "a",
            "updating",
            np.array([[math.log(0.7 if one == place else 0.1), dice.random()] for one in range(3)]),
            math.log(0.7 if place < 0 else 0.1),
            place,
        )
        for place in (0, 1, 2, -1) * 5
    ]
    weights = fitted(rows)
    assert weights[0] > abs(weights[1]) * 0.5 > 0
    assert [int(shares(one, weights).argmax()) for one in rows[:4]] == [0, 1, 2, 3]
