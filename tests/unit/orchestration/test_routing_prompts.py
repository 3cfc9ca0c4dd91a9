from aeond.domain.messages import Role
from aeond.domain.plans import StepState
from aeond.domain.values import JsonValue
from aeond.orchestration.prompts import tools_text
from aeond.orchestration.route_examples import examples_for
from aeond.orchestration.routing_prompts import call_turns, results_length, routing_messages, routing_opening
from tests.support.strategy import SPECS, calls, ended, run_of, run_with, spec, validator

READ = spec("read_file", {"path": {"type": "string"}}, ("path",))
SPECIFICATIONS = (*SPECS, READ)
HELLO = run_of(request="Hello?")


def test_the_prompt_begins_with_the_tools() -> None:
    """The part that all prompts about a run share comes first: the tools as they are registered."""
    first, *_, last = routing_messages(HELLO, routing_opening(SPECIFICATIONS, ()))
    assert str(first.content).startswith(tools_text(SPECIFICATIONS))
    assert (last.role, last.content) == (Role.USER, "Hello?")


def test_the_session_comes_before_the_request() -> None:
    """What the session brought is told with the request, behind everything that stays the same."""
    run = run_of(request="And hers?", resolved_text="What is Ann's name?", context="My sister is Ann.")
    *_, last = routing_messages(run, routing_opening(SPECIFICATIONS, ()))
    assert last.content == "What was said before:\nMy sister is Ann.\n\nWhat is Ann's name?"


def test_examples_are_earlier_turns() -> None:
    """User and model take turns through every example, results included, up to the request."""
    examples = examples_for(SPECIFICATIONS, validator(*SPECIFICATIONS))
    system, *turns = routing_messages(HELLO, routing_opening(SPECIFICATIONS, examples))
    assert system.role is Role.SYSTEM
    assert [turn.role for turn in turns] == [Role.USER, Role.AGENT] * (len(turns) // 2) + [Role.USER]
    assert any(str(turn.content).startswith("Result: {") for turn in turns)


def test_a_template_adds_its_instructions() -> None:
    """A child run's instructions stand behind the rules."""
    plain, told = (routing_opening(SPECS, (), text)[0].content for text in ("", "Be brief."))
    assert told == f"{plain}\n\nBe brief."


def test_calls_and_results_are_turns() -> None:
    """What was called and what came of it follows, in order, failures in words; what has not run is left out."""
    run = run_with(
        ended(calls("s1", "look", path="garden"), "roses"),
        ended(calls("s2", "look", path="park"), state=StepState.FAILED, error="there is no park"),
    )
    turns = [(turn.role, turn.content) for turn in call_turns(run, 1_000)]
    assert turns == [
        (Role.AGENT, '{"route":"direct","tool":"look","arguments":{"path":"garden"}}'),
        (Role.USER, 'Result: "roses"'),
        (Role.AGENT, '{"route":"direct","tool":"look","arguments":{"path":"park"}}'),
        (Role.USER, "Result: no result, failed: there is no park"),
    ]


def test_long_results_are_shortened_visibly() -> None:
    """A result beyond its room loses its middle, and the model is told how much."""
    run = run_with(ended(calls("s1", "look", path="garden"), "rose " * 1_000))
    assert results_length(run) > 5_000
    _, result = call_turns(run, 200)
    assert "characters left out" in str(result.content)
    assert len(str(result.content)) < 300


def test_results_are_told_in_fewer_words() -> None:
    """A list of like things is a table, and what only says that a result is whole is left out; a cut one says so."""
    trees: list[JsonValue] = [{"name": name, "size": 3, "old": True} for name in ("oak", "elm")]
    pairs: list[JsonValue] = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    found: dict[str, JsonValue] = {
        "truncated": False,
        "left_out": [],
        "trees": trees,
        "pairs": pairs,
    }
    cut: dict[str, JsonValue] = {"text": "roses", "truncated": True, "next_offset": 5}
    run = run_with(
        ended(calls("s1", "look", path="garden"), found), ended(calls("s2", "look", path="x"), cut)
    )
    _, whole, _, part = (turn.content for turn in call_turns(run, 1_000))
    table = '[["name","size","old"],["oak",3,true],["elm",3,true]]'
    assert whole == f'Result: {{"trees":{table},"pairs":[{{"a":1,"b":2}},{{"a":3,"b":4}}]}}'
    assert part == 'Result: {"text":"roses","truncated":true,"next_offset":5}'
