"""From how hard a task looks to what it may cost.

The effort of a profile is a number from 0 to 1, the weighted mean of five:

    weight  of                           0 for        1 for
    ------  ---------------------------  -----------  -----------
       4    reasoning_depth              1            5
       2    expected_tool_usage          none         extensive
       2    output_breadth               narrow       broad
       1    confidence_requirement       low          high
       1    information_sufficiency      1            0

A task of effort x gets the share 1/4 + 3/4 * x of each dimension that is used up, rounded up, but not
less than FLOOR, which is what a plan of a few steps and one more pass need, and not more than the bound.
Time and the depth of child runs are the bound's: neither is saved by giving less of it.
"""

from dataclasses import replace
from math import ceil
from typing import Final

from aeond.domain.plans.profiles import Breadth, ConfidenceLevel, TaskProfile, ToolUsage
from aeond.domain.runs.budgets import DIMENSIONS, Amounts, Budget

FLOOR: Final = Amounts(ttl=12, llm_calls=16, tokens=60_000, tool_calls=12, passes=3)
LEAST_SHARE: Final = 0.25

_WEIGHTS: Final = (4, 2, 2, 1, 1)
_TOOLS: Final = tuple(ToolUsage)
_BREADTHS: Final = tuple(Breadth)
_CONFIDENCES: Final = tuple(ConfidenceLevel)


def effort_of(profile: TaskProfile) -> float:
    """0 for the easiest task there is, 1 for the hardest."""
    parts = (
        (profile.reasoning_depth - 1) / 4,
        _TOOLS.index(profile.expected_tool_usage) / (len(_TOOLS) - 1),
        _BREADTHS.index(profile.output_breadth) / (len(_BREADTHS) - 1),
        _CONFIDENCES.index(profile.confidence_requirement) / (len(_CONFIDENCES) - 1),
        1 - profile.information_sufficiency,
    )
    return sum(weight * part for weight, part in zip(_WEIGHTS, parts, strict=True)) / sum(_WEIGHTS)


def budget_for(profile: TaskProfile, bound: Budget) -> Budget:
    """The budget for a profile: never above the bound, never less for a harder task or a larger bound."""
    share = LEAST_SHARE + (1 - LEAST_SHARE) * effort_of(profile)
    scaled = Amounts(*(ceil(getattr(bound, name) * share) for name in DIMENSIONS))
    return _limited_to(bound, _larger(FLOOR, scaled).at_most(bound.amounts))


def at_least(budget: Budget, amounts: Amounts, bound: Budget) -> Budget:
    """The budget with room for these amounts as far as the bound has it, and with the bound's time and depth."""
    return _limited_to(bound, _larger(budget.amounts, amounts).at_most(bound.amounts))


def at_most(budget: Budget, amounts: Amounts) -> Budget:
    """The budget without what goes beyond these amounts."""
    return _limited_to(budget, budget.amounts.at_most(amounts))


def _limited_to(budget: Budget, amounts: Amounts) -> Budget:
    return replace(budget, **{name: getattr(amounts, name) for name in DIMENSIONS})


def _larger(one: Amounts, other: Amounts) -> Amounts:
    return Amounts(*(max(getattr(one, name), getattr(other, name)) for name in DIMENSIONS))
