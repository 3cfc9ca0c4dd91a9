"""Which remembered fact a request corrects, and what follows for the call."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.domain.llm import LikelyToken
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Composition, CompositionView, Effect, ToolCall, ToolContext
from aeond.orchestration.decision.conversations.composing import in_place
from aeond.orchestration.decision.conversations.correction import Corrections, probabilities
from aeond.orchestration.interfaces import discard_text
from aeond.orchestration.matching.text_ranking import Ranking, TextRanking
from aeond.orchestration.prompts.subject_prompts import FACT_LETTERS
from tests.support.deciders import CORRECTS, Composing, WholeTool, decider_of
from tests.support.strategy import TEXT, grant, registry, run_of, spec

FACTS = Situation(facts=(("boat", "Ida"), ("gate_code", 7714)))
LONG = Situation(facts=(("gate", "7714 " * 30),))
RUN = run_of(request="The gate has 9021.")
KEEP = replace(
    spec("keep", {"key": TEXT, "value": TEXT}, ("key", "value"), Effect.MEMORY),
    composition=Composition(("key", "value"), "Note it.", (), fact="key"),
)


def said(**letters: float) -> tuple[LikelyToken, ...]:
    return tuple(LikelyToken(letter, math.log(share)) for letter, share in letters.items() if share)


def rules(first: Mapping[str, float], second: Mapping[str, float]) -> tuple[Rule, ...]:
    """What the model says to the facts in their order, and then in the reverse one."""
    return tuple(
        Rule(
            contains=CORRECTS, text="?", likely={one: math.log(share) for one, share in said.items()}, times=1
        )
        for said in (first, second)
    )


def corrections() -> Corrections:
    return Corrections(TextRanking(NoEmbedder()))


@pytest.mark.parametrize("by_meaning", [True, False])
def test_letter_and_nearness_count_together(by_meaning: bool) -> None:
    """A fact is the likelier, the likelier its letter is and the nearer it is to the request; all of them together leave a share to none."""
    near, far = (0.6, 0.1) if by_meaning else (0.06, 0.0)

    def given(first: float, second: float, **letters: float) -> Mapping[str, float]:
        ranking = Ranking((("a", first), ("b", second)), by_meaning)
        reverse = {"A": letters.get("B", 0), "B": letters.get("A", 0), "none": letters["none"]}
        return probabilities(said(**letters), said(**reverse), ["a", "b"], ranking)

    both = given(near, far, A=0.6, B=0.2, none=0.2)
    assert both["a"] > given(far, far, A=0.6, B=0.2, none=0.2)["a"] > both["b"]
    assert both["a"] > given(near, far, A=0.2, B=0.6, none=0.2)["a"]
    assert both["a"] > given(near, far, A=0.6, none=0.4)["a"]
    assert sum(both.values()) < 1
    assert given(far, far, none=1.0)["a"] < 0.1


async def test_a_fact_is_asked_for_once() -> None:
    """The model sees the facts with their letters above the request, in both orders; what it said is known for the run's request from then on."""
    llm, asked = (
        ScriptedLLM(Script(rules=rules({"B": 0.9, "none": 0.1}, {"A": 0.9, "none": 0.1}))),
        corrections(),
    )
    found = [await asked.of(llm, RUN, FACTS, grant(10)) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0] is not None
    assert (found[0].name, found[0].value) == ("gate_code", 7714)
    assert [one.messages[-1].content for one in llm.requests] == [
        "A boat: Ida\nB gate code: 7714\n\nThe person: The gate has 9021.",
        "A gate code: 7714\nB boat: Ida\n\nThe person: The gate has 9021.",
    ]


async def test_more_facts_than_letters_leave_the_nearest() -> None:
    """Of many facts those are listed that share most with the request, in their order."""
    facts = tuple((f"fact {number:02d}", "red") for number in range(29))
    llm = ScriptedLLM(Script(rules=rules({"T": 0.9, "none": 0.1}, {"A": 0.9, "none": 0.1})))
    found = await corrections().of(llm, RUN, Situation(facts=(*facts, ("gate", 7714))), grant(10))
    assert found is not None
    assert found.name == "gate"
    assert str(llm.requests[0].messages[-1].content).count("\n") == len(FACT_LETTERS) + 1


@pytest.mark.parametrize(
    ("situation", "calls", "asked"), [(Situation(), 10, 0), (FACTS, 3, 0), (FACTS, 10, 1), (LONG, 10, 0)]
)
async def test_without_an_answer_no_fact_is_corrected(situation: Situation, calls: int, asked: int) -> None:
    """No fact is found if none is short enough to be rewritten, if too few calls are left, or if the model names neither a letter nor "none"."""
    llm, one = (
        ScriptedLLM(Script(rules=(Rule(contains=CORRECTS, text="?", likely={"yes": 0.0}),))),
        corrections(),
    )
    assert [await one.of(llm, RUN, situation, grant(calls)) for _ in range(2)] == [None, None]
    assert len(llm.requests) == asked


@dataclass
class Noting(Composing):
    """Lets the model write what it will, and keeps the calls whose views were asked for."""

    calls: tuple[ToolCall, ...] = ()

    async def composition_view(
        self, call: ToolCall, context: ToolContext, request: str
    ) -> CompositionView | None:
        self.calls = (*self.calls, call)
        return CompositionView("", {"type": "object"})


GATE = rules({"B": 0.95, "none": 0.05}, {"A": 0.95, "none": 0.05})
NO_FACT = rules({"A": 0.02, "B": 0.03, "none": 0.95}, {"A": 0.02, "none": 0.98})


async def kept(
    asked: tuple[Rule, ...], *written: str, request: str = "The gate has 9021.", calls: int = 10
) -> tuple[ToolCall | None, Noting, list[str]]:
    """The call after the model has written these values in turn, under a key of its own; and what it saw when it wrote them."""
    tools = registry()
    tools.register(WholeTool(KEEP))
    script = (
        *asked,
        *(
            Rule.model_validate(
                {"contains": "Note it.", "json": {"key": "door", "was": "", "value": one}, "times": 1}
            )
            for one in written
        ),
        Rule.model_validate({"json": {"keep": {}}}),
    )
    invoker = Noting({})
    decider, llm = decider_of(script, tools, FACTS, invoker)
    call = (await decider.choose(run_of(request=request), grant(calls), discard_text)).value.tool_call
    seen = [str(one.messages[-1].content) for one in llm.requests if one.messages[0].content == "Note it."]
    return call, invoker, seen


async def test_what_corrects_a_fact_has_its_name() -> None:
    """The tool gets the name of the corrected fact, and the call has it whatever the model writes; no other fact is in view."""
    call, invoker, seen = await kept(GATE, "9021")
    assert call == ToolCall("keep", {"key": "gate_code", "value": "9021"})
    assert invoker.calls[-1].arguments == {"key": "gate_code"}
    assert "Remembered: gate_code = 7714\n" in seen[0]


async def test_what_is_added_to_a_fact_is_kept() -> None:
    """A new value that has all of the old one in it is no repetition."""
    call, _, seen = await kept(GATE, "7714, at night 9021")
    assert call == ToolCall("keep", {"key": "gate_code", "value": "7714, at night 9021"})
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("Ida Berg, 555 0126, only after four", "555 0188", "Ida Berg, 555 0188, only after four"),
        ("Thursday, 19:15", "20:00", "Thursday, 20:00"),
        ("540 a month, due on the 5th", "575", "575 a month, due on the 5th"),
        ("7714", "9021", "9021"),
        ("from 8:30 to 9:30", "7:15", "7:15"),
        ("8.5 kg", "9", "9"),
        ("row 5-12", "5-12", "row 5-12"),
        ("Ida Berg, 555 0126", "Omar Rice", "Omar Rice"),
        ("Ida Berg, 555 0126", "Omar Rice, 555 0188", "Omar Rice, 555 0188"),
    ],
)
def test_what_is_not_repeated_of_a_fact_stays(old: str, new: str, kept: str) -> None:
    """A new number alone takes the place of the only one of its form; anything else takes the place of the whole value."""
    assert in_place(old, new) == kept


async def test_the_old_value_is_written_again_without_it() -> None:
    """What only repeats the corrected fact is written once more without facts in view, for the same fact."""
    call, _, seen = await kept(GATE, "7714", "9021")
    assert call == ToolCall("keep", {"key": "gate_code", "value": "9021"})
    assert "Remembered" not in seen[1]


async def test_a_new_fact_is_written_without_others() -> None:
    """Where surely no fact is corrected none is in view, and the model gives the name."""
    call, invoker, seen = await kept(NO_FACT, "9021")
    assert call == ToolCall("keep", {"key": "door", "value": "9021"})
    assert invoker.calls[-1].arguments == {}
    assert "Remembered" not in seen[0]


async def test_with_few_calls_all_facts_stay_in_view() -> None:
    """Where there are too few calls to ask for it, the model sees the facts as they are when it writes."""
    call, _, seen = await kept(GATE, "9021", calls=3)
    assert call == ToolCall("keep", {"key": "door", "value": "9021"})
    assert "boat = Ida; gate_code = 7714" in seen[0]
