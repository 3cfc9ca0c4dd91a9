"""The end of a run after the one change that was wanted."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, ScriptedLLM
from aeond.capabilities.tools.registry import Registry
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.tools import Composition, CompositionView, Effect, RecordedEffect, Recovery, ToolCall
from aeond.domain.values import JsonValue
from aeond.orchestration.decision.decider import NOT_CHANGED
from aeond.orchestration.interfaces import Judgement
from tests.support.deciders import EXACT, INTENT, IS_WANTED, Composing, WholeTool, decider_of, words
from tests.support.judging import after_pass, ran
from tests.support.strategy import LOOK, TEXT, calls, grant, spec

KEEP = replace(spec("keep", {"note": TEXT}, ("note",), Effect.MEMORY), candidates=("note",))
OTHER = spec("send", {"note": TEXT}, ("note",), Effect.MEMORY)
ONE, SEVERAL = {"one": -0.2, "several": -1.8}, {"one": -0.8, "several": -0.6}
LOOKED = ran(calls("s0", "look", path="a"), output="7")


def step(tool: str = "keep", output: JsonValue = "gate code = 7714", error: str = "") -> StepSnapshot:
    made = ran(calls("s1", tool, note="7714"), output=None if error else output, error=error)
    return replace(made, recovery=Recovery.RECONCILE)


async def answer(
    *steps: StepSnapshot,
    likely: Mapping[str, float] = ONE,
    instructions: str = "",
    found: str = "",
    decided: str = "From the decision.",
    refused: str = "",
    heard: Mapping[str, float] | None = None,
    request: str = "",
) -> str:
    rules = (
        *([Rule(contains=IS_WANTED, text="both", likely=dict(heard))] if heard else []),
        Rule(contains="one thing or for several", text="one", likely=dict(likely)),
        Rule(contains="Say in one word what a request", text="do", likely={"do": -0.1}),
        Rule.model_validate({"json": {"cannot": refused} if refused else {"answer": decided}}),
    )
    tools = Registry()
    for one in (LOOK, KEEP, OTHER):
        tools.register(WholeTool(one))
    subject, _ = decider_of(rules, tools)
    run = after_pass(1, *steps)
    run = replace(run, request=replace(run.request, instructions=instructions, text=request or run.text))
    subject.means.answered.findings[run.run_id] = found
    return (await subject.evaluate(run, grant(10))).value.evaluation.final_output


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("gate code = 7714", "gate code = 7714"),
        ({"path": "a.md", "change": "now: red", "note": ""}, "a.md: now: red"),
    ],
)
async def test_the_report_of_the_one_change_is_the_answer(output: JsonValue, expected: str) -> None:
    """After a change that was all the request was for, also after a look, the run ends with what the tool reports."""
    assert await answer(step(output=output)) == expected
    assert await answer(LOOKED, step(output=output)) == expected


async def test_what_was_found_out_stands_above_the_report() -> None:
    """A run that found something out for its change says both."""
    assert await answer(LOOKED, step(output="fee = 84"), found="12 * 7 = 84") == "12 * 7 = 84\nfee = 84"


async def test_findings_stay_out_of_the_report_of_an_order() -> None:
    """If only the change is surely wanted, the report alone is the answer; a request with a question always gets the findings."""
    only, perhaps = {"done": -0.1, "both": -3.0}, {"done": -0.7, "both": -0.8}
    for heard, request, both in (
        (only, "Keep it.", False),
        (perhaps, "Keep it.", True),
        (only, "How much? Keep it.", True),
    ):
        given = await answer(LOOKED, step(output="fee = 84"), found="84.", heard=heard, request=request)
        assert given == ("84.\nfee = 84" if both else "fee = 84")


async def test_a_repeated_request_gives_way_to_the_report() -> None:
    """Where the decision after a change only says the request again, the report of the change is the answer."""
    request = after_pass(1).text
    assert await answer(step(), likely=SEVERAL, decided=request.upper()) == "gate code = 7714"


async def test_a_refusal_hides_no_change() -> None:
    """Where the decision after a change refuses, the report of the change is the answer if the request was likely for one thing, else it stands
    above the refusal; without a change the refusal is all."""
    likely = {"one": -0.6, "several": -0.8}
    assert await answer(step(), likely=likely, refused="I cannot.") == "gate code = 7714"
    assert await answer(step(), likely=SEVERAL, refused="I cannot.") == "gate code = 7714\nI cannot."
    assert await answer(LOOKED, likely=likely, refused="I cannot.") == "I cannot."


async def test_other_runs_go_on_with_a_decision() -> None:
    """A request for several things, a report that is empty or long, a tool of which nothing is known and a run with instructions are decided
    about."""
    assert await answer(step(), likely=SEVERAL) == "From the decision."
    assert await answer(step(), likely={"yes": -0.1}) == "From the decision."
    assert await answer(step(output="")) == "From the decision."
    assert await answer(step(output="x" * 1_000)) == "From the decision."
    assert await answer(step("send")) == "From the decision."
    assert await answer(step(), instructions="Be brief.") == "From the decision."


async def test_a_change_that_failed_is_not_claimed() -> None:
    """The answer of a run whose changes all failed is a refusal, whatever the model says; one that changed something else may claim that."""
    assert await answer(step(error="no room")) == NOT_CHANGED
    assert await answer(step(error="no room"), LOOKED) == NOT_CHANGED
    assert await answer(step(error="no room"), instructions="Be brief.") == "From the decision."
    changed = replace(step(), step=calls("s3", "keep", note="84"))
    assert await answer(step(error="no room"), changed, likely=SEVERAL) == "From the decision."


CHANGE = replace(spec("change", {"path": TEXT}, ("path",), Effect.WRITE_CONTAINED), candidates=("path",))
CHANGED = replace(
    ran(calls("s1", "change", path="todo.txt"), output="added: rope"), recovery=Recovery.RECONCILE
)
READ = ran(calls("s2", "look", path="todo.txt"), output="paint\nrope")


async def judged(
    *steps: StepSnapshot, heard: Mapping[str, float], reply: str = "Two things."
) -> tuple[Judgement, ScriptedLLM]:
    """What follows an order that asks for something besides as likely as this."""
    rules = (
        Rule(contains=IS_WANTED, text="both", likely=dict(heard)),
        Rule(contains="one thing or for several", text="one", likely=ONE),
        Rule(contains="Say in one word what a request", text="do", likely={"do": -0.1}),
        Rule(contains="from what is shown above it", text=reply),
        Rule.model_validate({"json": {"answer": "From the decision."}}),
    )
    tools = Registry()
    for one in (replace(LOOK, candidates=("path",)), CHANGE):
        tools.register(WholeTool(one))
    subject, llm = decider_of(rules, tools, invoker=Composing({}, values=("todo.txt",)))
    return (await subject.evaluate(after_pass(1, *steps), grant(10))).value, llm


ASKS, ASKS_NOTHING = {"done": -1.0, "both": -0.5}, {"done": -0.5, "both": -1.0}


async def test_what_an_order_asks_for_besides_is_read_after_the_change() -> None:
    """An order that also asks for something has the changed file read again, and the answer has the report and the reply."""
    found, _ = await judged(CHANGED, heard=ASKS)
    (action,) = found.actions
    assert action.step is not None
    assert action.step.tool_call == ToolCall("look", {"path": "todo.txt"})
    found, llm = await judged(CHANGED, READ, heard=ASKS)
    assert found.evaluation.final_output == "added: rope\nTwo things."
    shown = str(llm.requests[-1].messages[-1].content)
    assert "changed for this request:\nadded: rope\n\ntodo.txt:\npaint\nrope" in shown


SELECT = replace(
    spec("select", {"path": TEXT, "query": TEXT}, ("path", "query"), Effect.READ),
    candidates=("path",),
    composition=Composition(("query",), "Write a query.", ()),
)


async def test_what_is_asked_besides_a_change_is_asked_alone() -> None:
    """The question that an order leaves is put to the changed table, and answered from what was selected there."""
    query = "SELECT COUNT(*) FROM todo"
    rules = (
        Rule(contains=IS_WANTED, text="both", likely=ASKS),
        Rule(contains="Say in one word what a request", text="do", likely={"do": -0.1}),
        Rule(contains="only the question that is left", text="How many are left?"),
        Rule(contains="from what is shown above it", text="Two."),
        Rule.model_validate({"contains": "Write a query.", "json": query}),
    )
    tools = Registry()
    for one in (replace(LOOK, candidates=("path",)), CHANGE, SELECT):
        tools.register(WholeTool(one))
    view = CompositionView("CREATE TABLE todo (what TEXT);", {"type": "string"})
    subject, llm = decider_of(rules, tools, invoker=Composing({}, values=("todo.txt",), view_of=view))
    following = (await subject.evaluate(after_pass(1, CHANGED, READ), grant(20))).value
    (action,) = following.actions
    assert action.step is not None
    assert action.step.tool_call == ToolCall("select", {"path": "todo.txt", "query": query})
    assert "How many are left?" in str(llm.requests[-1].messages[-1].content)
    selected = ran(calls("s3", "select", path="todo.txt", query=query), output="2")
    found = (await subject.evaluate(after_pass(1, CHANGED, READ, selected), grant(20))).value
    assert found.evaluation.final_output == "added: rope\nTwo."
    shown = str(llm.requests[-1].messages[-1].content)
    assert "How many are left?" in shown
    assert "paint" not in shown
    assert sum("only the question" in str(one.messages) for one in llm.requests) == 1


DIGEST = "2f" * 16
PROPOSE = replace(
    spec("propose", {"task": TEXT}, ("task",), Effect.EXEC_CONTAINED), private=True, followed_by="apply"
)
APPLY = replace(
    spec("apply", {"proposal": TEXT}, ("proposal",), Effect.WRITE_CONTAINED),
    candidates=("proposal",),
    followed_by="commit",
)
COMMIT = spec("commit", {"message": TEXT}, ("message",), Effect.WRITE_CONTAINED)


def proposed(*, ready: bool = True, **more: JsonValue) -> StepSnapshot:
    output = {"proposal": DIGEST, "diff": "-red\n+blue", "ready": ready, **more}
    return ran(calls("s1", "propose", task="go"), output=output)


async def after_proposal(
    *steps: StepSnapshot, said: str = "do", effects: tuple[RecordedEffect, ...] = (), commits: float = -4.0
) -> tuple[list[ToolCall | None], str]:
    """The calls that follow, and the answer, where the request is most likely an order, or a question; `commits` is the log-probability that
    it asks for a commit."""
    rules = (
        Rule(contains=IS_WANTED, text="both", likely=dict(ASKS)),
        Rule(contains="Say in one word what a request", text=said, likely={said: -0.1}),
        Rule(contains=INTENT, text="?", likely=words(edit=0.99) if said == "do" else words(ask=0.99)),
        Rule(contains=EXACT, text="yes", likely={"yes": commits, "no": -2.0}),
        Rule(contains="from what is shown above it", text="It was red."),
        Rule.model_validate({"json": {"answer": "From the decision."}}),
    )
    tools = Registry()
    for one in (LOOK, PROPOSE, APPLY, COMMIT):
        tools.register(WholeTool(one))
    run = replace(after_pass(1, *steps), effects=effects)
    found = (await decider_of(rules, tools)[0].evaluate(run, grant(10))).value
    return [action.step.tool_call for action in found.actions if action.step], found.evaluation.final_output


async def test_a_proposal_that_is_ready_is_made() -> None:
    """An order for which a tool proposes a change goes on with the tool that makes it; a question does not."""
    made = [ToolCall("apply", {"proposal": DIGEST})]
    assert (await after_proposal(proposed()))[0] == made
    assert (await after_proposal(proposed(), said="files")) == ([], "It was red.")


async def test_a_proposal_that_is_not_ready_is_only_told() -> None:
    """What a person should look at first is not made; the answer is what is said about it."""
    followed, answered = await after_proposal(
        proposed(ready=False, explanation="It is blue.", note="It fails.")
    )
    assert (followed, answered) == ([], "It is blue.\nIt fails.")


async def test_the_answer_after_a_proposal_was_made_is_its_explanation() -> None:
    """What was said about the change is the answer, with the files that the run changed."""
    done = replace(
        ran(calls("s2", "apply", proposal=DIGEST), output="a.py: blue"), recovery=Recovery.RECONCILE
    )
    effects = (RecordedEffect("changes.proposed", DIGEST), RecordedEffect("file.changed", "a.py"))
    followed, answered = await after_proposal(
        proposed(explanation="It was red.", note="Not tested."), done, effects=effects
    )
    assert (followed, answered) == ([], "It was red.\nNot tested.\na.py: changed")
    failed = ran(calls("s3", "commit", message="Blue"), error="nothing to commit")
    _, answered = await after_proposal(proposed(explanation="It was red."), done, failed, effects=effects)
    assert answered.startswith("It was red.\na.py: changed\ncommit: ")


async def test_another_change_after_a_proposal_is_reported_itself() -> None:
    """Of a proposal that was not made nothing is said when the run has changed something else."""
    for last in (ran(calls("s2", "apply", proposal="0" * 32), output="a.py: other"), CHANGED):
        step = replace(last, recovery=Recovery.RECONCILE)
        _, answered = await after_proposal(proposed(explanation="It was blue."), step)
        assert "blue" not in answered


@pytest.mark.parametrize(("commits", "calls_made"), [(-0.5, 0), (-0.1, 1)])
async def test_what_may_follow_is_done_if_it_is_asked_for(commits: float, calls_made: int) -> None:
    """A further tool that a change names is called with a member of its result, if the request surely asks for that, too."""
    output = {"files": ["a.py"], "message": "Blue"}
    done = replace(ran(calls("s2", "apply", proposal=DIGEST), output=output), recovery=Recovery.RECONCILE)
    followed, _ = await after_proposal(proposed(explanation="It was red."), done, commits=commits)
    assert followed == [ToolCall("commit", {"message": "Blue"})] * calls_made


async def test_an_answer_that_is_not_shown_is_left_out() -> None:
    """Where the changed file does not show what was asked for, the answer says what was done."""
    found, _ = await judged(CHANGED, READ, heard=ASKS, reply="?")
    assert found.evaluation.final_output == "added: rope"


async def test_an_order_that_asks_for_nothing_ends_with_its_report() -> None:
    """Nothing is read after a change that was all the person wanted."""
    found, _ = await judged(CHANGED, heard=ASKS_NOTHING)
    assert found.evaluation.final_output == "added: rope"


@pytest.mark.parametrize(
    ("answers", "wanted", "tool"),
    [
        (0.52, {"both": -0.2, "done": -1.9, "answer": -4.0}, "change"),
        (0.52, {"answer": -0.7, "both": -0.7}, ""),
        (0.99, {"both": -0.2, "done": -1.9, "answer": -4.0}, ""),  # it is clear that an answer is wanted
    ],
)
async def test_an_order_beside_a_question_is_carried_out(
    answers: float, wanted: Mapping[str, float], tool: str
) -> None:
    """A request that is most likely a question, and yet surely wants something done, is not over with the answer."""
    rules = (
        Rule(contains=IS_WANTED, text="both", likely=dict(wanted)),
        Rule(
            contains="Say in one word what a request",
            text="files",
            likely=words(files=answers, do=1 - answers),
        ),
        Rule(contains=INTENT, text="ask", likely=words(ask=answers, edit=1 - answers)),
        Rule(contains="from what is shown above it", text="It was 9."),
        Rule.model_validate({"json": {"change": {"path": "todo.txt"}}}),
    )
    tools = Registry()
    for one in (replace(LOOK, candidates=("path",)), CHANGE):
        tools.register(WholeTool(one))
    subject, _ = decider_of(rules, tools, invoker=Composing({}, values=("todo.txt",)))
    looked = ran(calls("s1", "look", path="todo.txt"), output="9")
    found = (await subject.evaluate(after_pass(1, looked), grant(10))).value
    called = [action.step.tool_call for action in found.actions if action.step]
    assert [call.tool for call in called if call] == ([tool] if tool else [])
    assert found.evaluation.final_output == ("" if tool else "It was 9.")
