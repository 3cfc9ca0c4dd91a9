"""Phases A and D: how hard a task looks, what it may cost for that, and when to think again."""

from typing import Final

from aeond.domain.outcome import Outcome, success
from aeond.domain.plans.profiles import DEFAULT_PROFILE, TaskProfile
from aeond.domain.runs.budgets import Budget, Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.orchestration.budget.adaptation import adapt
from aeond.orchestration.budget.allocation import budget_for
from aeond.orchestration.evaluation.judgement_schema import PROFILE_SCHEMA, read_profile
from aeond.orchestration.prompts.evaluation_prompts import profile_messages
from aeond.orchestration.prompts.preamble import Preamble
from aeond.orchestration.repair.constrained_model import ConstrainedModel

MAX_PROFILE_TOKENS: Final = 140
PROFILE_SECONDS: Final = 60.0  # on a machine that takes longer an average profile serves better


class AdaptiveDepth:
    """The Depth over a model; what it may cost is computed, never the model's."""

    def __init__(self, model: ConstrainedModel, preamble: Preamble) -> None:
        self._model = model
        self._preamble = preamble

    async def infer(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[TaskProfile]:
        messages = profile_messages(snapshot.text, self._preamble.messages(snapshot))
        said = await self._model.ask(messages, PROFILE_SCHEMA, MAX_PROFILE_TOKENS, grant, PROFILE_SECONDS)
        if not said.ok:
            return said.failed(DEFAULT_PROFILE)
        return success(read_profile(said.value))

    def allocate(self, profile: TaskProfile, bound: Budget) -> Budget:
        return budget_for(profile, bound)

    def adapt(self, snapshot: RunSnapshot) -> tuple[TaskProfile, Budget, tuple[str, ...]] | None:
        return adapt(snapshot, snapshot.profile or DEFAULT_PROFILE)
