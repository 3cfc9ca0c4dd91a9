from aeond.orchestration.answer.plain_reply import plain_reply
from tests.support.strategy import grant, run_of, says


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
