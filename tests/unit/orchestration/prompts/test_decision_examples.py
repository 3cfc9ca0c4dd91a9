from dataclasses import replace

from aeond.orchestration.prompts.decision_examples import examples_for, tools_shown
from tests.support.strategy import ADD, spec, validator

READ = spec("read_file", {"path": {"type": "string"}}, ("path",))


def test_examples_show_only_tools_that_there_are() -> None:
    """Of the conversations those stay whose every call the run could make."""
    examples = examples_for([READ], validator(READ))
    assert "read_file" in tools_shown(examples)
    assert tools_shown(examples) <= {"read_file", "answer", "cannot"}


def test_without_a_call_there_is_no_example() -> None:
    """A small model that sees only answers and refusals would call no tool."""
    assert examples_for([ADD], validator(ADD)) == ()


def test_nothing_is_refused_where_another_author_s_tool_may_do_it() -> None:
    """Beside a tool of another author no example refuses anything."""
    foreign = replace(ADD, source="client:1")
    assert "cannot" in tools_shown(examples_for([READ], validator(READ)))
    assert "cannot" not in tools_shown(examples_for([READ, foreign], validator(READ, foreign)))


def test_every_action_but_the_last_has_a_result() -> None:
    """A conversation alternates and ends with the answer."""
    for example in examples_for([READ], validator(READ)):
        assert len(example.results) == len(example.actions) - 1
        assert set(example.actions[-1]) <= {"answer", "cannot"}
