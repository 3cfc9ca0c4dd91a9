"""Questions, answers and trees of runs on the wire."""

import grpc
import pytest

from aeond.api.v1 import parts_pb2, runs_pb2
from aeond.domain.plans.plan import Plan, PlanStep
from aeond.domain.plans.steps import StepMode
from aeond.domain.plans.subtasks import ChildRun, SubtaskRequest
from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.events import (
    ChildRunEnded,
    ChildRunStarted,
    InputRequested,
    PassStarted,
    PlanAdopted,
    RunCreated,
    RunEnded,
    RunStarted,
    StepStarted,
)
from aeond.domain.runs.questions import InputRequest, Question
from aeond.domain.runs.run import Ancestry, PlanSource, RunRequest, RunSnapshot, RunState
from aeond.domain.tools import Recovery, ToolCall
from tests.support.api_world import ApiWorld, Stubs, client, refused, world

__all__ = ["client", "world"]

INVALID = grpc.StatusCode.INVALID_ARGUMENT
STEP = PlanStep("s1", "ask", ToolCall("request_user_input", {"prompt": "Which?"}))
QUESTION = Question("s1.1", "s1", InputRequest("Which?", options=("red", "blue"), deadline_seconds=60), 1.0)


async def asking(world: ApiWorld, client: Stubs) -> str:
    """A run with an open question."""
    hello = runs_pb2.CreateRunRequest(request=parts_pb2.RunRequest(text="hello"))
    run_id = (await client.runs.CreateRun(hello)).run.run_id
    for kind in (
        RunStarted(),
        PlanAdopted(Plan("ask", (STEP,)), PlanSource.CLIENT),
        PassStarted(1),
        StepStarted(STEP, 1, StepMode.TOOL, Recovery.RERUN, Amounts(ttl=1)),
        InputRequested(QUESTION),
    ):
        world.behind.runs.happen(run_id, kind)
    return str(run_id)


async def test_a_question_is_shown_with_its_options_and_deadline(world: ApiWorld, client: Stubs) -> None:
    """GetRun has the open questions of a run that awaits input."""
    run = (await client.runs.GetRun(runs_pb2.GetRunRequest(run_id=await asking(world, client)))).run
    assert run.state == parts_pb2.RUN_STATE_AWAITING_INPUT
    (question,) = run.questions
    assert (question.question_id, question.step_id, question.prompt) == ("s1.1", "s1", "Which?")
    assert list(question.options) == ["red", "blue"]
    assert question.deadline_time.seconds == 61


async def test_the_first_answer_counts(world: ApiWorld, client: Stubs) -> None:
    """An answer comes back as the run after it; the next one is FAILED_PRECONDITION with a reason."""
    run_id = await asking(world, client)
    request = runs_pb2.AnswerRunRequest(run_id=run_id, question_id="s1.1", answer_json='"red"')
    run = (await client.runs.AnswerRun(request)).run
    assert run.steps[0].output_json == '"red"'
    assert not run.questions
    async with refused(grpc.StatusCode.FAILED_PRECONDITION, "QUESTION_NOT_OPEN"):
        await client.runs.AnswerRun(request)


@pytest.mark.parametrize(
    ("answer_json", "reason"), [("", "EMPTY"), ("{", "INVALID_JSON"), ('"green"', "ANSWER_INVALID")]
)
async def test_an_answer_that_does_not_fit_is_an_invalid_argument(
    world: ApiWorld, client: Stubs, answer_json: str, reason: str
) -> None:
    """No text, no JSON, or none of the options: the problem is named and the question stays open."""
    run_id = await asking(world, client)
    async with refused(INVALID, reason, "answer_json"):
        await client.runs.AnswerRun(runs_pb2.AnswerRunRequest(run_id=run_id, answer_json=answer_json))
    assert len(world.behind.runs.snapshots[run_id].questions) == 1


async def test_the_runs_below_are_in_the_stream_on_request(world: ApiWorld, client: Stubs) -> None:
    """With include_children the events of child runs come too, from where each of them was left."""
    run_id = await asking(world, client)
    runs = world.behind.runs
    child = ChildRun("child", "any", Budget(ttl=5, passes=2), SubtaskRequest("do it"))
    runs.happen(run_id, ChildRunStarted("s1", child))
    runs.snapshots["child"], runs.journals["child"] = RunSnapshot("child"), []
    ours = runs.snapshots[run_id].request.owner
    created = RunCreated(
        RunRequest("do it", owner=ours), Budget(), ancestry=Ancestry(run_id, "s1", ("any:1",))
    )
    for kind in (created, RunStarted(), RunEnded(RunState.SUCCEEDED)):
        runs.happen("child", kind)
    runs.happen(run_id, ChildRunEnded("s1", "child", RunState.SUCCEEDED))
    runs.happen(run_id, RunEnded(RunState.FAILED))
    request = runs_pb2.WatchRunRequest(
        run_id=run_id, after_seq=6, include_children=True, child_seqs={"child": 1}
    )
    seen = [(event.run_id, event.seq) async for m in client.runs.WatchRun(request) for event in m.events]
    assert seen == [("child", 2), ("child", 3), (run_id, 7), (run_id, 8), (run_id, 9)]
    alone = runs_pb2.WatchRunRequest(run_id=run_id, after_seq=6)
    seen = [(event.run_id, event.seq) async for m in client.runs.WatchRun(alone) for event in m.events]
    assert seen == [(run_id, 7), (run_id, 8), (run_id, 9)]
    listed = await client.runs.ListRuns(runs_pb2.ListRunsRequest(parent_run_id=run_id))
    assert [run.run_id for run in listed.runs] == ["child"]


async def test_a_place_in_a_run_below_is_checked_for_form(client: Stubs) -> None:
    """A negative number is refused before anything is looked up."""
    request = runs_pb2.WatchRunRequest(run_id="run-0001", include_children=True, child_seqs={"child": -1})
    async with refused(INVALID, "OUT_OF_RANGE", "child_seqs"):
        async for _ in client.runs.WatchRun(request):
            pass
