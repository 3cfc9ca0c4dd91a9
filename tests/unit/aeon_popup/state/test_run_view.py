"""A run of the popup, folded from its events."""

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeon_popup.state.run_view import RunView, Stage
from aeond.domain.policy import joined
from aeond_client.events import (
    ApprovalRequested,
    BudgetExhausted,
    CancelRequested,
    ChildRunEnded,
    ChildRunStarted,
    Event,
    EventKind,
    InputAnswered,
    InputRequested,
    PlanAdopted,
    PolicyDecided,
    ReferencesResolved,
    RunCreated,
    RunEnded,
    RunStarted,
    RunSuspended,
    StepEnded,
    StepResolved,
    StepStarted,
    UnknownKind,
)
from aeond_client.records.judgements import ApprovalRequest, Question
from aeond_client.records.runs import Answer, Plan, PlanStep, Resolution, RunState, StepState
from tests.support.popup_states import EFFECTS, KEY, RUN, STEPS, TEXT, planned, states

CHILD = "child"


def numbered(*kinds: EventKind, run_id: str = RUN) -> list[Event]:
    return [Event(run_id, seq, float(seq), 0.0, kind) for seq, kind in enumerate(kinds, start=1)]


def folded(events: list[Event], run: RunView | None = None) -> RunView:
    view = run or RunView(KEY, TEXT, RUN)
    for event in events:
        view = view.after(event, 0.0)
    return view


def question(step_id: str = "s1", name: str = "q1") -> InputRequested:
    return InputRequested(Question(name, step_id, "Which?"))


def test_a_full_disk_asks_for_no_decision() -> None:
    """A run that a full disk suspended continues by itself; the popup shows why it pauses, and no card."""
    full = folded(numbered(RunStarted(), RunSuspended("disk_full", "the disk is full: free some space")))
    assert (full.needs_person, full.subjects) == (False, ())
    assert full.steps.activity == "the disk is full: free some space"
    assert folded(numbered(RunStarted(), RunSuspended("unknown_step"))).stage is Stage.DECISION


@st.composite
def courses(draw: st.DrawFn) -> list[Event]:
    """Events of any kind in any order, numbered as a run's are, also where no run would have them so."""
    steps = st.sampled_from(STEPS)
    kinds = st.one_of(
        st.just(RunStarted()),
        st.builds(
            lambda chosen: PlanAdopted(Plan("", tuple(chosen))),
            st.lists(steps, max_size=5, unique_by=lambda step: step.step_id),
        ),
        steps.map(StepStarted),
        st.builds(StepEnded, steps.map(lambda step: step.step_id), st.sampled_from(StepState)),
        st.builds(question, steps.map(lambda step: step.step_id), st.sampled_from(["q1", "q2"])),
        st.builds(InputAnswered, st.sampled_from(["q1", "q2"]), st.just("red")),
        st.builds(ChildRunStarted, st.just("s1"), st.just(CHILD), st.just("template")),
        st.just(ChildRunEnded("s1", CHILD, RunState.FAILED)),
        st.just(RunSuspended("unknown_step")),
        st.just(StepResolved("retry", "s1")),
        st.just(UnknownKind("new")),
        st.builds(RunEnded, st.sampled_from(RunState)),
    )
    return numbered(*draw(st.lists(kinds, max_size=25)))


@given(courses())
def test_any_course_has_a_stage(events: list[Event]) -> None:
    """Whatever the order of the events, the run has a stage, counts its ended steps, and an ended run needs no person."""
    run = folded(events)
    assert isinstance(run.stage, Stage)
    assert 0 <= run.over_count <= len(run.steps.lines)
    assert not (run.ended and (run.needs_person or run.questions))


@given(courses(), st.data())
def test_events_that_arrive_twice_count_once(events: list[Event], data: st.DataObject) -> None:
    """A watch that resumes and repeats earlier events leads to the same view as one without an interruption."""
    cut = data.draw(st.integers(0, len(events)))
    back = data.draw(st.integers(0, cut))
    assert folded([*events[:cut], *events[back:]]) == folded(events)


def test_a_question_of_a_run_below_is_answered_there() -> None:
    """A question of a child run is shown with the child's id, and closed when the child ends."""
    run = folded(numbered(*planned(), StepStarted(STEPS[0]), ChildRunStarted("s1", CHILD, "t")))
    asked = folded(numbered(question("c1"), run_id=CHILD), run)
    assert (asked.stage, asked.questions[0].run_id) == (Stage.QUESTION, CHILD)
    assert asked.waiting_steps >= {"s1"}
    last = Event(CHILD, 2, 9.0, 0.0, RunEnded(RunState.FAILED))
    assert folded([last], asked).stage is Stage.RUNNING


@pytest.mark.parametrize(
    "kind", [CancelRequested(), BudgetExhausted("tool_calls"), StepResolved(Resolution.ABORT)]
)
@pytest.mark.parametrize("run_id", [RUN, CHILD])
def test_a_run_that_goes_no_further_asks_nothing(kind: EventKind, run_id: str) -> None:
    """A cancellation, a limit or the end by a person closes what the run had asked, before the run has ended."""
    run = folded(numbered(*planned(), StepStarted(STEPS[0]), ChildRunStarted("s1", CHILD, "t")))
    held = ApprovalRequested(ApprovalRequest("s1.1", ("s1",), (), "digest"), "s1")
    asked: list[EventKind] = [question(), held]
    run = folded([Event(run_id, seq, 0.0, 0.0, one) for seq, one in enumerate(asked, start=100)], run)
    assert (len(run.questions), run.stage) == (1, Stage.APPROVAL)
    run = folded([Event(run_id, 200, 0.0, 0.0, kind)], run)
    assert (run.questions, run.approvals, run.needs_person) == ((), (), False)


def test_a_step_of_a_run_below_is_shown_on_the_line_of_its_parent() -> None:
    """While a child run works, the step that started it shows the child's current step."""
    run = folded(numbered(*planned(), StepStarted(STEPS[0]), ChildRunStarted("s1", CHILD, "t")))
    step = PlanStep("c1", "", "list_folder", {"path": "docs"})
    below = folded(numbered(RunCreated("sub"), StepStarted(step), run_id=CHILD), run)
    assert below.steps.line("s1").activity == "list_folder docs"


def test_a_step_is_titled_by_its_description() -> None:
    """The plan's description names a step; one without a description is named by its tool."""
    plain = PlanStep("s9", "", "calculator", {"expression": "1+1"})
    run = folded(numbered(PlanAdopted(Plan("", (*STEPS, plain)))))
    titles = [run.title_of(line) for line in run.steps.lines]
    assert (titles[0], titles[-1]) == (STEPS[0].description, "calculator 1+1")


@pytest.mark.parametrize(
    ("description", "title"),
    [
        ("", "Which colour?"),
        ("request_user_input: prompt=Which colour?", "Which colour?"),
        ("Ask for the colour", "Ask for the colour"),
    ],
)
def test_a_question_is_titled_by_what_it_asks(description: str, title: str) -> None:
    """A step that asks a person is named by its prompt, also where the daemon describes it by its call, but not where the plan
    names it.
    """
    step = PlanStep("s1", description, "request_user_input", {"prompt": "Which colour?"})
    run = folded(numbered(PlanAdopted(Plan("", (step,)))))
    assert run.title_of(run.steps.lines[0]) == title


def test_only_recorded_changes_can_be_undone() -> None:
    """Undo is offered for an ended run with recorded changes, once."""
    view = states()
    done, undone = view["done"].shown, view["undone"].shown
    assert done is not None
    assert undone is not None
    assert (done.undoable, undone.undoable) == (True, False)
    assert done.steps.answer is not None
    assert isinstance(done.steps.answer, Answer)


@pytest.mark.parametrize("state", [RunState.FAILED, RunState.CANCELLED, RunState.EXPIRED])
def test_changes_of_a_run_without_an_answer_can_be_undone(state: RunState) -> None:
    """A run that ended without an answer lists what its steps changed, and can be undone once it has ended."""
    deed = StepEnded("s4", StepState.SUCCEEDED, effects=EFFECTS)
    at_work = [*planned(3), StepStarted(STEPS[3]), deed]
    assert not folded(numbered(*at_work)).undoable
    run = folded(numbered(*at_work, RunEnded(state)))
    assert (run.changes, run.undoable) == (EFFECTS, True)
    assert not folded(numbered(*planned(4), RunEnded(state))).undoable


def test_an_approval_has_the_untrusted_sources_of_its_run() -> None:
    """All sources that the run of the shown approval has read count, and those of no other run."""
    read: list[EventKind] = [
        RunCreated(TEXT, taint=("mail",)),
        ReferencesResolved(TEXT, TEXT, taint=("host:a.example:443",)),
        StepEnded("s1", StepState.SUCCEEDED, taint=("file:/b", "mail")),
        PolicyDecided("s2", "ask", adds=("file:/a",)),
    ]
    sources = ("file:/a", "file:/b", "host:a.example:443", "mail")
    own = ApprovalRequested(ApprovalRequest("a1", ("s2",), (), "d"), "s2")
    run = folded(numbered(*read))
    assert run.taint == ()
    assert folded([Event(RUN, 5, 5.0, 0.0, own)], run).taint == sources
    assert folded(numbered(own, run_id=CHILD), run).taint == ()
    assert folded(numbered(*read, own, run_id=CHILD), folded(numbered(RunStarted()))).taint == sources


def test_sources_that_are_left_out_are_counted_as_more() -> None:
    """Of more sources than the daemon records the first are listed, and the last says that there are more."""
    names = tuple(f"file:/{number:02}" for number in range(17))
    own = ApprovalRequested(ApprovalRequest("a1", ("s1",), (), "d"), "s1")

    def taint(*reads: tuple[str, ...]) -> tuple[str, ...]:
        ended = [StepEnded("s0", StepState.SUCCEEDED, taint=read) for read in reads]
        read = folded(numbered(*ended, own)).taint
        none: tuple[str, ...] = ()
        assert read == functools.reduce(joined, reads, none)
        return read

    assert taint(names[:15]) == names[:15]
    assert taint(names) == taint(names[:9], names[9:]) == (*names[:15], "more")
    assert taint(("more", "z"), names[:1]) == (names[0], "z", "more")
