"""Phases A and D: how hard a task looks, what it may cost for that, and when to think again."""

from dataclasses import replace
from typing import Final

from aeond.domain.outcome import Outcome, success
from aeond.domain.plans.plan import Clarity
from aeond.domain.plans.profiles import DEFAULT_PROFILE, TaskProfile, ToolUsage
from aeond.domain.runs.budgets import Amounts, Budget, Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.orchestration.budget.allocation import at_least, at_most, budget_for
from aeond.orchestration.evaluation.issues import BLOCKED
from aeond.orchestration.evaluation.judgement_schema import PROFILE_SCHEMA, read_profile
from aeond.orchestration.evaluation.progress import fresh_steps
from aeond.orchestration.prompts.evaluation_prompts import profile_messages
from aeond.orchestration.prompts.preamble import Preamble
from aeond.orchestration.repair.supervisor import Supervisor

MAX_PROFILE_TOKENS: Final = 140
PROFILE_SECONDS: Final = 60.0  # on a machine that takes longer an average profile serves better

NOT_CONVERGED: Final = "NOT_CONVERGED"
ISSUES_PRESENT: Final = "ISSUES_PRESENT"
DEEPER: Final = "DEEPER"
SHALLOWER: Final = "SHALLOWER"

# What one more pass and the answer after it need: a budget that moves down leaves as much.
GOING_ON: Final = Amounts(ttl=4, llm_calls=8, tokens=36_000, tool_calls=4, passes=1)

_DEPTHS: Final = (1, 5)
_SUFFICIENCY_STEP: Final = 0.25
_TOOLS: Final = tuple(ToolUsage)


def signals_in(run: RunSnapshot) -> tuple[str, ...]:
    """Which of the three signals the pass gave: it did not converge, there are issues, a step is BLOCKED."""
    judged = run.evaluation
    if judged is None or run.pass_index < 1 or judged.pass_index != run.pass_index:
        return ()
    blocked = any(
        step.clarity is Clarity.BLOCKED and step.pass_index == run.pass_index for step in run.steps.values()
    )
    signals = (
        (NOT_CONVERGED, not judged.converged),
        (ISSUES_PRESENT, bool(judged.issues)),
        (BLOCKED, blocked),
    )
    return tuple(name for name, given in signals if given)


class AdaptiveDepth:
    """The Depth over a model; what it may cost is computed, never the model's."""

    def __init__(self, model: Supervisor, preamble: Preamble) -> None:
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
        """None when the signals do not agree or nothing changes.

        A task that gets on although steps are blocked is harder than it looked: deeper, with more. One that
        gave nothing new in this pass will not be helped by more of the same: shallower, with less. Never
        above the run's bound, never below what is used and reserved.
        """
        signals = signals_in(snapshot)
        if len(signals) < 3:
            return None
        profile, ledger, bound = snapshot.profile or DEFAULT_PROFILE, snapshot.ledger, snapshot.bound
        getting_on = bool(fresh_steps(snapshot, snapshot.pass_index))
        changed = _moved(profile, 1 if getting_on else -1)
        now, wanted = ledger.limit, budget_for(changed, bound)
        moved = at_least(wanted, now.amounts, bound) if getting_on else at_most(now, wanted.amounts)
        needed = ledger.used + ledger.reserved + GOING_ON
        budget = at_least(moved, needed if getting_on else needed.at_most(now.amounts), bound)
        if changed == profile and budget == now:
            return None
        return changed, budget, (*signals, DEEPER if getting_on else SHALLOWER)


def _moved(profile: TaskProfile, by: int) -> TaskProfile:
    """One deeper (1) or shallower (-1): so much more reasoning and tools, and so much less is known."""
    shallowest, deepest = _DEPTHS
    tools = _TOOLS.index(profile.expected_tool_usage) + by
    return replace(
        profile,
        reasoning_depth=min(deepest, max(shallowest, profile.reasoning_depth + by)),
        information_sufficiency=min(1.0, max(0.0, profile.information_sufficiency - by * _SUFFICIENCY_STEP)),
        expected_tool_usage=_TOOLS[min(len(_TOOLS) - 1, max(0, tools))],
    )
