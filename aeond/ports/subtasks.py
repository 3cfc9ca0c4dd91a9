"""Settling which Template does a subtask."""

from typing import Protocol

from aeond.domain.outcome import Outcome
from aeond.domain.plans.subtasks import SubtaskRequest
from aeond.domain.runs.budgets import Grant


class SubtaskChooser(Protocol):
    """Chooses before a subtask begins; what it chose is recorded with the subtask and never chosen again."""

    async def choose(self, request: SubtaskRequest, grant: Grant) -> Outcome[SubtaskRequest]:
        """The request with the template's name among its hints, at the cost of at most one model call and its
        repair; or the request as it was and why none fits (TEMPLATE_NOT_FOUND, TEMPLATE_INPUT_MISSING)."""
