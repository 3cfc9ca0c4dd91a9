from dataclasses import replace
from typing import Any

import pytest

from aeond.domain.outcome import Problem
from aeond.domain.plans.evaluations import Evaluation
from aeond.domain.plans.plan import Clarity, PlanStep, StepState
from aeond.domain.plans.profiles import Route
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs.budgets import Amounts, Grant
from aeond.domain.runs.run import Answer, Phase, PlanSource, RunSnapshot
from aeond.domain.values import JsonValue
from aeond.orchestration.answer.answerer import MAX_RAW_CHARS, StepAnswerer, plain_reply
from tests.support.strategy import calls, grant, run_of, says, thinks

SUM = calls("s1", "add", a=1, b=2)
KEEP = calls("s2", "store", "s1", key="sum", value="$s1")
DONE: dict[str, JsonValue] = {"s1": {"result": 3}, "s2": {"key": "sum", "value": 3}}


class Desk:
    """An answerer with its model and its grant."""

    def __init__(self, *answers: Any, purse: Grant | None = None, **model: Any) -> None:
        self.llm = says(*answers, **model)
        self.grant = purse or grant(2, 12_000)
        self.shown: list[str] = []

    async def compose(self, run: RunSnapshot) -> Answer:
        answer = await StepAnswerer(self.llm).compose(run, self.grant, self.shown.append)
        assert self.grant.used.exceeding(self.grant.reservation) == ""
        return answer


def with_step(run: RunSnapshot, step_id: str, **changes: Any) -> RunSnapshot:
    return replace(run, steps={**run.steps, step_id: replace(run.steps[step_id], **changes)})


async def test_a_model_writes_the_answer_from_the_results() -> None:
    """The model sees request and results, its text is streamed, and the answer says that it was written."""
    desk = Desk("The sum is 3.")
    answer = await desk.compose(run_of(SUM, KEEP, outputs=DONE, request="Add 1 and 2 and keep it."))
    assert answer == Answer("The sum is 3.", ("s1", "s2"), 1.0, (), False, True)
    assert "".join(desk.shown) == "The sum is 3."
    prompt = str(desk.llm.requests[0].messages[-1].content)
    assert '{"result": 3}' in prompt
    assert "Add 1 and 2 and keep it." in prompt
    assert desk.grant.used.llm_calls == 1


async def test_a_last_step_of_the_model_is_the_answer() -> None:
    """When the model has just spoken it is not asked to say it again."""
    desk = Desk()
    run = run_of(SUM, thinks("s2", "Say it.", "s1"), outputs={"s1": {"result": 3}, "s2": "It is 3."})
    answer = await desk.compose(run)
    assert answer == Answer("It is 3.", ("s1", "s2"), 1.0, (), False, True)
    assert desk.grant.used == Amounts()


async def test_a_cut_answer_has_a_note() -> None:
    """An answer that was cut off is given with a note."""
    run = run_of(
        replace(thinks("s1", "Sing."), handoff_to_next="This text was cut off."), outputs={"s1": "La la"}
    )
    answer = await Desk().compose(with_step(run, "s1", clarity=Clarity.PARTIALLY_CLEAR))
    assert answer.text == "La la"
    assert answer.confidence == 0.6
    assert answer.notes == ("s1 is only partly clear. This text was cut off.",)


@pytest.mark.parametrize(
    ("changes", "purse"),
    [
        ({"plan_source": PlanSource.CLIENT}, None),
        ({"cancel_requested": True}, None),
        ({"exhausted": "ttl"}, None),
        ({}, Grant(Amounts())),
    ],
)
async def test_without_a_model_the_last_result_is_the_answer(
    changes: dict[str, Any], purse: Grant | None
) -> None:
    """For a client's plan, a cancelled or spent run, or without a grant, the raw last result is the answer."""
    desk = Desk({"text": "never"}, purse=purse)
    answer = await desk.compose(replace(run_of(SUM, KEEP, outputs=DONE), **changes))
    assert answer.text == '{"key": "sum", "value": 3}'
    assert not answer.synthesized
    assert answer.budget_exhausted is ("exhausted" in changes)
    assert not desk.llm.requests


async def test_results_that_nothing_was_made_from_are_all_given() -> None:
    """Parallel results all belong to the answer, in plan order; a result that was only used does not."""
    run = run_of(
        SUM, calls("s3", "look", path="x"), KEEP, outputs={**DONE, "s3": ["a"]}, source=PlanSource.CLIENT
    )
    assert (await Desk().compose(run)).text == '["a"]\n\n{"key": "sum", "value": 3}'


async def test_the_answer_of_a_run_below_is_reported_as_it_is() -> None:
    """Where the result is what a run below answered, the answer is that text and no JSON around it."""
    run = run_of(SUM, outputs={"s1": {"answer": "It rains."}}, source=PlanSource.CLIENT)
    assert (await Desk().compose(run)).text == "It rains."


async def test_a_step_without_description_is_named_by_its_tool() -> None:
    """A note names what a step was for: its description, else its tool or its agent."""
    run = run_of(SUM, KEEP, outputs={"s1": {"result": 3}}, source=PlanSource.CLIENT)
    bare = replace(KEEP, description="")
    run = with_step(run, "s2", step=bare, state=StepState.FAILED, error="the disk is full")
    assert (await Desk().compose(run)).notes == ("s2 (store) failed: the disk is full",)
    run = with_step(run, "s2", step=replace(bare, tool_call=None, agent="llm"))
    assert (await Desk().compose(run)).notes == ("s2 (llm) failed: the disk is full",)


async def test_a_failure_is_stated_to_model_and_user() -> None:
    """A step without a result stands in the prompt and in the notes, and costs confidence."""
    run = run_of(SUM, KEEP, outputs={"s1": {"result": 3}})
    run = with_step(run, "s2", state=StepState.FAILED, error="the disk is full")
    desk = Desk("The sum is 3, but it could not be kept.")
    answer = await desk.compose(run)
    assert answer.synthesized
    assert answer.confidence == 0.5
    assert answer.step_ids == ("s1",)
    assert answer.notes == ("s2 (store something) failed: the disk is full",)
    assert "the disk is full" in str(desk.llm.requests[0].messages[-1].content)


async def test_a_last_word_of_the_model_after_a_failure_is_not_the_whole_answer() -> None:
    """When a step before failed, the answer is written with that in view."""
    run = run_of(SUM, thinks("s2", "Say something."), outputs={"s2": "All is well."})
    run = with_step(run, "s1", state=StepState.FAILED, error="no numbers")
    answer = await Desk("The sum failed.").compose(run)
    assert answer.text == "The sum failed."


async def test_when_nothing_worked_the_reason_is_the_answer() -> None:
    """Without any result no model is asked to talk about it."""
    run = with_step(run_of(SUM), "s1", state=StepState.FAILED, error="no numbers")
    desk = Desk({"text": "never"})
    answer = await desk.compose(run)
    assert answer.text == "No result: no numbers"
    assert answer.confidence == 0.0
    assert not desk.llm.requests


async def test_a_run_without_a_plan_has_an_answer_too() -> None:
    """When planning failed the answer says why."""
    run = replace(run_of(), plan=None, plan_source=None, problem=Problem("PLAN_CUT", "the plan is too long"))
    answer = await Desk({"text": "never"}).compose(run)
    assert "the plan is too long" in answer.text
    assert answer.notes == ("the plan is too long",)
    assert answer.confidence == 0.0


@pytest.mark.parametrize(
    "rule", [{"fail": "BAD_ANSWER"}, {"text": "  "}, {"text": "x", "gone": True, "fail_after": 1}]
)
async def test_a_model_that_fails_leaves_the_answer_to_the_steps(rule: dict[str, Any]) -> None:
    """A failing, silent or dying model costs the polish, not the answer."""
    answer = await Desk(rule).compose(run_of(SUM, KEEP, outputs=DONE))
    assert answer.text == '{"key": "sum", "value": 3}'
    assert not answer.synthesized
    assert "the model could not write the answer" in answer.notes[0]


async def test_long_results_are_shortened_visibly_for_the_model() -> None:
    """Results beyond the prompt's tokens are shortened in it, and the answer says so."""
    run = run_of(SUM, KEEP, outputs={"s1": "number " * 20_000, "s2": "kept"})
    desk = Desk("Many numbers.", purse=grant(1, 1_000))
    answer = await desk.compose(run)
    assert answer.text == "Many numbers."
    assert answer.notes == ("long results were shortened before the answer was written from them",)
    assert "characters left out" in str(desk.llm.requests[0].messages[-1].content)
    assert "kept" in str(desk.llm.requests[0].messages[-1].content)


async def test_an_answer_that_was_cut_says_so() -> None:
    """An answer that hit its token limit carries a note."""
    answer = await Desk("word " * 2_000).compose(run_of(SUM, outputs={"s1": 3}))
    assert answer.notes == ("the answer was cut off at its token limit",)


async def test_a_huge_raw_result_is_shortened_with_a_note() -> None:
    """A result too long for an answer is given in part, and the note tells where the whole is."""
    run = run_of(SUM, outputs={"s1": "x" * 100_000}, source=PlanSource.CLIENT)
    answer = await Desk().compose(run)
    assert len(answer.text) < MAX_RAW_CHARS + 100
    assert f"[... {100_000 - MAX_RAW_CHARS} characters left out ...]" in answer.text
    assert answer.notes == ("the result is shortened here; the step's own output is whole",)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"clarity": Clarity.CLEAR}, 1.0),
        ({"clarity": Clarity.PARTIALLY_CLEAR}, 0.6),
        ({"mode": StepMode.FALLBACK}, 0.7),
        ({"state": StepState.INVALID, "clarity": Clarity.BLOCKED}, 0.0),
        ({"state": StepState.SKIPPED}, 0.0),
    ],
)
async def test_confidence_follows_from_how_the_steps_went(changes: dict[str, Any], expected: float) -> None:
    """Confidence is computed from the steps' states alone."""
    run = with_step(run_of(PlanStep("s1", "x", agent="llm"), outputs={"s1": "y"}), "s1", **changes)
    assert (await Desk({"text": "z"}).compose(run)).confidence == expected


# ---------------------------------------------------------------- what was judged


async def test_a_final_output_is_the_answer() -> None:
    """The final output of the last evaluation is the answer, marked as synthesized, without a call of the model."""
    judged = Evaluation(1, True, final_output=" The sum is 3. ")
    desk = Desk()
    answer = await desk.compose(run_of(SUM, KEEP, outputs=DONE, route=Route.DIRECT, evaluation=judged))
    assert (answer.text, answer.synthesized, answer.step_ids) == ("The sum is 3.", True, ("s1", "s2"))
    assert not desk.llm.requests


async def test_the_last_result_of_a_direct_run_is_its_answer() -> None:
    """Without a final output the last result is the answer, unpolished, and nothing before it."""
    first, second = calls("s1", "look", path="garden"), calls("s2", "look", path="shed")
    run = run_of(first, second, outputs={"s1": "mint", "s2": "a rake"}, route=Route.DIRECT)
    desk = Desk()
    answer = await desk.compose(replace(run, evaluation=Evaluation(2, True, ("DONE",))))
    assert (answer.text, answer.synthesized) == ("a rake", False)
    assert not desk.llm.requests
    failed = with_step(run, "s2", state=StepState.FAILED, output=None, error="no shed")
    answer = await desk.compose(failed)
    assert answer.text == "mint"
    assert "no shed" in answer.notes[0]


async def test_a_failure_that_was_made_good_is_only_noted() -> None:
    """A failure that a later pass made up for stands in the notes, and not in the prompt for the answer."""
    run = run_of(SUM, KEEP, outputs={"s2": 3}, pass_index=2, evaluation=Evaluation(2, True))
    run = with_step(run, "s1", state=StepState.FAILED, error="no numbers")
    desk = Desk("The sum is 3.")
    answer = await desk.compose(run)
    assert "no numbers" in answer.notes[0]
    assert "no numbers" not in str(desk.llm.requests[0].messages[-1].content)


async def test_a_last_step_after_a_failure_made_good_is_the_answer() -> None:
    """When the run converged all the same, what the model said last is not said again."""
    said = thinks("s2", "Say it.")
    run = run_of(SUM, said, outputs={"s2": "It is 3."}, pass_index=2, evaluation=Evaluation(2, True))
    run = with_step(run, "s1", state=StepState.FAILED, error="no numbers")
    desk = Desk()
    assert (await desk.compose(run)).text == "It is 3."
    assert (await Desk("Three.").compose(replace(run, evaluation=None))).text == "Three."


async def test_an_expired_run_says_where_it_was() -> None:
    """The answer's notes say what ran out, in which phase and after how much."""
    run = run_of(SUM, KEEP, outputs={"s1": {"result": 3}}, exhausted="ttl", pass_index=1, pass_open=True)
    answer = await Desk().compose(run)
    assert answer.budget_exhausted
    assert answer.notes[-1] == (
        "the run's budget of ttl ran out in phase C, before it ended, after 1 pass: "
        "1 of 2 steps gave a result"
    )


async def test_a_reply_that_time_was_too_short_for_says_so() -> None:
    """A reply that was cut while it was written asks no model again, and does not speak of steps."""
    desk = Desk("A herb is")
    writing = run_of(phase=Phase.ANSWER, route=Route.REPLY, exhausted="wall_seconds")
    answer = await desk.compose(replace(writing, plan=None))
    assert answer.text.startswith("No answer: the run's time was over before it was written.")
    assert answer.notes == ("the run's budget of wall seconds ran out in phase E, before it ended",)
    assert (answer.budget_exhausted, desk.shown) == (True, [])


async def test_a_request_without_tools_is_replied_to() -> None:
    """A REPLY run's answer is the model's own, streamed; with the budget spent nothing is asked."""
    run = replace(run_of(request="Hello?"), plan=None, plan_source=None, route=Route.REPLY)
    desk = Desk("Good morning.")
    answer = await desk.compose(run)
    assert (answer.text, answer.synthesized, "".join(desk.shown)) == ("Good morning.", True, "Good morning.")
    spent = Desk("Good morning.")
    assert not (await spent.compose(replace(run, exhausted="tokens"))).synthesized
    assert not spent.llm.requests


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ({"result": 3}, "3"),
        ({"path": "a.txt", "text": "Hello.", "truncated": False}, "Hello."),
        ({"text": "Hel", "truncated": True, "next_offset": 3}, '"truncated": true'),
        ({"path": "a.txt", "size_bytes": 6}, "path: a.txt\nsize_bytes: 6"),
        ({"path": "a.txt", "change": "added: a\nadded: b"}, "added: a\nadded: b\n(path: a.txt)"),
    ],
)
async def test_a_raw_result_is_what_it_is_about(output: JsonValue, shown: str) -> None:
    """A DIRECT run without a final output shows the value of its last result, or all of it where that is not whole."""
    desk = Desk()
    answer = await desk.compose(run_of(SUM, outputs={"s1": output}, route=Route.DIRECT))
    assert shown in answer.text
    assert not answer.synthesized
    assert not desk.llm.requests


async def test_a_step_added_by_refinement_does_not_become_the_answer() -> None:
    """The step that nothing waits for and that speaks last is the answer, wherever its source stands."""
    said, source = thinks("s2", "Tell it.", "s3"), calls("s3", "look", path="park")
    run = run_of(SUM, said, source, outputs={"s2": "Mint.", "s3": "mint"}, pass_index=2)
    run = with_step(run, "s1", state=StepState.FAILED, error="no numbers")
    desk = Desk()
    assert (await desk.compose(replace(run, evaluation=Evaluation(2, True)))).text == "Mint."
    assert not desk.llm.requests


async def test_the_answer_keeps_to_what_the_user_said_for_good() -> None:
    """The earlier statements of the user are part of the prompt for the answer."""
    desk = Desk("Die Summe ist 3.")
    run = run_of(SUM, KEEP, outputs=DONE, request="Add 1 and 2 and keep it.")
    await desk.compose(replace(run, standing=("Always answer in German.",)))
    assert "Always answer in German." in str(desk.llm.requests[0].messages[-1].content)


async def test_the_text_of_the_model_is_the_answer() -> None:
    """It is streamed as it comes, and marked as written by a model."""
    shown: list[str] = []
    answer = await plain_reply(says("Good evening to you."), run_of(), grant(), shown.append)
    assert (answer.text, answer.synthesized, "".join(shown)) == (
        "Good evening to you.",
        True,
        "Good evening to you.",
    )


async def test_a_model_that_fails_leaves_an_answer_that_says_so() -> None:
    """The answer names the problem and claims nothing."""
    answer = await plain_reply(says({"fail": "BAD_ANSWER"}), run_of(), grant(), lambda _: None)
    assert answer.text.startswith("No answer: ")
    assert (answer.synthesized, answer.confidence) == (False, 0.0)
