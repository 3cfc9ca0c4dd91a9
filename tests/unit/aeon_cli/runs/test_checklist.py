"""The display of a run."""

from functools import reduce
from typing import Any

import pytest

from aeon_cli.runs.checklist import Checklist
from aeond.api.v1 import events_pb2, judgements_pb2, parts_pb2, tools_pb2
from aeond_client.calls.reading import event
from aeond_client.records.runs import RunState, StepState
from tests.support import wire_events

NOW = wire_events.START_TIME + 1_000.0


def shown(*kinds: Any) -> Checklist:
    """The checklist after these things happened."""
    events = [event(wire) for wire in wire_events.numbered("run", *kinds)]
    return reduce(lambda checklist, each: checklist.after(each, NOW), events, Checklist())


def planned(*more: Any) -> Checklist:
    first = wire_events.tool_step("s1", "calculator", expression="1+1")
    second = wire_events.tool_step("s2", "now")
    return shown(wire_events.created(), wire_events.adopted(first, second), *more)


FIRST = wire_events.tool_step("s1", "calculator", expression="1+1")


def test_a_whole_run_ends_in_steps_done_and_an_answer() -> None:
    """Once a run is over, its steps stand there with what they gave, and nothing goes on beside them."""
    checklist = shown(*wire_events.answered_run("It is 420."))
    assert [(line.title, line.state, line.detail) for line in checklist.lines] == [
        ("calculator 2400 * 0.175", StepState.SUCCEEDED, "420.0"),
        ("remember key=bonus value=420", StepState.SUCCEEDED, "true"),
    ]
    assert checklist.answer is not None
    assert (checklist.answer.text, checklist.answer_text) == ("It is 420.", "It is 420.")
    assert (checklist.state, checklist.activity) == (RunState.SUCCEEDED, "")


def test_a_plan_of_the_client_is_there_from_the_start() -> None:
    """A run with a plan of its own shows its steps before anything was planned."""
    created = wire_events.created()
    created.plan.steps.append(FIRST)
    assert [line.title for line in shown(created).lines] == ["calculator 1+1"]


def test_the_current_activity_is_shown() -> None:
    """Before there are steps, the current activity and its progress are shown."""
    checklist = shown(
        wire_events.created(),
        events_pb2.PlanningStarted(),
        events_pb2.Progress(activity="loading", fraction=0.25),
    )
    assert (checklist.activity, checklist.fraction, checklist.activity_time) == ("loading", 0.25, NOW)


def test_a_run_in_the_queue_says_how_many_start_before_it() -> None:
    """A run that waits for its turn shows the number of runs before it until it starts."""
    places = [wire_events.event("run", 0, events_pb2.Queued(ahead=ahead)) for ahead in (2, 1, 0)]
    waiting = shown(wire_events.created())
    activities = [(waiting := waiting.after(event(place), NOW)).activity for place in places]
    assert activities == ["waiting for 2 runs", "waiting for 1 run", "next in the queue"]
    assert waiting.after(event(wire_events.event("run", 2, events_pb2.RunStarted())), NOW).activity == ""


def test_a_special_activity_is_shown_until_it_ends() -> None:
    """After a special activity ends, the usual activity is shown again."""
    checklist = shown(
        wire_events.created(),
        events_pb2.PlanningStarted(),
        events_pb2.Progress(activity="loading the model", fraction=0.9),
        events_pb2.Progress(activity="", fraction=-1),
    )
    assert (checklist.activity, checklist.fraction) == ("planning", -1.0)


def test_an_activity_keeps_its_start() -> None:
    """A progress update of the same activity keeps its start time."""
    first = shown(wire_events.created(), events_pb2.Progress(activity="loading", fraction=0.1))
    later = first.after(
        event(wire_events.event("run", 0, events_pb2.Progress(activity="loading", fraction=0.9))), NOW + 5
    )
    assert (later.activity_time, later.fraction) == (NOW, 0.9)


def test_a_step_at_work_shows_what_it_writes() -> None:
    """The text of an agent's step grows with its pieces and restarts at offset 0."""
    pieces = [("It ", 0), ("is", 3), ("Anew", 0)]
    deltas = [events_pb2.TextDelta(step_id="s1", text=text, offset=offset) for text, offset in pieces]
    assert planned(wire_events.step_started(FIRST), *deltas[:2]).line("s1").text == "It is"
    assert planned(wire_events.step_started(FIRST), *deltas).line("s1").text == "Anew"


def test_a_failed_step_shows_why() -> None:
    """The error of a step stands where its output would."""
    line = planned(wire_events.step_started(FIRST), wire_events.step_ended("s1", error="No.\nReally.")).line(
        "s1"
    )
    assert (line.state, line.detail, line.duration_seconds) == (StepState.FAILED, "No. Really.", 0.25)


def test_a_step_that_runs_again_is_running() -> None:
    """A second start takes the outcome of the first off the line."""
    line = planned(
        wire_events.step_started(FIRST),
        wire_events.step_ended("s1", error="No."),
        wire_events.step_started(FIRST),
    ).line("s1")
    assert (line.state, line.detail) == (StepState.RUNNING, "")


def test_a_repaired_step_shows_its_new_tool() -> None:
    """A step whose tool was missing is shown with what is used in its place."""
    repaired = events_pb2.StepRepaired(step=wire_events.tool_step("s1", "echo", text="hi"))
    assert planned(repaired).line("s1").title == "echo hi"


def test_a_suspended_run_tells_why_until_it_goes_on() -> None:
    """The reason for which a run waits is shown while it waits, and not after."""
    suspended = events_pb2.RunSuspended(reason=parts_pb2.SUSPEND_REASON_UNKNOWN_STEP)
    assert planned(suspended).suspended == "unknown step"
    assert planned(suspended).state is RunState.SUSPENDED
    resolved = planned(suspended, events_pb2.StepResolved(step_id="s1"))
    assert (resolved.suspended, resolved.state) == ("", RunState.RUNNING)


def interrupted(recovery: Any, *more: Any) -> list[StepState]:
    """The states of the steps after a restart of the daemon while the first step ran."""
    begun = events_pb2.StepStarted(step=FIRST, recovery=recovery)
    return [line.state for line in planned(begun, *more, events_pb2.RunResumed()).lines]


def test_a_step_that_may_have_acted_is_interrupted_by_a_restart() -> None:
    """After a restart of the daemon a step of which a person decides is interrupted; others are ready to start again."""
    assert interrupted(tools_pb2.RECOVERY_ASK) == [StepState.UNKNOWN, StepState.PENDING]
    assert interrupted(tools_pb2.RECOVERY_RERUN) == [StepState.READY, StepState.PENDING]
    assert interrupted(tools_pb2.RECOVERY_RECONCILE) == [StepState.READY, StepState.PENDING]


def test_a_step_that_only_waits_is_not_interrupted_by_a_restart() -> None:
    """A step with a child run is ready after a restart of the daemon, and one with a question still waits for its answer."""
    child = judgements_pb2.ChildRunStarted(step_id="s1", child_run_id="below")
    assert interrupted(tools_pb2.RECOVERY_ASK, child)[0] is StepState.READY
    question = judgements_pb2.InputRequested(question=parts_pb2.Question(question_id="s1.1", step_id="s1"))
    assert interrupted(tools_pb2.RECOVERY_ASK, question)[0] is StepState.RUNNING
    waiting = planned(events_pb2.StepStarted(step=FIRST), question, events_pb2.RunResumed())
    assert (waiting.state, len(waiting.questions)) == (RunState.AWAITING_INPUT, 1)


@pytest.mark.parametrize(
    ("resolution", "state"),
    [
        (parts_pb2.RESOLUTION_RETRY, StepState.READY),
        (parts_pb2.RESOLUTION_DONE, StepState.SUCCEEDED),
        (parts_pb2.RESOLUTION_ABORT, StepState.FAILED),
    ],
)
def test_an_interrupted_step_is_shown_as_a_person_decided(resolution: Any, state: StepState) -> None:
    """After the decision about an interrupted step the step is ready, done or failed."""
    begun = events_pb2.StepStarted(step=FIRST, recovery=tools_pb2.RECOVERY_ASK)
    resolved = events_pb2.StepResolved(step_id="s1", resolution=resolution)
    checklist = planned(begun, events_pb2.RunResumed(), resolved)
    assert checklist.lines[0].state is state
    assert checklist.state is RunState.RUNNING


def test_an_answer_that_is_asked_for_again_starts_over() -> None:
    """When a resumed run composes its answer once more, the earlier pieces are forgotten."""
    checklist = planned(
        events_pb2.AnswerStarted(),
        events_pb2.TextDelta(text="Half an"),
        events_pb2.RunResumed(),
        events_pb2.AnswerStarted(),
    )
    assert checklist.answer_text == ""
    assert checklist.activity == "writing the answer"


def test_an_answer_that_is_given_while_the_way_is_chosen_is_reported_as_one() -> None:
    """Its first words say what goes on."""
    route = judgements_pb2.OperationStarted(operation=judgements_pb2.OPERATION_ROUTE)
    choosing = shown(wire_events.created(), route)
    assert choosing.activity == "choosing an approach"
    writing = shown(wire_events.created(), route, events_pb2.TextDelta(text="Half an"))
    assert (writing.activity, writing.answer_text) == ("writing the answer", "Half an")


def test_the_cause_of_a_runs_end_is_kept() -> None:
    """An exhausted budget, a cancellation and a problem are all shown."""
    ended = planned(
        events_pb2.BudgetExhausted(dimension="tokens"),
        wire_events.ended(parts_pb2.RUN_STATE_EXPIRED, message="Too little."),
    )
    assert (ended.exhausted, ended.state) == ("tokens", RunState.EXPIRED)
    assert ended.problem is not None
    assert ended.problem.message == "Too little."
    assert planned(events_pb2.CancelRequested()).activity == "cancelling"
    assert planned(events_pb2.RunParked()).activity == "waiting to resume"
    failed = shown(wire_events.created(), events_pb2.PlanningFailed())
    assert failed.activity == "no plan: answering directly"


def test_steps_that_will_not_run_are_skipped() -> None:
    """After a cancellation or an exhausted budget, steps that wait or ask are skipped; in an ended run all that did not end."""
    began = wire_events.step_started(FIRST)
    asked = judgements_pb2.InputRequested()
    asked.question.question_id, asked.question.step_id, asked.question.prompt = "s1.1", "s1", "Which one?"
    for stopped in (events_pb2.CancelRequested(), events_pb2.BudgetExhausted(dimension="tokens")):
        asking = planned(began, asked, stopped)
        assert [line.state for line in asking.lines] == [StepState.SKIPPED, StepState.SKIPPED]
        assert (asking.lines[0].activity, asking.questions) == ("", ())
        working = planned(began, stopped)
        assert [line.state for line in working.lines] == [StepState.RUNNING, StepState.SKIPPED]
    for state in (parts_pb2.RUN_STATE_CANCELLED, parts_pb2.RUN_STATE_FAILED):
        ended = planned(began, wire_events.ended(state))
        assert [line.state for line in ended.lines] == [StepState.SKIPPED, StepState.SKIPPED]


def test_an_unknown_event_changes_nothing() -> None:
    """An event that this client cannot read leaves the list as it was."""
    assert planned(judgements_pb2.PolicyDecided()) == planned()
