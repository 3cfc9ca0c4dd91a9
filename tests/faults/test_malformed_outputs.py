"""A thousand malformed model outputs, ten thousand in the nightly run, against planner and Supervisor."""

import json
import random
from collections import Counter
from collections.abc import Callable

import pytest

from aeond.domain.plans.plan import Plan
from aeond.orchestration.planning.planner import ModelPlanner
from aeond.orchestration.planning.validator import PlanValidator
from aeond.orchestration.prompts.preamble import Preamble
from aeond.orchestration.repair.supervisor import Supervisor
from tests.support.strategy import SPECS, grant, registry, run_of, says

GOOD = (
    {"tool": "look", "arguments": {"path": "garden", "depth": 3}},
    {"tool": "add", "arguments": {"a": 1, "b": "$s1.total"}},
    {"tool": "store", "arguments": {"key": "herbs", "value": ["mint", "$s1"]}},
    {"tool": "send", "arguments": {"to": "Ada", "lines": ["one", "two"]}},
    {"tool": "teleport", "arguments": {"where": "moon"}},
    {"agent": "llm", "task": "What grows in $s1?"},
    {"agent": "llm"},
)

Damage = Callable[[str, random.Random], str]


def cut(text: str, dice: random.Random) -> str:
    return text[: dice.randrange(len(text) + 1)]


def drop_some(text: str, dice: random.Random) -> str:
    for _ in range(1 + len(text[:400]) // 20):
        place = dice.randrange(len(text[:400]) + 1)
        text = text[:place] + text[place + 1 :]
    return text


def swap_some(text: str, dice: random.Random) -> str:
    for _ in range(1 + len(text[:400]) // 20):
        place = dice.randrange(len(text[:400]) + 1)
        text = text[:place] + dice.choice('{}[]",:\\\x00é😀') + text[place + 1 :]
    return text


def nest(text: str, dice: random.Random) -> str:
    depth = dice.choice([65] * 10 + [1_000] * 10 + [200_000])
    return dice.choice(["[" * depth + text, '{"steps":' * depth + text, "[" * depth + "]" * depth])


def not_finite(text: str, dice: random.Random) -> str:
    return text.replace("3", dice.choice(["NaN", "Infinity", "-Infinity", "1e999"]))


def too_large(text: str, dice: random.Random) -> str:
    return text.replace("3", dice.choice([str(2**63), str(-(2**64)), "9" * 5000]))


def surrogate(text: str, dice: random.Random) -> str:
    return text.replace("garden", dice.choice([r"\ud800", r"\udc00x", "\ud800"]))


def twice(text: str, dice: random.Random) -> str:
    return text.replace('"path"', '"path": "cellar", "path"').replace(
        '"steps"', '"steps": [], "steps"', dice.randrange(2)
    )


def fence(text: str, dice: random.Random) -> str:
    return (
        dice.choice(["```json\n%s\n```", "Sure!\n```\n%s", "%s\n\nI hope this helps.", "<plan>%s</plan>"])
        % text
    )


def single_quotes(text: str, dice: random.Random) -> str:
    return text.replace('"', "'")


def other_words(text: str, dice: random.Random) -> str:
    return text.replace('"tool"', dice.choice(['"name"', '"function"', '"colour"'])).replace(
        '"arguments"', '"parameters"'
    )


def cycles(text: str, dice: random.Random) -> str:
    return text.replace('"tool"', '"depends_on": ["s2", "s1", "s9"], "tool"').replace(
        "$s1", dice.choice(["$s3", "$s99"])
    )


def whole(text: str, dice: random.Random) -> str:
    return dice.choice(
        ["", "null", "42", '"plan"', "[]", "{}", '{"steps": 5}', '{"steps": {}}', "\x00", " " * 5000]
    )


DAMAGES: tuple[Damage, ...] = (
    cut, drop_some, swap_some, nest, not_finite, too_large, surrogate, twice, fence, single_quotes,
    other_words, cycles, whole,
)  # fmt: skip


def malformed(dice: random.Random) -> str:
    steps = [dice.choice(GOOD) for _ in range(dice.randint(1, 4))]
    text = json.dumps({"steps": steps})
    for damage in dice.choices(DAMAGES, k=dice.randint(1, 2)):
        text = damage(text, dice)
    return text


def check_nothing_added(plan: Plan, source: str) -> None:
    """Every tool of the plan, as often as it is called, stands in what the model wrote."""
    for tool, uses in Counter(step.tool_call.tool for step in plan if step.tool_call).items():
        assert source.count(tool) >= uses
    tasks = [step.description for step in plan if step.agent and step.description != "Answer the request."]
    for task in tasks:
        assert " ".join(task.split()) in " ".join(source.split())


REGISTRY = registry()
VALIDATOR = PlanValidator(REGISTRY, ("llm",))


async def repair_one(text: str, answer: str) -> str:
    """The Supervisor gets a malformed plan, and a model whose repairs are as bad."""
    llm = says({"text": answer}, piece_chars=100_000)
    purse = grant(5, 50_000)
    outcome = await Supervisor(llm, VALIDATOR).repair_plan(text, SPECS, purse)
    assert len(llm.requests) <= 2
    assert purse.used.exceeding(purse.reservation) == ""
    if not outcome.ok:
        assert outcome.problem is not None
        return "refused"
    assert outcome.value is not None
    check_nothing_added(outcome.value, text)
    assert VALIDATOR.validate_plan(outcome.value) == ()
    return "repaired"


async def plan_one(text: str, answer: str) -> str:
    """The planner's model writes a malformed plan, and repairs it as badly."""
    llm = says({"text": text, "times": 1}, {"text": answer}, piece_chars=100_000)
    purse = grant(3, 50_000)
    planner = ModelPlanner(Supervisor(llm, VALIDATOR), Preamble(REGISTRY, VALIDATOR))
    drafted = await planner.draft(run_of(), purse, lambda _activity, _fraction: None)
    assert purse.used.exceeding(purse.reservation) == ""
    if drafted.value is None:
        assert drafted.problem is not None
        return "unplanned"
    assert VALIDATOR.validate_plan(drafted.value.plan) == ()
    return "planned"


async def survive(count: int, seed: int) -> Counter[str]:
    dice = random.Random(seed)
    ends = [await dice.choice([repair_one, plan_one])(malformed(dice), malformed(dice)) for _ in range(count)]
    return Counter(ends)


async def test_a_thousand_malformed_outputs_do_no_harm() -> None:
    """Of 1,000 malformed outputs none raises, costs more than two repairs or gains a tool or step."""
    seen = await survive(1_000, seed=1)
    # Both ends are reached, else this proves nothing.
    assert min(seen[end] for end in ("repaired", "refused", "planned", "unplanned")) > 50


@pytest.mark.nightly
async def test_ten_thousand_malformed_outputs_do_no_harm() -> None:
    """The same for 10,000 others."""
    seen = await survive(10_000, seed=2)
    assert min(seen[end] for end in ("repaired", "refused", "planned", "unplanned")) > 500
