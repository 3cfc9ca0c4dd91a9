"""Answers from what was looked up: when the results alone are asked, and when a decision goes on."""

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, ScriptedLLM
from aeond.capabilities.tools.registry import Registry
from aeond.domain.plans.evaluations import Evaluation
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Composition, CompositionView, Effect, ToolCall
from aeond.orchestration.decision.conversations.results_reply import ResultsReply
from aeond.orchestration.decision.decider import Decider
from tests.support.deciders import INTENT, Composing, Seen, WholeTool, decider_of, observing, words
from tests.support.judging import after_pass, ran
from tests.support.strategy import LOOK, TEXT, calls, grant, spec

SUBJECT = "Say in one word what a request"
TELL = "from what is shown above it"
KEEP = replace(spec("keep", {"note": TEXT}, ("note",), Effect.MEMORY), candidates=("note",))
SITUATION = Situation(time="Friday", files=(("boat.txt", "Ida"),), facts=(("gate", 7),))
LOOKED = ran(calls("s1", "look", path="boat.txt"), output="red sails")
AGAIN = ran(calls("s2", "look", path="club.md"), output="no noise")
QUESTION = {"files": -0.1, "do": -4.0}
NOTHING: Mapping[str, float] = {}


def decider(
    reply: str,
    likely: Mapping[str, float] = QUESTION,
    reply_likely: Mapping[str, float] = NOTHING,
    values: tuple[str, ...] = ("boat.txt", "club.md"),
    *,
    looks: bool = False,
    refusal: str = "",
    extra: tuple[Rule, ...] = (),
) -> tuple[Decider, ScriptedLLM]:
    rules = (
        *extra,
        Rule(contains=SUBJECT, text="files", likely=dict(likely)),
        Rule(contains=INTENT, text="ask", likely=dict(likely)),
        Rule(contains=TELL, text=reply, likely=dict(reply_likely)),
        Rule(contains="looked for and not found", text=refusal),
        *([Rule.model_validate({"json": {"look": {"path": "club.md"}}, "times": 1})] if looks else []),
        Rule.model_validate({"json": {"answer": "From the decision."}}),
    )
    tools = Registry()
    tools.register(WholeTool(replace(LOOK, candidates=("path",))))
    tools.register(WholeTool(KEEP))
    return decider_of(rules, tools, SITUATION, Composing({}, values=values))


def asked(*steps: StepSnapshot, request: str = "Which sails?") -> RunSnapshot:
    run = after_pass(1, *steps)
    return replace(run, request=replace(run.request, text=request))


async def answer(subject: Decider, run: RunSnapshot, llm_calls: int = 10) -> str:
    evaluation: Evaluation = (await subject.evaluate(run, grant(llm_calls))).value.evaluation
    return evaluation.final_output


async def next_call(subject: Decider, run: RunSnapshot) -> ToolCall | None:
    (action,) = (await subject.evaluate(run, grant(10))).value.actions
    return action.step.tool_call if action.step else None


async def test_a_question_is_answered_from_what_was_looked_up() -> None:
    """The model sees facts, time and results with their places above the request, and no tools; its reply is the answer."""
    subject, llm = decider("They are red.")
    assert await answer(subject, asked(LOOKED)) == "They are red."
    shown = str(llm.requests[-1].messages[-1].content)
    assert shown == "Remembered: gate = 7\n\nNow: Friday\n\nboat.txt:\nred sails\n\nRequest: Which sails?"
    assert len(llm.requests) == 2


async def test_an_answer_names_the_files_that_it_comes_from() -> None:
    """Below an answer stand the files with a word or number of it that neither request nor facts have, unless one of them names the
    file; an answer that follows instructions stays as it is."""
    built = ran(calls("s1", "look", path="boat.txt"), output="Ida, built 1988 by Hansen at gate 77")
    for reply, expected in (
        ("In 1988.", "In 1988.\n(boat.txt)"),
        ("By Hansen: see boat.txt.", "By Hansen: see boat.txt."),
        ("She was built long ago.", "She was built long ago."),
        ("At gate 77.", "At gate 77."),
    ):
        subject, _ = decider(reply)
        subject = observing(subject, Seen(replace(SITUATION, facts=(("gate", 77),))))
        assert await answer(subject, asked(built, AGAIN, request="When was Ida built?")) == expected
    subject, _ = decider("In 1988.")
    assert (
        await answer(subject, asked(built, AGAIN, request="In boat.txt, when was Ida built?")) == "In 1988."
    )
    template = asked(built)
    template = replace(template, request=replace(template.request, instructions="Be brief."))
    subject, _ = decider("", extra=(Rule.model_validate({"json": {"answer": "In 1988."}}),))
    assert await answer(subject, template) == "In 1988."


async def test_an_answer_names_no_file_for_a_word_that_another_one_explains() -> None:
    """Of several files that were read those are named which have together what the answer says, and none that shares only some of it."""
    offer = ran(calls("s1", "look", path="offer.txt"), output="The crane costs 400 euros a week")
    bill = ran(calls("s2", "look", path="bill.txt"), output="The crane costs 430 euros, paid to Hansen")
    rules = ran(calls("s3", "look", path="rules.txt"), output="Who uses the crane asks Omar")
    names = tuple((path, "") for path in ("offer.txt", "bill.txt", "rules.txt"))
    for reply, expected in (
        ("Hansen got 430 euros for the crane.", "(bill.txt)"),
        ("Hansen got 430 euros for the crane, ask Omar.", "(bill.txt, rules.txt)"),
    ):
        subject, _ = decider(reply, values=("offer.txt", "bill.txt", "rules.txt"))
        subject = observing(subject, Seen(replace(SITUATION, files=names)))
        run = asked(offer, bill, rules, request="What did we pay?")
        assert (await answer(subject, run)).splitlines()[-1] == expected


async def test_an_answer_names_all_files_that_were_read_as_one() -> None:
    """Where a result lists the files that it was computed from, all of them stand below the answer."""
    total = {"table": "total\n273.5", "files": ["boat.txt", "club.md"]}
    subject, _ = decider("273.5 euros.")
    run = asked(ran(calls("s1", "look", path="boat.txt"), output=total), request="How much so far?")
    assert await answer(subject, run) == "273.5 euros.\n(boat.txt, club.md)"


async def test_what_is_not_shown_is_looked_for_elsewhere() -> None:
    """Where the results may not show what was asked, another place is looked at, once; then the request is refused."""
    for reply, likely in (
        ("?", {}),
        ("? It is not shown.", {}),
        ("Blue.", {"Blue": -2.0, "?": -0.5}),
    ):
        subject, llm = decider(reply, reply_likely=likely, looks=True, refusal="It is not in boat.txt.")
        assert await next_call(subject, asked(LOOKED)) == ToolCall("look", {"path": "club.md"})
        assert "boat.txt" not in str(llm.requests[-1].schema)
        assert await answer(subject, asked(LOOKED, AGAIN)) == "It is not in boat.txt."
        shown = str(llm.requests[-1].messages[-1].content)
        assert shown == "Looked at: boat.txt, club.md\nRequest: Which sails?"


async def test_places_are_files_without_what_was_sought_in_them() -> None:
    """A refusal says which files were looked at, and the text that was sought only where a look named no file."""
    counted = ran(calls("s1", "look", path="boat.txt", query="SELECT colour FROM sails"), output="none")
    searched = ran(calls("s2", "look", text="red sail"), output="none")
    subject, llm = decider("?", refusal="It is not in boat.txt.")
    assert await answer(subject, asked(counted, searched)) == "It is not in boat.txt."
    shown = str(llm.requests[-1].messages[-1].content)
    assert shown == "Looked at: boat.txt, red sail\nRequest: Which sails?"


async def test_a_refusal_names_only_places_that_were_searched() -> None:
    """One that names none of the files that were looked at gives way to a plain one with those in view."""
    subject, _ = decider("?", refusal="I looked at the harbour's website, without success.")
    assert await answer(subject, asked(LOOKED, AGAIN)) == "I did not find it in boat.txt"


async def test_what_a_missing_file_says_is_not_invented() -> None:
    """A question about a file that does not exist is refused where what was looked at does not show the answer."""
    subject, llm = decider("?", values=("boat.txt",), refusal="There is no sails.txt.")
    run = asked(LOOKED, request="What does sails.txt say about red?")
    assert await answer(subject, run) == "There is no sails.txt."
    assert "Missing: sails.txt" in str(llm.requests[-1].messages[-1].content)


async def test_a_doubtful_answer_is_not_given() -> None:
    """Also an answer that is more likely shown than not leads to another look and then to a refusal; only a sure one is given."""
    doubtful = {"Blue": -0.1, "?": -2.5}
    subject, _ = decider("Blue.", reply_likely=doubtful, looks=True, refusal="It is not in boat.txt.")
    assert await next_call(subject, asked(LOOKED)) == ToolCall("look", {"path": "club.md"})
    assert await answer(subject, asked(LOOKED, AGAIN)) == "It is not in boat.txt."
    subject, _ = decider("Blue.", reply_likely={"Blue": -0.1, "?": -4.5})
    assert await answer(subject, asked(LOOKED)) == "Blue."


@pytest.mark.parametrize(
    ("reply", "odds", "given"),
    [("Number 7.", -4.5, True), ("Number 7.", -3.0, False), ("Blue.", -2.5, False)],
)
async def test_a_doubtful_fact_is_given_where_nothing_else_has_the_answer(
    reply: str, odds: float, *, given: bool
) -> None:
    """Before a refusal an answer that has the whole value of a remembered fact may be doubtful, but not more doubtful than shown."""
    subject, _ = decider(
        reply, reply_likely={reply[:4]: -0.1, "?": odds - 0.1}, looks=True, refusal="It is not in boat.txt."
    )
    assert await answer(subject, asked(LOOKED, AGAIN)) == (reply if given else "It is not in boat.txt.")


async def test_without_a_reply_the_decision_counts() -> None:
    """Where the model says nothing, also not that nothing was found, the next decision follows."""
    for reply, values in (("", ("boat.txt", "club.md")), ("?", ("boat.txt",))):
        subject, _ = decider(reply, values=values)
        assert await answer(subject, asked(LOOKED)) == "From the decision."


async def test_other_runs_are_decided_about() -> None:
    """A change that is surely wanted, a step that changed something or failed, a run with tools of its own and one without calls left go on with a decision."""
    failed = ran(calls("s1", "look", path="b"), error="no such file")
    kept = ran(calls("s2", "keep", note="red"), output="kept")
    template = asked(LOOKED)
    template = replace(template, request=replace(template.request, instructions="Be brief."))
    for run in (asked(failed), asked(LOOKED, kept), template):
        subject, _ = decider("They are red.")
        assert await answer(subject, run) == "From the decision."
    subject, _ = decider("They are red.", {"do": -0.1})
    assert await answer(subject, asked(LOOKED)) == "From the decision."
    subject, _ = decider("They are red.")
    assert await answer(subject, asked(LOOKED), llm_calls=2) == "From the decision."


async def test_more_than_an_answer_may_be_wanted() -> None:
    """Where a new file is named, the run goes on with a decision; an answer of its is the one that was found."""
    perhaps, request = words(files=0.7, do=0.3, ask=0.9), "Sails into sails.txt"
    subject, llm = decider("They are red.", perhaps, looks=True)
    assert await next_call(subject, asked(LOOKED, request=request)) == ToolCall("look", {"path": "club.md"})
    assert str(llm.requests[-1].messages[-1].content).endswith("Found: They are red.")
    subject, _ = decider("They are red.", perhaps)
    assert await answer(subject, asked(LOOKED, request=request)) == "They are red."


@pytest.mark.parametrize(
    ("output", "reply", "given"),
    [
        ("write to Ida@heron.example", "Her address is ida@heron.example.", True),
        ("Ida writes from heron.example", "Her address is ida@heron.example.", False),
        ("two sails @ 40 euros", "It is 2 @ 40 euros.", True),
    ],
)
async def test_an_address_is_not_put_together(output: str, reply: str, *, given: bool) -> None:
    """An answer with an e-mail address that is not in view is made up from a name, and is looked for elsewhere."""
    subject, _ = decider(reply, looks=True)
    run = asked(ran(calls("s1", "look", path="boat.txt"), output=output), request="Where do I write to Ida?")
    said = await answer(subject, run)
    assert said.startswith(reply) is given


async def test_a_repeated_request_is_no_answer() -> None:
    """Where the model only repeats the request, the results do not show what was asked for."""
    subject, _ = decider("which sails are up", looks=True)
    run = asked(LOOKED, request="Which sails are up?")
    assert await next_call(subject, run) == ToolCall("look", {"path": "club.md"})


async def test_one_word_of_the_request_may_be_the_answer() -> None:
    """An answer of one or two words that differs from the request in its signs alone is no repetition."""
    subject, _ = decider("C", looks=True)
    assert await answer(subject, asked(LOOKED, request="C++?")) == "C"


async def test_a_run_without_an_executed_step_is_decided_about() -> None:
    """Where no step was executed there are no results to answer from."""
    subject, _ = decider("They are red.")
    unexecuted = replace(LOOKED, state=StepState.INVALID, attempt=0)
    assert not unexecuted.executed
    assert await answer(subject, asked(unexecuted)) == "From the decision."


SELECT = replace(
    spec("select", {"path": TEXT, "query": TEXT}, ("path",)),
    candidates=("path",),
    composition=Composition(("query",), "Write the query.", ()),
)
SHORT = ran(calls("s1", "look", path="costs.csv"), output="rope,22")
LONG = ran(calls("s1", "look", path="costs.csv"), output="rope,22\n" * 2_000)
TABLES = (SHORT, LONG)
SUM = ToolCall("select", {"path": "costs.csv", "query": "SELECT SUM(euros) FROM costs"})


COMPUTE, DO = {"compute": -0.1, "do": -5.0}, {"do": -0.1}


def over_a_table(
    query: str,
    *replies: str,
    likely: Mapping[str, float] = COMPUTE,
    extra: tuple[Rule, ...] = (),
    situation: Situation = SITUATION,
) -> tuple[Decider, ScriptedLLM]:
    """What decides about a table, with these replies one after another."""
    rules = (
        *extra,
        Rule(contains=SUBJECT, text="compute", likely=dict(likely)),
        *(Rule(contains=TELL, text=reply, times=1) for reply in replies),
        Rule(contains="Write the query.", text=query),
        Rule.model_validate({"json": {"answer": "From the decision."}}),
    )
    tools = Registry()
    for one in (replace(LOOK, candidates=("path",)), SELECT):
        tools.register(WholeTool(one))
    view = CompositionView("CREATE TABLE costs (what, euros);", {"type": "string"}, may_lack=True)
    return decider_of(rules, tools, situation, Composing({}, ("costs.csv", *situation.nearest), view))


def about(*steps: StepSnapshot) -> RunSnapshot:
    return asked(*steps, request="How much in all?")


def selected(output: str = "", error: str = "") -> StepSnapshot:
    return ran(replace(calls("s2", "select"), tool_call=SUM), output=output, error=error)


@pytest.mark.parametrize("table", TABLES)
async def test_a_table_is_selected_from(table: StepSnapshot) -> None:
    """A small model does not answer from a table: it writes a query for it, and answers from what that finds, without the table in view."""
    subject, llm = over_a_table('"SELECT SUM(euros) FROM costs"', "44000")
    assert await next_call(subject, about(table)) == SUM
    assert "rope,22" not in str(llm.requests[-1].messages)
    assert await answer(subject, about(table, selected(output="44000"))) == "44000"
    assert "rope,22" not in str(llm.requests[-1].messages)


@pytest.mark.parametrize("table", TABLES)
async def test_a_table_is_read_where_no_query_is_written(table: StepSnapshot) -> None:
    """Without a query, or with one that fails, the answer comes from as much of the table as is shown."""
    for steps in ((table,), (table, selected(error="no such column: total"))):
        subject, llm = over_a_table("", "44000")
        assert await answer(subject, about(*steps)) == "44000"
        assert "rope,22" in str(llm.requests[-1].messages)
        assert "no such column" not in str(llm.requests[-1].messages)


@pytest.mark.parametrize(("has", "goes_on"), [(-0.05, False), (-0.4, True)])
async def test_a_table_that_lacks_what_is_asked_is_no_source(has: float, goes_on: bool) -> None:
    """A table that most likely has nothing for a query is no source: the next nearest file is read, and the answer comes from that alone; but not
    a table that the request names."""
    says = {'"': has, '""': math.log(1 - math.exp(has))}
    query = Rule(contains="Write the query.", text='"SELECT SUM(euros) FROM costs"', likely=says)
    near = replace(SITUATION, nearest=("costs.csv", "boats.csv"))
    subject, llm = over_a_table("", "44000", extra=(query,), situation=near)
    following = await next_call(subject, about(SHORT))
    assert following == (ToolCall("look", {"path": "boats.csv"}) if goes_on else SUM)
    assert await next_call(subject, asked(SHORT, request="How much in all is in costs.csv?")) == SUM
    if goes_on:
        other = ran(calls("s4", "look", path="boats.csv"), output="Ida,12")
        failed = ran(replace(calls("s5", "select"), tool_call=SUM), error="no such table")
        assert await answer(subject, about(SHORT, other, failed)) == "44000"
        assert "Ida,12" in str(llm.requests[-1].messages)
        assert "rope,22" not in str(llm.requests[-1].messages)


@pytest.mark.parametrize(("figure", "answered"), [("44000", "44000"), ("22", "From the table.")])
async def test_a_computed_figure_may_be_more_doubtful(figure: str, answered: str) -> None:
    """An answer with a figure that the query computed may be more doubtful than one with a number that the table has."""
    doubted = Rule(contains=TELL, text=figure, likely={"?": -2.2, figure: -0.2}, times=1)
    subject, _ = over_a_table("", "From the table.", extra=(doubted,))
    assert await answer(subject, about(SHORT, selected(output=f"total\n{figure}"))) == answered


async def test_a_query_that_does_not_show_the_answer_leads_to_the_table() -> None:
    """Where the selected rows do not show what was asked, the whole table may, if it is short enough to be shown."""
    subject, llm = over_a_table("", "?", "44000")
    assert await answer(subject, about(SHORT, selected(output="(empty)"))) == "44000"
    assert "rope,22" in str(llm.requests[-1].messages)
    subject, llm = over_a_table("", "?", "?", "44000")  # the third one from what is remembered
    assert await answer(subject, about(LONG, selected(output="(empty)"))) != "44000"


async def test_what_a_query_shows_whole_is_not_read_again() -> None:
    """A table that the result of the query has whole is not asked again where the reply is doubtful."""
    subject, llm = over_a_table("", "?", "?", "44000")  # the second one from what is remembered
    await answer(subject, about(SHORT, selected(output="the file:\nrope,22\nrows: 0")))
    assert sum(TELL in str(request.messages) for request in llm.requests) == 2


async def test_a_table_is_not_selected_from_after_a_query_that_failed() -> None:
    """Where a query failed and the table is read then, the answer comes from it: a small model would write the same query again."""
    subject, llm = over_a_table('"SELECT SUM(euros) FROM costs"', "44000")
    failed = replace(selected(error="no such column: total"), step=replace(selected().step, step_id="s0"))
    assert await answer(subject, about(failed, SHORT)) == "44000"
    assert "rope,22" in str(llm.requests[-1].messages)


async def test_nothing_is_selected_for_a_change_alone() -> None:
    """A request that surely only wants a change goes on with a decision after the table was read."""
    subject, _ = over_a_table('"SELECT SUM(euros) FROM costs"', "44000", likely=DO)
    assert await answer(subject, about(SHORT)) == "From the decision."


async def test_a_new_file_is_made_from_selected_rows() -> None:
    """Where a change is surely wanted and the request names a new file, rows are selected from the table that was read for it."""
    subject, _ = over_a_table('"SELECT SUM(euros) FROM costs"', likely=DO)
    run = asked(SHORT, request="Put the sum of all costs into sum.txt.")
    assert await next_call(subject, run) == SUM


def test_a_selection_is_a_look_at_the_place_that_was_read() -> None:
    """A query is a look of its own only where its table was not read before: a small model that finds nothing goes from table to table."""
    _, llm = over_a_table("")
    reply = ResultsReply(llm, lambda call: call is not None and call.tool == "select")
    elsewhere = ran(calls("s3", "select", path="boats.csv", query="SELECT 1"), output="1")
    assert reply.places([SHORT, selected()]) == 1
    assert reply.places([SHORT, selected(), elsewhere]) == reply.places([elsewhere, SHORT]) == 2
