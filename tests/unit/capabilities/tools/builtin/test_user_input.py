"""The tool that asks a person."""

from aeond.capabilities.tools.builtin.user_input import RequestUserInput
from aeond.domain.runs.questions import InputRequest
from aeond.domain.tools import Recovery
from tests.support.tools import CONTEXT, call, invoker_of


async def ask(**arguments: object) -> InputRequest:
    result = await invoker_of(RequestUserInput()).invoke(call("request_user_input", **arguments), CONTEXT)
    assert isinstance(result.request, InputRequest), result.error
    return result.request


async def test_a_bare_question_waits_for_any_text_for_ever() -> None:
    """Only the question is needed: any text answers it, and there is neither a default nor a deadline."""
    asked = await ask(prompt="Which colour?")
    assert (asked.prompt, asked.options, asked.has_default, asked.deadline_seconds) == (
        "Which colour?",
        (),
        False,
        0,
    )
    assert asked.schema == {"type": "string", "minLength": 1}


async def test_a_question_may_have_options_a_default_and_a_deadline() -> None:
    """All of it goes into the request as it was given."""
    asked = await ask(prompt="Which?", options=["red", "blue"], default="red", deadline_seconds=60)
    assert (asked.options, asked.default, asked.has_default) == (("red", "blue"), "red", True)
    assert asked.deadline_seconds == 60


async def test_a_default_that_is_no_option_is_refused() -> None:
    """A question whose default is not one of its options is the tool's failure, and is not asked."""
    asked = call("request_user_input", prompt="Which?", options=["red"], default="green")
    result = await invoker_of(RequestUserInput()).invoke(asked, CONTEXT)
    assert (result.success, result.reason, result.request) == (False, "REQUEST_INVALID", None)


async def test_asking_again_after_a_crash_is_harmless() -> None:
    """The tool itself does not wait for an answer: a step cut before its question was journaled asks again."""
    assert RequestUserInput().spec.recovery is Recovery.RERUN
    assert await RequestUserInput().reconcile({"prompt": "?"}, CONTEXT) is None
