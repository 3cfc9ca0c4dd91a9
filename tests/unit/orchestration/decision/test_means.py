"""Refusals in the language of the request."""

from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, ScriptedLLM
from aeond.domain.runs.run import RunRequest
from aeond.orchestration.decision.decider import NOT_FULFILLED, Decider
from tests.support.deciders import NOWHERE, TRANSLATES, Seen, decider_of, observing
from tests.support.strategy import grant, registry, run_of

REQUEST = "ruf Omar an"
REFUSAL = "I cannot call."
TRANSLATED = "Ich kann Omar nicht anrufen."
GERMAN = {REQUEST: "German", TRANSLATED: "German"}


def refusing(
    languages: dict[str, str], refusal: str = REFUSAL, translation: str = TRANSLATED
) -> tuple[Decider, ScriptedLLM]:
    rules = (
        Rule(contains="Say in one word what a request", text="do", likely={"do": -0.1}),
        Rule(contains=TRANSLATES, text=translation),
        Rule.model_validate({"json": {"cannot": refusal}}),
    )
    decider, llm = decider_of(rules, registry())
    return observing(decider, Seen(NOWHERE, languages=languages)), llm


@pytest.mark.parametrize(
    ("languages", "refusal", "translation", "said"),
    [
        (GERMAN | {REFUSAL: "English"}, REFUSAL, TRANSLATED, TRANSLATED),
        (GERMAN, REFUSAL, TRANSLATED, TRANSLATED),
        (GERMAN, TRANSLATED, "Ich kann nicht.", TRANSLATED),
        (GERMAN, REFUSAL, " ", REFUSAL),
        ({}, REFUSAL, TRANSLATED, REFUSAL),
    ],
)
async def test_a_refusal_is_in_the_language_of_the_request(
    languages: dict[str, str], refusal: str, translation: str, said: str
) -> None:
    """It is translated where it is in another one, and stays where that of the request is doubtful or no translation comes; who watches reads the
    text that is the answer."""
    decider, _ = refusing(languages, refusal, translation)
    shown: list[str] = []
    chosen = await decider.choose(run_of(request=REQUEST), grant(10), shown.append)
    assert chosen.value.answer is not None
    assert (chosen.value.answer.text, chosen.value.answer.notes) == (said, (NOT_FULFILLED,))
    assert "".join(shown[shown.index("") + 1 :] if "" in shown else shown) == said


async def test_a_refusal_under_instructions_stays() -> None:
    """Who gives instructions says in which language to answer."""
    decider, llm = refusing(GERMAN)
    run = run_of(request=REQUEST)
    instructed = replace(run, request=RunRequest(REQUEST, instructions="Answer in English."))
    chosen = await decider.choose(instructed, grant(10), lambda _text: None)
    assert chosen.value.answer is not None
    assert chosen.value.answer.text == REFUSAL
    assert not any(TRANSLATES in str(asked.messages[0].content) for asked in llm.requests)
