"""Worked conversations of the decision prompt, shown to a small model as earlier turns.

Each shows one habit: answer from what is in view, look before answering, compute before saying a number, do what
was asked and no more, correct a fact, refuse what cannot be done, answer in the person's language. The order
matters: a small model copies the last ones most. An example is shown only if every tool in it is registered and
accepts the arguments. The examples share one small invented situation.
"""

from collections.abc import Sequence
from typing import Final

from aeond.domain.runs.situations import Situation
from aeond.domain.tools import ToolSpec
from aeond.domain.values import JsonObject
from aeond.frozen import frozen
from aeond.orchestration.decision.forms.schema import ANSWER, CANNOT, PLAN
from aeond.orchestration.prompts.decision_prompts import situation_text
from aeond.orchestration.prompts.plan_examples import accepts_call
from aeond.ports import Validator

_SITUATION: Final = Situation(
    time="Friday 6 March 2026, 10:15",
    files=(
        ("boat.txt", "Ida, built 1988"),
        ("club/members.csv", "name,fee,paid"),
        ("club/rules.md", "# Rules of the club"),
    ),
    facts=(("boat name", "Ida"), ("gate code", "7714")),
)
# A request, and the actions with their results in turn; the last action has none.
_EXAMPLES: Final[tuple[tuple[str, tuple[JsonObject | str, ...]], ...]] = (
    (
        "Put the boat's length in centimetres into length.txt",
        (
            {"read_file": {"path": "boat.txt"}},
            "Ida, built 1988\nlength 6.4 m\nred sails",
            {"calculator": {}},
            "640",
            {"write_file": {"path": "length.txt", "content": "640"}},
            "written",
            {ANSWER: "length.txt now holds 640."},
        ),
    ),
    (
        "Comment s'appelle mon bateau ?",
        ({ANSWER: "Ton bateau s'appelle Ida."},),
    ),
    (
        "how many days from 20 april to 3 june",
        (
            {"calculator": {}},
            "44 days",
            {ANSWER: "It is 44 days."},
        ),
    ),
    (
        "Noise in the club rules should be music",
        (
            {"edit_file": {"path": "club/rules.md"}},
            "now: 1. No music after ten.",
            {ANSWER: "club/rules.md now says: No music after ten."},
        ),
    ),
    (
        "Neu im Club: Vera, 95 Euro, noch nicht gezahlt",
        (
            {"edit_file": {"path": "club/members.csv"}},
            "added: Vera,95,no",
            {ANSWER: "Vera steht jetzt mit 95 Euro in club/members.csv."},
        ),
    ),
    (
        "Till has left the club, take him out",
        (
            {"edit_file": {"path": "club/members.csv"}},
            "removed: Till,120,no",
            {ANSWER: "Till is no longer in club/members.csv."},
        ),
    ),
    (
        "why is the sea salty?",
        (
            {
                ANSWER: "Rivers carry salts from rocks into the sea, and they stay there when the water evaporates."
            },
        ),
    ),
    (
        "what does the club say about guests",
        (
            {"read_file": {"path": "club/rules.md"}},
            "# Rules of the club\n1. No noise after ten.\n2. A guest pays 3 euros a day.",
            {ANSWER: "A guest pays 3 euros a day."},
        ),
    ),
    (
        "Ruf bitte den Hafen an",
        ({CANNOT: "Ich kann nicht telefonieren."},),
    ),
    (
        "by the way the gate code is 9021 now",
        (
            {"remember": {}},
            "gate code = 9021, before 7714",
            {ANSWER: "I will remember that the gate code is 9021."},
        ),
    ),
    (
        "A list todo.txt with: paint, rope, and two lamps",
        (
            {"write_file": {"path": "todo.txt", "content": "paint\nrope\ntwo lamps"}},
            "written",
            {ANSWER: "todo.txt now lists paint, rope and two lamps."},
        ),
    ),
    (
        "Who pays more, Lena or Omar?",
        (
            {"read_file": {"path": "club/members.csv"}},
            "name,fee,paid\nLena,120,yes\nOmar,95,no\nTill,120,no",
            {ANSWER: "Lena pays more: 120, Omar pays 95."},
        ),
    ),
    (
        "Wie hoch sind alle Beiträge zusammen, und wer hat noch nicht gezahlt?",
        (
            {"read_file": {"path": "club/members.csv"}},
            "name,fee,paid\nLena,120,yes\nOmar,95,no\nTill,120,no",
            {"calculator": {}},
            "335",
            {ANSWER: "Zusammen sind es 335 Euro; Omar und Till haben noch nicht gezahlt."},
        ),
    ),
    (
        "send the rules to Omar by mail",
        ({CANNOT: "I cannot send mail."},),
    ),
    (
        "What is 12 % of 340 euros?",
        (
            {"calculator": {}},
            "40.8",
            {ANSWER: "12 % of 340 euros are 40.80 euros."},
        ),
    ),
)


@frozen
class DecisionExample:
    """The request with its situation, the actions, and a result for each of them but the last."""

    request: str
    actions: tuple[JsonObject, ...]
    results: tuple[str, ...]


def examples_for(specs: Sequence[ToolSpec], validator: Validator) -> tuple[DecisionExample, ...]:
    """The conversations that these tools can have. None of them shows a refusal where another author's tool may do what it
    refuses; without a conversation that calls a tool there are none, since a small model would then only answer."""
    by_name = {spec.name: spec for spec in specs}
    refusable = has_usual_limits(specs)
    examples = tuple(
        _example(request, turns)
        for request, turns in _EXAMPLES
        if all(_possible(turn, by_name, validator) for turn in turns) and (refusable or not _refuses(turns))
    )
    return examples if tools_shown(examples) - {ANSWER, CANNOT, PLAN} else ()


def has_usual_limits(specs: Sequence[ToolSpec]) -> bool:
    """Whether it is known what these tools cannot do: that of other authors' tools is not."""
    return not any(spec.source for spec in specs)


def tools_shown(examples: Sequence[DecisionExample]) -> frozenset[str]:
    """The tools whose form the examples show."""
    return frozenset(name for example in examples for action in example.actions for name in action)


def _example(request: str, turns: Sequence[JsonObject | str]) -> DecisionExample:
    situation = situation_text(_SITUATION)
    return DecisionExample(
        f"{situation}\nNow: {_SITUATION.time}\nRequest: {request}",
        tuple(turn for turn in turns if not isinstance(turn, str)),
        tuple(turn for turn in turns if isinstance(turn, str)),
    )


def _refuses(turns: Sequence[JsonObject | str]) -> bool:
    return any(not isinstance(turn, str) and CANNOT in turn for turn in turns)


def _possible(turn: JsonObject | str, by_name: dict[str, ToolSpec], validator: Validator) -> bool:
    if isinstance(turn, str):
        return True
    name, arguments = next(iter(turn.items()))
    if name in (ANSWER, CANNOT, PLAN):
        return True
    return accepts_call(by_name.get(name), arguments, validator)
