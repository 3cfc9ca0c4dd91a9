from dataclasses import replace

import pytest

from aeond.domain import events as e
from aeond.domain.plans import Clarity
from aeond.domain.profiles import Route
from aeond.domain.runs import Operation, RunSnapshot
from aeond.orchestration.assembling import phases_over, usual_openings
from aeond.orchestration.chat_preamble import ChatPreamble
from aeond.orchestration.preamble import Preamble
from aeond.orchestration.repair import ModelSupervisor
from aeond.orchestration.route_preamble import RoutePreamble
from aeond.orchestration.trivial import AsSaid
from tests.support.judging import after_pass, judgement, ran
from tests.support.strategy import calls, grant, registry, run_of, says, spec, thinks, validator

WRITE = spec("write_file", {"path": {"type": "string"}}, ("path",))
TELL, LOOK = thinks("s1", "Tell it."), calls("s2", "look", path="garden")
DOUBTFUL = after_pass(1, ran(TELL, clarity=Clarity.PARTIALLY_CLEAR), ran(LOOK))
FRESH = replace(DOUBTFUL, pass_index=0, plan=None, steps={}, route=None)
PROFILE = {"depth": 1, "known": 90, "tools": "none", "breadth": "narrow", "confidence": "low", "why": ""}


@pytest.mark.parametrize(
    ("operation", "run", "said", "kind"),
    [
        (Operation.RESOLVE, FRESH, {}, e.ReferencesResolved),
        (Operation.ROUTE, FRESH, {"route": "reply"}, e.RouteChosen),
        (Operation.PROFILE, FRESH, PROFILE, e.ProfileInferred),
        (Operation.PLAN, FRESH, {"steps": [{"agent": "llm"}]}, e.PlanAdopted),
        (Operation.EVALUATE, DOUBTFUL, judgement(), e.PassEvaluated),
        (Operation.EVALUATE, replace(DOUBTFUL, route=Route.DIRECT), {"done": True}, e.PassEvaluated),
        (Operation.ANSWER, DOUBTFUL, {}, e.AnswerComposed),
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


def test_what_is_read_ahead_is_what_a_run_begins_with() -> None:
    """The questions of a run begin with what was read before there was one: the chat's, the route's, the plan's."""
    tools, check, run = registry(WRITE), validator(WRITE), run_of()
    preambles = (ChatPreamble(tools, check), RoutePreamble(tools, check), Preamble(tools, check))
    for usual, preamble in zip(usual_openings(tools, check), preambles, strict=True):
        asked = [message.content for message in preamble.messages(run)]
        assert asked
        assert [message.content for message in usual()] == asked
