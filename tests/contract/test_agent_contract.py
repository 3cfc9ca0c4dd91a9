"""Guarantees of every agent, as steps use it: those that come with aeond, and those of files that users write."""

from pathlib import Path

import pytest

from aeond.capabilities.agents.loading import AnyAgent, load_agents
from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.capabilities.llm.agent import LLMAgent
from aeond.domain.outcome import Outcome
from aeond.domain.plans.plan import PlanStep
from aeond.domain.runs.budgets import Amounts, Grant
from aeond.orchestration.execution.agent_steps import AgentReasoner
from aeond.ports import StepOutput
from tests.support.agents import COUNTING_AGENT
from tests.support.judging import after_pass, ran
from tests.support.repository import ROOT
from tests.support.strategy import thinks

AGENTS = ("llm", "reader", "counting", "reviewer")
MATERIAL = thinks("s1", "Look.")


def shown_agent() -> str:
    """The file that the page for authors shows."""
    page = (ROOT / "docs/adding-an-agent.md").read_text("utf-8")
    return page.split("```python\n")[1].split("```")[0]


class Bench:
    """An agent by its name, over a model that answers every prompt with the same words."""

    def __init__(self, name: str, folder: Path, **rule: object) -> None:
        self.llm = ScriptedLLM(Script(rules=(Rule.model_validate({"text": "Two are late.", **rule}),)))
        agents: dict[str, AnyAgent] = {"llm": LLMAgent(self.llm)}
        for file, source in (("counting.py", COUNTING_AGENT), ("reviewer.py", shown_agent())):
            path = folder / file
            path.write_text(source, encoding="utf-8")
            path.chmod(0o644)
        agents |= load_agents([folder / "counting.py", folder / "reviewer.py"])
        self.name = name
        self.shown: list[str] = []
        self._reasoner = AgentReasoner(agents, self.llm)

    async def reason(self, grant: Grant, material: str = "mint") -> Outcome[StepOutput | None]:
        step = PlanStep("s2", "Who is late?", agent=self.name, depends_on=("s1",))
        run = after_pass(1, ran(MATERIAL, output=material), ran(step))
        return await self._reasoner.reason(step, run, grant, self.shown.append)


@pytest.fixture(params=AGENTS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    return Bench(request.param, tmp_path)


async def test_an_agent_answers_a_step(bench: Bench) -> None:
    """The output is text, is shown, and its cost is within the grant."""
    grant = Grant(Amounts(llm_calls=3, tokens=12_000))
    outcome = await bench.reason(grant)
    assert outcome.value is not None
    assert isinstance(outcome.value.output, str)
    assert outcome.value.output
    assert "".join(bench.shown) == outcome.value.output
    assert not grant.used.exceeding(grant.reservation)


async def test_calls_of_the_model_are_counted(bench: Bench) -> None:
    """The grant has at least as many calls as the model got, on long material too."""
    grant = Grant(Amounts(llm_calls=3, tokens=12_000))
    await bench.reason(grant, "Supplier 7 delivered on time.\n" * 2_000)
    assert len(bench.llm.requests) <= grant.used.llm_calls <= 3


async def test_an_agent_without_budget_makes_no_call(bench: Bench) -> None:
    """With no call left the model is not asked, and the step has a problem or was done without it."""
    outcome = await bench.reason(Grant(Amounts()))
    assert not bench.llm.requests
    assert outcome.ok or (outcome.problem is not None and outcome.problem.reason == "BUDGET_SPENT")


@pytest.mark.parametrize("name", ["llm", "reader", "reviewer"])
async def test_a_failing_model_is_a_problem(name: str, tmp_path: Path) -> None:
    """An error of the model ends the step with its reason, never with an exception."""
    outcome = await Bench(name, tmp_path, fail="BAD_ANSWER").reason(
        Grant(Amounts(llm_calls=3, tokens=12_000))
    )
    assert outcome.problem is not None
    assert outcome.problem.reason == "BAD_ANSWER"
