from dataclasses import replace

import pytest

from aeond.domain import events as e
from aeond.domain.profiles import Route
from aeond.domain.runs import Operation, RunSnapshot
from aeond.orchestration.assembling import phases_over
from aeond.orchestration.repair import ModelSupervisor
from aeond.orchestration.trivial import AsSaid
from tests.support.judging import after_pass, judgement, ran
from tests.support.strategy import calls, grant, registry, says, thinks, validator

LOOK, TELL = calls("s1", "look", path="garden"), thinks("s2", "Tell it.", "s1")
FAILED = after_pass(1, ran(LOOK, error="no garden"), ran(TELL))
FRESH = replace(FAILED, pass_index=0, plan=None, steps={}, route=None)
PROFILE = {"depth": 1, "known": 90, "tools": "none", "breadth": "narrow", "confidence": "low", "why": ""}


@pytest.mark.parametrize(
    ("operation", "run", "said", "kind"),
    [
        (Operation.RESOLVE, FRESH, {}, e.ReferencesResolved),
        (Operation.ROUTE, FRESH, {"route": "reply"}, e.RouteChosen),
        (Operation.PROFILE, FRESH, PROFILE, e.ProfileInferred),
        (Operation.PLAN, FRESH, {"steps": [{"agent": "llm"}]}, e.PlanAdopted),
        (Operation.EVALUATE, FAILED, judgement(), e.PassEvaluated),
        (Operation.EVALUATE, replace(FAILED, route=Route.DIRECT), {"done": True}, e.PassEvaluated),
        (Operation.ANSWER, FAILED, {}, e.AnswerComposed),
    ],
)
async def test_every_operation_has_its_part(
    operation: Operation, run: RunSnapshot, said: dict[str, object], kind: type
) -> None:
    """With a model that says what is asked for, each operation ends with its own event and no fallback."""
    llm, check = says({"json": said}), validator()
    phases = phases_over(llm, registry(), ModelSupervisor(llm, check), check, AsSaid())
    (first, *_) = await phases.perform(operation, run, grant(), lambda _: None, lambda *_: None)
    assert isinstance(first, kind)
    assert getattr(first, "fallback", False) is False
    assert len(llm.requests) == (0 if operation is Operation.RESOLVE else 1)
