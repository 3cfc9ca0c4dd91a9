import json
from dataclasses import replace

from aeond.domain.messages import Role
from aeond.domain.values import JsonObject
from aeond.orchestration.prompts.run_prompts import (
    answer_messages,
    exchange_text,
    final_step_prompt,
    listed,
    plan_messages,
    preamble_messages,
    repair_call_messages,
    replace_tool_messages,
    replan_messages,
    session_text,
    step_prompt,
    with_earlier,
)
from tests.support.strategy import ADD, LOOK, SPECS, STORE, run_of, thinks

EXAMPLE: tuple[str, JsonObject] = ("Sing.", {"steps": [{"agent": "llm"}]})


def test_a_plan_prompt_shows_every_tool_with_its_example() -> None:
    """The model sees of each tool its name, what it does, what it gives and one call."""
    system = str(preamble_messages(SPECS, ())[0].content)
    for spec in SPECS:
        call = json.dumps({"tool": spec.name, "arguments": spec.example or {}}, separators=(",", ":"))
        assert f"{spec.name}: {spec.description}" in system
        assert call in system


def test_the_instructions_of_a_template_follow_the_rules() -> None:
    """A child run's prompt has its Template's instructions after the rules that all runs have in common."""
    plain, instructed = (str(preamble_messages(SPECS, (), words)[0].content) for words in ("", "Be brief."))
    assert instructed == f"{plain}\n\nBe brief."


def test_examples_are_earlier_turns_and_the_request_comes_last() -> None:
    """Worked examples read as a conversation that the request continues."""
    messages = plan_messages("Dance.", preamble_messages(SPECS, (EXAMPLE,)))
    assert [m.role for m in messages] == [Role.SYSTEM, Role.USER, Role.AGENT, Role.USER]
    assert messages[1].content == "Sing."
    assert messages[2].content == '{"steps":[{"agent":"llm"}]}'
    assert messages[-1].content == "Dance."


def test_a_second_plan_is_asked_for_after_the_first() -> None:
    """The model sees its first plan and the problem with it, after the same prompt."""
    first = plan_messages("Dance.", preamble_messages(SPECS, ()))
    again = replan_messages(first, '{"steps":[]}', "it is empty")
    assert again[: len(first)] == first
    assert again[-2].content == '{"steps":[]}'
    assert "it is empty" in str(again[-1].content)


def test_a_step_is_reported_apart_from_the_request() -> None:
    """A step's prompt holds request, place, context and task; without context nothing is said of any."""
    prompt = step_prompt(thinks("s1", "Count them."), "How many herbs?", "")
    assert "How many herbs?" in prompt
    assert "Count them." in prompt
    assert "Results" not in prompt
    assert "Results of earlier steps:\nmint" in step_prompt(thinks("s1", "Count them."), "x", "mint")


def test_the_prompt_of_a_step_states_its_place() -> None:
    """The last step of a plan knows which of how many it is, as all others do, and nothing else is added for it."""
    step = replace(thinks("s2", "Count them."), step_index=2, total_steps=2)
    assert "This is step 2 of 2." in step_prompt(step, "How many herbs?", "mint")
    assert final_step_prompt(step, "How many herbs?", "mint") == (
        "Results:\nmint\n\nThis is step 2 of 2.\nCount them.\nRequest: How many herbs?\n"
        "Answer the whole request now from the results, with each name and value that it asks for."
    )


def test_the_prompt_of_a_step_states_its_handoff() -> None:
    """The handoff that the plan requests is asked for after the task; a step without one has no such line."""
    plain = thinks("s1", "List the herbs.")
    wanted = replace(plain, handoff_to_next="their names, one in a line")
    asked = "\n\nFor the next step, also give: their names, one in a line"
    assert step_prompt(wanted, "x", "") == step_prompt(plain, "x", "") + asked


def test_an_answer_prompt_names_what_is_missing() -> None:
    """The prompt names steps without a result and demands to say so, only if there are some."""
    whole = str(answer_messages("x", "mint", ())[-1].content)
    part = str(answer_messages("x", "mint", ("s2 failed: no water",))[-1].content)
    assert "say so" not in whole
    assert "say so:\n- s2 failed: no water" in part


def test_repairs_show_the_form_that_is_wanted() -> None:
    """A call is repaired after its own tool's example, a missing tool replaced from the registered ones."""
    repair = repair_call_messages('{"x": 1}', "no tool", LOOK)
    assert "look: " in str(repair[0].content)
    assert '{"x": 1}' in str(repair[-1].content)
    replaced = replace_tool_messages("{}", "no such tool", "Look", "see", (ADD, STORE))
    assert "add: " in str(replaced[0].content)
    assert "store: " in str(replaced[0].content)
    assert "look: " not in str(replaced[0].content)


def test_earlier_statements_follow_the_request_as_background() -> None:
    """The request comes first; what the user said earlier is marked as no task."""
    run = run_of(request="Look around.")
    assert with_earlier(run) == "Look around."
    request, label, first, second = with_earlier(replace(run, standing=("Be brief.", "Nie."))).split("\n")
    assert request == "Look around."
    assert "not tasks" in label
    assert (first, second) == ("Be brief.", "Nie.)")


def test_an_exchange_names_its_speakers() -> None:
    """Request, questions with the user's answers, and answer follow each other, each with its speaker."""
    assert exchange_text("Book it.", [("For whom?", "Ada")], "Done.") == (
        "User: Book it.\nAssistant: For whom?\nUser: Ada\nAssistant: Done."
    )


def test_empty_parts_are_left_out() -> None:
    """A session has a label for each part that is there; exchanges alone need none."""
    assert session_text("", "", "", "", "User: Hi") == "User: Hi"
    assert session_text("Plan", "- A", "", "", "User: Hi") == (
        "The conversation began with this request:\nPlan\n\nThe user said:\n- A\n\nMost recently:\nUser: Hi"
    )
    assert session_text("", "", "- A?", "- a -> b", "") == "Still open:\n- A?\n\nThen, in short:\n- a -> b"


def test_a_list_says_how_much_is_missing() -> None:
    """Lines are listed, with a note of how many are left out."""
    assert listed(["a", "b"]) == "- a\n- b"
    assert listed(["b"], 1) == "(older lines left out: 1)\n- b"
    assert listed([]) == ""
