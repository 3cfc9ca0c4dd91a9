from dataclasses import replace

from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Composition, Effect, ToolCall
from aeond.orchestration.decision.interfaces import Offer
from aeond.orchestration.decision.offers import MAX_RETRIES, Offers
from aeond.orchestration.execution.tool_visibility import MAX_SHOWN, MAX_WHOLE
from tests.support.doubles import PlainInvoker
from tests.support.judging import after_pass, ran
from tests.support.strategy import ADD, LOOK, calls, registry, run_of, spec

ASK = replace(spec("ask_person", {"prompt": {"type": "string"}}, ("prompt",)), asks_user=True)
TAKEN = spec("answer", {})
RECALL = replace(spec("recall", {}), shows_facts=True)
LIST = replace(spec("list", {}), shows_names=True)
IN_VIEW = Situation(facts=(("boat", "Ida"),))


def offers() -> Offers:
    return Offers(registry(ADD, LOOK, ASK, RECALL, LIST, TAKEN), PlainInvoker({}))


async def test_the_user_is_asked_only_after_a_look() -> None:
    """The first decision offers no question; a later one does."""
    first = await offers().first(run_of(), IN_VIEW)
    assert [one.name for one in first.tools] == ["add", "list", "look"]
    assert first.plan
    later = await offers().next(after_pass(1, ran(calls("s1", "look", path="a"))), IN_VIEW)
    assert [one.name for one in later.tools] == ["add", "ask_person", "list", "look"]
    assert not later.plan


async def test_a_question_without_an_answer_is_not_repeated() -> None:
    """A person who did not answer is left in peace."""
    asked = ran(calls("s1", "ask_person", prompt="Which?"), error="no answer came in time")
    later = await offers().next(after_pass(1, asked), IN_VIEW)
    assert "ask_person" not in [one.name for one in later.tools]


async def test_a_first_failure_is_no_end() -> None:
    """After one of the first failures a run can try again or look elsewhere, and change nothing else; then it may end."""
    failed = ran(calls("s1", "look", path="a"), error="no such file")
    once = await offers().next(after_pass(1, failed), IN_VIEW)
    assert ([one.name for one in once.tools], once.answer) == (["list", "look"], False)
    again = [
        ran(calls(f"s{number}", "look", path="a"), error="no such file") for number in range(MAX_RETRIES + 1)
    ]
    assert (await offers().next(after_pass(1, *again), IN_VIEW)).answer
    recovered = await offers().next(after_pass(1, failed, ran(calls("s2", "look", path="b"))), IN_VIEW)
    assert recovered.answer


async def test_what_is_to_be_computed_is_looked_up_first() -> None:
    """After a calculation that failed twice, tools that look are offered, and those that compute only if the request gives numbers."""
    once = ran(calls("s1", "add", sum="what grows"), error="not a number")
    again = ran(calls("s2", "add", sum="what does"), error="not a number")
    assert "add" in [one.name for one in (await offers().next(after_pass(1, once), IN_VIEW)).tools]
    failed = after_pass(1, once, again)
    assert [one.name for one in (await offers().next(failed, IN_VIEW)).tools] == ["list", "look"]
    given = replace(failed, request=replace(failed.request, text="3 lamps at 14"))
    assert "add" in [one.name for one in (await offers().next(given, IN_VIEW)).tools]


async def test_names_in_view_are_not_listed() -> None:
    """Names of files can be listed unless all of them are in view, also after a failure."""
    run = after_pass(1, ran(calls("s1", "look", path="a"), error="no such file"))
    files = (("a", "1"), ("b", "2"))
    for situation, listed in (
        (replace(IN_VIEW, files=files), []),
        (replace(IN_VIEW, files=files, more_files=True), ["list"]),
        (IN_VIEW, ["list"]),
    ):
        assert [one.name for one in (await offers().next(run, situation)).tools] == [*listed, "look"]
        assert [one.name for one in (await offers().first(run_of(), situation)).tools] == [
            "add",
            *listed,
            "look",
        ]


async def test_a_restricted_run_is_offered_its_own_tools() -> None:
    """A child run sees the tools of its Template, and may plan its work."""
    run = run_of()
    run = replace(run, request=replace(run.request, tools=("add",), instructions="Add."))
    offer = await offers().first(run, IN_VIEW)
    assert [one.name for one in offer.tools] == ["add"]
    assert offer.plan


def test_a_tool_with_the_name_of_an_action_is_not_offered() -> None:
    """`answer`, `cannot` and `plan` mean the same for every run."""
    assert "answer" not in [one.name for one in offers().usual()]


async def test_facts_in_view_are_not_looked_up() -> None:
    """Tools that show remembered facts are offered only if some facts are not in view, so not with an empty memory."""
    for situation in (IN_VIEW, replace(IN_VIEW, more_facts=True), Situation()):
        looked_up = situation.more_facts
        first = await offers().first(run_of(), situation)
        later = await offers().next(after_pass(1, ran(calls("s1", "look", path="a"))), situation)
        assert ["recall" in [one.name for one in offer.tools] for offer in (first, later)] == [looked_up] * 2


def test_what_exists_is_read_by_its_name() -> None:
    """The tool is called that reads it and needs nothing else: not one that lists names, writes an argument or changes something."""
    look = replace(LOOK, candidates=("path",))
    listing = replace(look, name="list", shows_names=True)
    asking = replace(look, name="ask", composition=Composition(("depth",), "Ask.", ()))
    changing = replace(look, name="shred", effect=Effect.WRITE_CONTAINED)
    tools = (listing, asking, changing, look)
    offer = Offer(tools, {(one.name, "path"): ("a",) for one in tools})
    assert offer.reading("a") == ToolCall("look", {"path": "a"})
    assert offer.reading("b") is None
    assert replace(offer, tools=tools[:3]).reading("a") is None


async def test_beside_many_tools_the_informed_ones_are_always_described() -> None:
    """Of more tools than are shown together those that know what is here are offered to every run, and described alone where no other is
    offered; the description of a run without restrictions is theirs."""
    look = replace(LOOK, shows_names=True)
    many = [spec(f"tool{number}", {"text": {"type": "string"}}, ("text",)) for number in range(MAX_WHOLE)]
    subject = Offers(registry(look, *many), PlainInvoker({}))
    offer = await subject.first(run_of(), IN_VIEW)
    assert "look" in [one.name for one in offer.tools]
    assert len(offer.tools) == MAX_SHOWN + 1
    assert subject.described(run_of(), offer) == offer.tools
    assert subject.described(run_of(), offer.known) == subject.usual() == (look,)
    few = Offers(registry(look, *many[1:]), PlainInvoker({}))
    assert len(few.described(run_of(), offer.known)) == MAX_WHOLE
