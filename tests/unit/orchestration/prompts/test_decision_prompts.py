from dataclasses import replace

from aeond.domain.runs.situations import Situation
from aeond.orchestration.prompts.decision_prompts import request_text, situation_text, tools_text
from tests.support.strategy import LOOK, run_of

SITUATION = Situation(
    "Monday 2 March 2026, 09:05",
    (("a.txt", "Apples"),),
    False,
    (("gate", 7),),
    True,
    (("a.txt:4", "Apples are red"),),
)


def test_the_situation_comes_before_the_request() -> None:
    """Names and facts change least and come first; the request is the last line."""
    run = replace(run_of(), context="User: Hi\nAssistant: Hello")
    text = request_text(run, SITUATION)
    assert text.startswith(
        "Files, and how each begins:\na.txt: Apples\nRemembered: gate = 7; and more\nLines in files"
    )
    assert (
        "\nLines in files that share words with the request:\na.txt:4: Apples are red\nSaid before:" in text
    )
    assert "\nNow: Monday 2 March 2026, 09:05\nRequest: " in text
    assert text.endswith(run.text)


def test_an_empty_situation_costs_nothing() -> None:
    """Without files and facts there is no line about them."""
    assert situation_text(Situation()) == ""


def test_an_empty_memory_is_named() -> None:
    """A model that sees no facts takes those of the examples for the person's, unless it reads that there are none."""
    assert situation_text(Situation(memory_seen=True)) == "Remembered: nothing yet"
    assert situation_text(Situation(memory_seen=True, more_facts=True)) == ""


def test_a_tool_that_examples_show_is_described_briefly() -> None:
    """Its form is known from the examples: only required arguments are named."""
    assert tools_text([LOOK], ["look"]) == '{"look":{"path"}} The look tool.'
    assert '"depth"?' in tools_text([LOOK])
