"""The chain of causes of a run."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeon_cli.observing.chain import Link, chain_of, chain_of_step, now_of
from aeond_client import events
from aeond_client.events import Event
from aeond_client.records.judgements import ApprovalRequest, Question
from aeond_client.records.runs import Answer, Plan, PlanStep, Problem, Run, RunState, StepState
from aeond_client.records.tools import RecordedEffect, ToolCall

FIRST = PlanStep("s1", "find the file", tool="list_dir", arguments={"path": "."})
SECOND = PlanStep("s2", "write it", tool="write_file", arguments={"path": "a.txt"}, depends_on=("s1",))


def journal(*kinds: Any) -> list[Event]:
    return [Event("run", seq, 1000.0 + seq, seq / 10, kind) for seq, kind in enumerate(kinds, start=1)]


RUN = journal(
    events.RunCreated("write it there", uid=1000),
    events.ReferencesResolved("write it there", "write the report into a.txt", note="it: the report"),
    events.RouteChosen("plan"),
    events.PlanAdopted(Plan("g", (FIRST, SECOND)), source="model"),
    events.StepStarted(FIRST, mode="tool"),
    events.StepEnded("s1", StepState.SUCCEEDED, output=["b.txt"], rule="reads", policy_version="v1"),
    events.StepStarted(SECOND, mode="tool"),
    events.ApprovalRequested(ApprovalRequest("s2.1", ("s2",), (ToolCall("write_file"),), "d", "it writes"), "s2"),
    events.ApprovalDecided("s2.1", approved=True, uid=1000, scope="once"),
    events.StepStarted(SECOND, attempt=2, mode="tool"),
    events.PolicyDecided("s2", "ask", rule="writes", reason="every effect is asked about", tainted=True, facts={"taint": ["host:x:1"]}),
    events.StepEnded("s2", StepState.SUCCEEDED, output={"ok": True}, effects=(RecordedEffect("file.created", "a.txt"),)),
    events.AnswerComposed(Answer("Done.", ("s1", "s2"), synthesized=True)),
    events.RunEnded(RunState.SUCCEEDED),
)  # fmt: skip


def words_of(links: list[Link]) -> list[tuple[str, str, str]]:
    return [(link.kind, link.step_id, link.words) for link in links]


def test_the_chain_of_a_run_goes_from_the_request_to_its_end() -> None:
    """Every link has its kind and its step, in the order of the journal: request, route, plan, decisions, evidence,
    effects, answer."""
    assert words_of(chain_of(RUN)) == [
        ("request", "", "user 1000 asked: write it there"),
        ("request", "", "understood as: write the report into a.txt"),
        ("route", "", "plan"),
        ("plan", "", "2 steps, made by the model"),
        ("step", "s1", "list_dir ."),
        ("policy", "s1", "allowed, rule reads"),
        ("result", "s1", 'succeeded after 0.0s: ["b.txt"]'),
        ("step", "s2", "write_file a.txt"),
        ("evidence", "s2", "the results of s1"),
        ("approval", "s2", "asked a person about 1 call"),
        ("approval", "s2", "allowed by user 1000, scope once"),
        ("step", "s2", "write_file a.txt, attempt 2"),
        ("evidence", "s2", "the results of s1"),
        ("policy", "s2", "a person must allow it, rule writes"),
        ("effect", "s2", "created: a.txt"),
        ("result", "s2", 'succeeded after 0.0s: {"ok": true}'),
        ("answer", "", "written by the model, from s1, s2: Done."),
        ("end", "", "succeeded"),
    ]


def test_details_give_the_reasons() -> None:
    """The rewriting, the decision and the evidence have their grounds below them."""
    by_kind = {(link.kind, link.seq): link.details for link in chain_of(RUN)}
    assert by_kind["request", 2] == ("because it: the report",)
    assert by_kind["policy", 11] == ("every effect is asked about", "the run had read host:x:1")
    assert by_kind["policy", 6] == ("it only computes",)
    assert by_kind["evidence", 10] == ('s1: ["b.txt"]',)
    assert by_kind["step", 5] == ("to find the file",)


def test_the_chain_of_a_step_leaves_the_other_steps_out() -> None:
    """The links of a step are those of the run and its own."""
    links = chain_of_step(chain_of(RUN), "s1")
    assert {link.step_id for link in links} == {"", "s1"}
    assert [link.kind for link in links if link.step_id] == ["step", "policy", "result"]


def test_failures_are_explained() -> None:
    """A failed plan, step and run give their message and their stable reason."""
    problem = Problem("NO_PLAN", "the model gave none")
    links = chain_of(
        journal(
            events.RunCreated("x", parent_run_id="p", parent_step_id="s3"),
            events.PlanningFailed(problem),
            events.StepEnded(
                "s1", StepState.FAILED, error="no such file", reason="FILE_NOT_FOUND", candidates=("a", "b")
            ),
            events.RunEnded(RunState.FAILED, problem),
        )
    )
    assert words_of(links) == [
        ("request", "", "step s3 of run p asked: x"),
        ("plan", "", "no plan: the model gave none (NO_PLAN)"),
        ("result", "s1", "failed after 0.0s: no such file (FILE_NOT_FOUND)"),
        ("end", "", "failed: the model gave none (NO_PLAN)"),
    ]
    assert links[2].details == ("existing values: a, b",)


def test_an_answer_of_a_person_is_evidence_for_later_steps() -> None:
    """A person's answer is the result of the step that asked, and later steps use it."""
    asking, using = PlanStep("s1", tool="ask"), PlanStep("s2", tool="echo", depends_on=("s1",))
    links = chain_of(
        journal(
            events.StepStarted(asking),
            events.InputRequested(Question("s1.1", "s1", "Which one?")),
            events.InputAnswered("s1.1", "the red one", uid=7),
            events.StepStarted(using),
        )
    )
    assert ("question", "s1", "answered by user 7: the red one") in words_of(links)
    assert links[-1].details == ("s1: the red one",)


def test_approvals_and_questions_are_listed() -> None:
    """An approval lists its calls, with the reason if the policy has not given it; a question lists its options."""
    write = ToolCall("write_file", {"path": "a.txt", "content": "x"})
    links = chain_of(
        journal(
            events.StepStarted(SECOND),
            events.PolicyDecided("s2", "ask", reason="no rule allows it"),
            events.ApprovalRequested(
                ApprovalRequest("s2.1", ("s2",), (write,), "d", "no rule allows it"), "s2"
            ),
            events.ApprovalRequested(
                ApprovalRequest("s2.2", ("s2",), (write,), "d", "it is expensive"), "s2"
            ),
            events.InputRequested(Question("s2.3", "s2", "Which one?", options=("red", "blue"))),
        )
    )
    call = "write_file path=a.txt content=x"
    assert [link.details for link in links[-3:]] == [
        (call,),
        (call, "because it is expensive"),
        ("options: red, blue",),
    ]


def test_a_plan_is_evaluated_before_it_is_executed() -> None:
    """The evaluation of a plan is not that of the work, and a note that the answer has is not repeated."""
    links = chain_of(
        journal(
            events.PassEvaluated(0, converged=True, reasons=("PLAN_VALID",)),
            events.StepStarted(FIRST),
            events.PassEvaluated(1, converged=True, reasons=("ALL_STEPS_COMPLETE",)),
            events.AnswerComposed(Answer("No result: no such file", notes=("no such file", "another"))),
        )
    )
    assert [(link.words, link.details) for link in links if link.kind != "step"] == [
        ("the plan can be executed (PLAN_VALID)", ()),
        ("the work is done (ALL_STEPS_COMPLETE)", ()),
        ("No result: no such file", ("note: another",)),
    ]


def test_a_description_made_of_the_call_is_not_repeated() -> None:
    """The purpose of a step is shown if it says more than the call."""
    made = PlanStep("s1", "list_dir: path=.", tool="list_dir", arguments={"path": "."})
    (link,) = chain_of(journal(events.StepStarted(made)))
    assert (link.words, link.details) == ("list_dir .", ())


@pytest.mark.parametrize(
    ("fields", "words", "details"),
    [
        ({"phase": "plan"}, "planning", ()),
        ({}, "awaiting input", ()),
        (
            {"questions": (Question("s1.1", "s1", "Which one?"),)},
            "asks: Which one?",
            ("answer with: aeonctl answer r1",),
        ),
        (
            {"approvals": (ApprovalRequest("s1.1", ("s1",), (ToolCall("send"),), "d"),)},
            "needs approval: send",
            ("decide with: aeonctl approvals",),
        ),
        (
            {"state": RunState.SUSPENDED, "suspend_reason": "repeated_crashes"},
            "suspended: repeated crashes",
            ("decide with: aeonctl decide r1",),
        ),
        ({"state": RunState.SUSPENDED, "suspend_reason": "disk_full"}, "suspended: disk full", ()),
    ],
)
def test_an_unfinished_run_says_what_it_does_now(
    fields: dict[str, Any], words: str, details: tuple[str, ...]
) -> None:
    """The last link names the work, or the command that lets the run go on; an ended run has none."""
    run = Run("r1", **{"state": RunState.AWAITING_INPUT, "text": "x", "last_seq": 7, **fields})
    (link,) = now_of(run)
    assert (link.kind, link.seq, link.words, link.details) == ("now", 7, words, details)
    assert now_of(replace(run, state=RunState.FAILED)) == []


@given(st.text(), st.text())
def test_no_text_breaks_out_of_its_line(request: str, answer: str) -> None:
    """Texts of people and models stay on one line, without control characters."""
    links = chain_of(journal(events.RunCreated(request), events.AnswerComposed(Answer(answer))))
    for link in links:
        assert "\n" not in link.words
        assert "\x1b" not in link.words
        assert len(link.words) < 300
