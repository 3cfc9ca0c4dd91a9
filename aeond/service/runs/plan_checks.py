"""Validates plans from clients before they are accepted."""

import re

from aeond.domain.outcome import Problem
from aeond.domain.plans.plan import Plan
from aeond.errors import InvalidInputError
from aeond.ports import Validator

SHOWN_PROBLEMS = 5


def check_plan(validator: Validator, plan: Plan) -> None:
    """InvalidInputError with reason and path of the first problem, and descriptions of the first few."""
    problems = validator.validate_plan(plan)
    if problems:
        more = len(problems) - SHOWN_PROBLEMS
        said = "; ".join(f"{_field(p)}: {p.message}" for p in problems[:SHOWN_PROBLEMS])
        raise InvalidInputError(
            f"the plan cannot be executed: {said}" + (f"; and {more} more" if more > 0 else ""),
            reason=problems[0].reason,
            field=_field(problems[0]),
        )


def _field(problem: Problem) -> str:
    """The path of a problem in the request: `/steps/2/depends_on` is `plan.steps[2].depends_on`."""
    return "plan" + re.sub(r"/(\d+)(?=/|$)", r"[\1]", problem.path).replace("/", ".")
