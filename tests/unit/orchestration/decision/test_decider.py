"""Decisions after results: what counts as done before."""

from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, ScriptedLLM
from aeond.capabilities.tools.registry import Registry
from aeond.domain.plans.profiles import Route
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Composition, CompositionView, Effect, Recovery, ToolCall, ToolSpec
from aeond.orchestration.decision.decider import Decider
from aeond.orchestration.interfaces import Judgement, RouteChoice
from aeond.orchestration.prompts.decision_prompts import FOUND
from tests.support.deciders import (
    INTENT,
    IS_WANTED,
    SEARCHES,
    Composing,
    Seen,
    WholeTool,
    decider_of,
    observing,
    words,
)
from tests.support.judging import after_pass, ran
from tests.support.strategy import LOOK, STORE, TEXT, calls, grant, registry, run_of, spec

CHANGE = replace(
    spec("change", {"path": TEXT, "notes": TEXT}, ("path", "notes"), Effect.WRITE_CONTAINED),
    candidates=("path",),
    composition=Composition(("notes",), "Say what changes.", ()),
)
CHANGED = ran(calls("s1", "change", path="list", notes="a"), output="now: a", recovery=Recovery.RECONCILE)


async def judged_after_change(path: str) -> Judgement:
    """What follows in a run that has changed `list`, where the model would change `path`."""
    rules = (
        Rule(contains="Say in one word", text="do", likely={"do": -0.1}),
        Rule.model_validate({"contains": "Say what changes.", "json": "b"}),
        Rule.model_validate({"json": {"change": {"path": path}}, "times": 1}),
        Rule.model_validate({"json": {"answer": "Done."}}),
    )
    tools = registry(LOOK)
    tools.register(WholeTool(CHANGE))
    view = CompositionView("list:\na", TEXT)
    decider, _ = decider_of(rules, tools, Situation(), Composing({}, ("list", "other"), view))
    return (await decider.evaluate(after_pass(1, CHANGED), grant(10))).value


async def test_a_file_is_changed_once() -> None:
    """A second change of the file that was just changed is taken for a repetition, and the report of the first one is the answer; another
    file can be changed."""
    again = await judged_after_change("list")
    assert not again.actions
    assert again.evaluation.final_output == "now: a"
    other = await judged_after_change("other")
    assert other.actions[0].step is not None
    assert other.actions[0].step.tool_call == ToolCall("change", {"path": "other", "notes": "b"})


async def test_what_a_run_has_changed_it_does_not_remove() -> None:
    """A removal of the file that the run has just changed is decided again without the tool; that of another file is carried out."""
    delete = replace(
        spec("delete", {"path": TEXT}, ("path",), Effect.WRITE_CONTAINED),
        candidates=("path",),
        for_part="change",
    )
    for path, removed in (("list", False), ("other", True)):
        rules = (
            Rule(contains="Say in one word what a removal", text="whole", likely={"whole": -0.1}),
            Rule(contains="Say in one word", text="do", likely={"do": -0.1}),
            Rule.model_validate({"json": {"delete": {"path": path}}, "times": 1}),
            Rule.model_validate({"json": {"answer": "Done."}}),
        )
        tools = Registry()
        for one in (CHANGE, delete):
            tools.register(WholeTool(one))
        decider, _ = decider_of(rules, tools, Situation(), Composing({}, ("list", "other")))
        judged = (await decider.evaluate(after_pass(1, CHANGED), grant(10))).value
        made = [action.step.tool_call for action in judged.actions if action.step]
        assert made == ([ToolCall("delete", {"path": path})] if removed else [])


async def test_what_was_found_out_is_used_for_a_change() -> None:
    """Where a look was made for a change, its answer stands below the result when the next action is chosen and when an argument is
    written, and above the report of the change in the answer."""
    rules = (
        Rule(contains="Say in one word what a request", text="do", likely={"do": -0.2, "files": -1.7}),
        Rule(contains="from what is shown above it", text="3 * 14 = 40 euros"),
        Rule.model_validate({"contains": "Say what changes.", "json": "42"}),
        Rule.model_validate({"json": {"change": {"path": "list"}}, "times": 1}),
    )
    tools = Registry()
    for one in (replace(LOOK, candidates=("path",)), CHANGE):
        tools.register(WholeTool(one))
    view = CompositionView("list:\na", TEXT)
    decider, llm = decider_of(rules, tools, Situation(), Composing({}, ("list", "other"), view))
    means = decider.means
    decider = Decider(replace(means, composer=replace(means.composer, compute=lambda _: 42)))
    looked = ran(calls("s1", "look", path="other"), output="3 lamps at 14")
    judged = (await decider.evaluate(after_pass(1, looked), grant(10))).value
    assert judged.actions[0].step is not None
    assert judged.actions[0].step.tool_call == ToolCall("change", {"path": "list", "notes": "42"})
    found = "3 * 14 = 42 euros"
    assert str(llm.requests[-2].messages[-1].content).endswith(f"3 lamps at 14\n{FOUND}{found}")
    assert f"answer: {found}" in str(llm.requests[-1].messages[-1].content)
    judged = (await decider.evaluate(after_pass(1, looked, CHANGED), grant(10))).value
    assert judged.evaluation.final_output == f"{found}\nnow: a"


async def test_the_file_that_a_question_is_about_is_read_at_once() -> None:
    """Where a question is clearly about one file, it is read without a decision; not for a change, a new file or what only the author
    of another tool knows."""
    near = Situation(files=(("a.txt", "Ida"), ("b.txt", "Otto")), nearest=("b.txt",))
    question, change = {"files": -0.1, "do": -3.0}, {"do": -0.1, "files": -3.0}
    read, other = ToolCall("look", {"path": "b.txt"}), ToolCall("look", {"path": "a.txt"})
    assert await first_call(near, question) == read
    assert await first_call(replace(near, nearest=()), question) == other
    assert await first_call(replace(near, nearest=("c.txt",)), question) == other
    assert await first_call(near, change) == other
    assert await first_call(near, question, "Who is it, for names.txt?") == other
    assert await first_call(near, question, extra=STORE) == other


async def test_a_question_that_shares_no_word_with_a_file_finds_it_by_words_of_the_model() -> None:
    """The file is read without a decision, and the next one is found by the same words."""
    searched = Rule(contains=SEARCHES, text="boat, ship")
    rules = (
        searched,
        Rule(contains="Say in one word what a request", text="?", likely={"files": -0.1, "do": -3.0}),
        Rule(contains="from what is shown above it", text="?"),
    )
    tools = Registry()
    tools.register(WholeTool(replace(LOOK, candidates=("path",))))
    files = Situation(files=(("a.txt", "Ida"), ("b.txt", "Otto")))
    decider, llm = decider_of(rules, tools, files, Composing({}, ("a.txt", "b.txt")))
    near = Seen(files, {"boat": ("b.txt", "a.txt")})
    decider = observing(decider, near)
    chosen = await decider.choose(run_of(request="Wer?"), grant(10), lambda _: None)
    assert chosen.value.tool_call == ToolCall("look", {"path": "b.txt"})
    first = ran(calls("s1", "look", path="b.txt"), output="Ida")
    judged = (await decider.evaluate(replace(after_pass(1, first), resolved_text="Wer?"), grant(10))).value
    assert judged.actions[0].step is not None
    assert judged.actions[0].step.tool_call == ToolCall("look", {"path": "a.txt"})
    assert sum(SEARCHES in str(one.messages[0].content) for one in llm.requests) == 1


async def test_a_question_near_no_file_is_answered_from_facts_that_show_it() -> None:
    """A remembered thing is answered at once, without a look into files, with the whole value of a fact also where that is less sure, most
    for a fact that the request names; where it is not shown, the files are searched.
    """

    async def chosen_for(shown: str, not_shown: float = -20.0, request: str = "Wo?") -> RouteChoice:
        rules = (
            Rule(contains=SEARCHES, text="boat"),
            Rule(contains="Say in one word what a request", text="?", likely={"files": -0.1, "do": -3.0}),
            Rule(contains="from what is shown above it", text=shown, likely={"?": not_shown, "Berth": -0.1}),
        )
        tools = Registry()
        tools.register(WholeTool(replace(LOOK, candidates=("path",))))
        remembered = Situation(files=(("a.txt", "Ida"),), facts=(("my_berth", 15),))
        decider, llm = decider_of(rules, tools, remembered, Composing({}, ("a.txt",)))
        near = Seen(remembered, {"boat": ("a.txt",)})
        decider = observing(decider, near)
        chosen = (await decider.choose(run_of(request=request), grant(10), lambda _: None)).value
        (asked,) = (
            one for one in llm.requests if "from what is shown above it" in str(one.messages[0].content)
        )
        assert "berth" in str(asked.messages[-1].content)
        assert "a.txt" not in str(asked.messages[-1].content)
        return chosen

    for said, not_shown, request in (
        ("Berth 15.", -20.0, "Wo?"),
        ("Berth 15.", -4.5, "Wo?"),
        ("Berth 15.", -2.5, "Our berth?"),
        ("Berth of Ida.", -20.0, "Wo?"),
    ):
        answered = await chosen_for(said, not_shown, request)
        assert (answered.route, answered.answer) != (Route.DIRECT, None)
        assert answered.answer is not None
        assert answered.answer.text == said
    look = ToolCall("look", {"path": "a.txt"})
    assert (await chosen_for("?")).tool_call == look
    for said, not_shown, request in (
        ("Berth 15.", -3.0, "My place?"),
        ("Berth 15.", -1.5, "Our berth?"),
        ("Berth of Ida.", -5.0, "Our berth?"),
    ):
        assert (await chosen_for(said, not_shown, request)).tool_call == look


async def first_call(
    situation: Situation, likely: dict[str, float], request: str = "Who?", extra: ToolSpec | None = None
) -> ToolCall | None:
    """The first call, where the model would look at `a.txt`."""
    rules = (
        Rule(contains="Say in one word what a request", text="?", likely=likely),
        Rule.model_validate({"json": {"look": {"path": "a.txt"}}}),
    )
    tools = Registry()
    for one in (replace(LOOK, candidates=("path",)), *([extra] if extra else [])):
        tools.register(WholeTool(one))
    decider, _ = decider_of(rules, tools, situation, Composing({}, ("a.txt", "b.txt")))
    chosen = await decider.choose(run_of(request=request), grant(10), lambda _: None)
    return chosen.value.tool_call


async def test_the_next_file_is_read_where_the_nearest_does_not_show_the_answer() -> None:
    """It is read without a decision, once; then it is said that nothing was found."""
    rules = (
        Rule(contains="Say in one word what a request", text="?", likely={"files": -0.1, "do": -3.0}),
        Rule(contains="from what is shown above it", text="?"),
        Rule(contains="looked for and not found", text="It is not in a.txt."),
    )
    tools = Registry()
    tools.register(WholeTool(replace(LOOK, candidates=("path",))))
    near = Situation(files=(("a.txt", "Ida"), ("b.txt", "Otto")), nearest=("b.txt", "a.txt"))
    decider, _ = decider_of(rules, tools, near, Composing({}, ("a.txt", "b.txt")))
    first, second = (ran(calls(f"s{path}", "look", path=path), output="Ida") for path in ("b.txt", "a.txt"))
    judged = (await decider.evaluate(after_pass(1, first), grant(10))).value
    assert judged.actions[0].step is not None
    assert judged.actions[0].step.tool_call == ToolCall("look", {"path": "a.txt"})
    judged = (await decider.evaluate(after_pass(1, first, second), grant(10))).value
    assert judged.evaluation.final_output == "It is not in a.txt."


async def test_what_no_file_shows_is_answered_if_the_model_surely_knows_it() -> None:
    """The answer of general knowledge is given in place of a refusal, also where the word for the subject was against it."""

    async def said(some: float) -> str:
        rules = (
            Rule(contains="Say in one word what a request", text="?", likely={"files": -0.1, "know": -3.0}),
            Rule(contains="from what is shown above it", text="?"),
            Rule(contains="general knowledge alone", text="?", likely={"Mel": -some, "?": some - 2.5}),
            Rule(contains="looked for and not found", text="It is not in a.txt."),
            Rule(contains="can only talk", text="Melville wrote it."),
        )
        tools = Registry()
        tools.register(WholeTool(replace(LOOK, candidates=("path",))))
        near = Situation(files=(("a.txt", "Ida"),), nearest=("a.txt",))
        decider, _ = decider_of(rules, tools, near, Composing({}, ("a.txt",)))
        looked = after_pass(1, ran(calls("s1", "look", path="a.txt"), output="Ida"))
        return str((await decider.evaluate(looked, grant(10))).value.evaluation.final_output)

    assert await said(0.1) == "Melville wrote it."
    assert await said(0.8) == "It is not in a.txt."


async def test_all_near_files_that_a_request_names_are_read_before_the_answer() -> None:
    """A second file that is named is read first, and not asked for what the first one shows."""
    rules = (
        Rule(contains="Say in one word what a request", text="?", likely={"files": -0.1, "do": -3.0}),
        Rule(contains="from what is shown above it", text="They differ."),
    )
    tools = Registry()
    tools.register(WholeTool(replace(LOOK, candidates=("path",))))
    near = Situation(files=(("a.txt", "Ida"), ("b.txt", "Otto")), nearest=("b.txt", "a.txt"))
    decider, llm = decider_of(rules, tools, near, Composing({}, ("a.txt", "b.txt")))
    first, second = (ran(calls(f"s{path}", "look", path=path), output="Ida") for path in ("b.txt", "a.txt"))

    def asked(*steps: StepSnapshot) -> RunSnapshot:
        run = after_pass(1, *steps)
        return replace(run, request=replace(run.request, text="Compare a.txt and b.txt."))

    judged = (await decider.evaluate(asked(first), grant(10))).value
    assert judged.actions[0].step is not None
    assert judged.actions[0].step.tool_call == ToolCall("look", {"path": "a.txt"})
    assert not llm.requests
    judged = (await decider.evaluate(asked(first, second), grant(10))).value
    assert judged.evaluation.final_output == "They differ."


async def test_what_was_to_be_found_out_is_followed_by_the_change() -> None:
    """Once it is found, only tools that change something are left where a change is surely wanted too; where a new file is named, the
    run goes on with all actions."""
    looked = ran(calls("s1", "look", path="other"), output="3 lamps at 14")
    write = replace(spec("write", {"name": TEXT}, ("name",), Effect.WRITE_CONTAINED), candidates=("name",))
    for request, odds, tool in (
        ("Sum it up.", words(do=0.7, files=0.3, edit=0.9), "change"),
        ("The sum, into sum.txt.", words(do=0.1, files=0.9, ask=0.9), "write"),
    ):
        rules = (
            Rule(contains="Say in one word what a request", text="?", likely=odds),
            Rule(contains=INTENT, text="?", likely=odds),
            Rule(contains="from what is shown above it", text="42 euros"),
            Rule.model_validate({"contains": "Say what changes.", "json": "42"}),
            Rule.model_validate({"json": {tool: {"path" if tool == "change" else "name": "list"}}}),
        )
        tools = Registry()
        for one in (replace(LOOK, candidates=("path",)), CHANGE, write):
            tools.register(WholeTool(one))
        files = Situation(files=(("list", "a"), ("other", "3 lamps")))
        view = CompositionView("list:\na", TEXT)
        decider, llm = decider_of(rules, tools, files, Composing({}, ("list", "other"), view))
        run = after_pass(1, looked)
        run = replace(run, request=replace(run.request, text=request))
        judged = (await decider.evaluate(run, grant(10))).value
        assert judged.actions[0].step is not None
        assert judged.actions[0].step.tool_call is not None
        assert judged.actions[0].step.tool_call.tool == tool
        schema = next(str(one.schema) for one in llm.requests if one.schema is not None)
        assert ("answer" in schema) is (tool == "write")


SUBJECT = "Say in one word what a request"
ORDER, NO_ORDER = "Keep it as hall.", "In euros please."
KEEP = replace(spec("keep", {"note": TEXT}, ("note",), Effect.MEMORY), candidates=("note",))
KEPT = replace(ran(calls("s2", "keep", note="hall = 42"), output="hall = 42"), recovery=Recovery.RECONCILE)


def asked_and_ordered(*rules: Rule, about: dict[str, float]) -> tuple[Decider, ScriptedLLM]:
    """A decider for a question about this, behind which there is an order, or none."""
    tools = Registry()
    for one in (replace(LOOK, candidates=("path",)), KEEP):
        tools.register(WholeTool(one))
    behind = {ORDER: words(do=0.9, tell=0.9), NO_ORDER: words(files=0.9, ask=0.9)}
    answered = (
        *(
            Rule(contains=one, pattern=rf"Request: {said}\Z", text="?", likely=likely)
            for one in (SUBJECT, INTENT)
            for said, likely in behind.items()
        ),
        *(Rule(contains=one, text="?", likely=about) for one in (SUBJECT, INTENT)),
        *rules,
        Rule.model_validate({"json": {"keep": {"note": "hall = 42 euros"}}}),
    )
    return decider_of(answered, tools, Situation(), Composing({}, ("list",)))


def asking(run: RunSnapshot, rest: str) -> RunSnapshot:
    return replace(run, request=replace(run.request, text=f"What is it? {rest}"))


@pytest.mark.parametrize(("rest", "kept"), [(ORDER, True), (NO_ORDER, False)])
async def test_an_order_behind_a_question_is_carried_out_once_the_answer_is_found(
    rest: str, *, kept: bool
) -> None:
    """What is asked is answered from the look first, the order is decided about by itself, below the answer, and the answer of the run says
    both; what is no order changes nothing."""
    shows = Rule(contains="from what is shown above it", text="42 euros")
    decider, llm = asked_and_ordered(shows, about=words(files=0.9, ask=0.9))
    run = asking(after_pass(1, ran(calls("s1", "look", path="list"), output="3 lamps at 14")), rest)
    judged = (await decider.evaluate(run, grant(10))).value
    if not kept:
        assert judged.evaluation.final_output == "42 euros"
        return
    assert judged.actions[0].step is not None
    assert judged.actions[0].step.tool_call == ToolCall("keep", {"note": "hall = 42 euros"})
    seen = str(llm.requests[-1].messages[-1].content)
    assert "User: What is it?\nAssistant: 42 euros" in seen
    assert seen.endswith(f"Request: {ORDER}")
    done = asking(after_pass(1, *run.steps.values(), KEPT), rest)
    judged = (await decider.evaluate(done, grant(10))).value
    assert judged.evaluation.final_output == "42 euros\nhall = 42"


@pytest.mark.parametrize(
    ("whole", "behind", "kept"), [(-2.0, -3.5, True), (-2.0, -1.5, False), (-1.0, -4.0, False)]
)
async def test_an_order_is_one_in_its_request_and_by_itself(
    whole: float, behind: float, *, kept: bool
) -> None:
    """What stands behind a question and reads like an order ("It should be in the hall file.") is one only where the whole request and these
    words together are hardly for an answer alone."""

    def wanted(answer: float, pattern: str = "") -> Rule:
        likely = {"answer": answer, "both": -0.1}
        return Rule(contains=IS_WANTED, pattern=pattern, text="both", likely=likely)

    asked = (wanted(behind, rf"Request: {ORDER}\Z"), wanted(whole))
    shows = Rule(contains="from what is shown above it", text="42 euros")
    decider, _ = asked_and_ordered(*asked, shows, about=words(files=0.9, ask=0.9))
    run = asking(after_pass(1, ran(calls("s1", "look", path="list"), output="3 lamps at 14")), ORDER)
    judged = (await decider.evaluate(run, grant(10))).value
    assert bool(judged.actions) is kept


@pytest.mark.parametrize("rest", [ORDER, NO_ORDER])
async def test_an_order_behind_a_question_that_needs_no_look_is_carried_out(rest: str) -> None:
    """A question that is answered at once is followed by the call for the order; without one its answer is shown and ends the run."""
    knows = (
        Rule(contains="from general knowledge alone", text="42", likely={"42": -0.01, "?": -5.0}),
        Rule(contains="can only talk", text="42 euros"),
    )
    decider, _ = asked_and_ordered(*knows, about=words(know=0.9, ask=0.9))
    shown: list[str] = []
    choice = (await decider.choose(asking(run_of(), rest), grant(10), shown.append)).value
    if rest == ORDER:
        assert choice == RouteChoice(Route.DIRECT, ToolCall("keep", {"note": "hall = 42 euros"}))
        assert shown == []
        return
    assert choice.answer is not None
    assert shown == [choice.answer.text] == ["42 euros"]
