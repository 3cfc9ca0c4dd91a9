"""Whole runs: the kernel with the real orchestration and a scripted model."""

import json
from dataclasses import dataclass, field
from typing import Any

import anyio

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.capabilities.llm.agent import LLMAgent
from aeond.capabilities.tools.registry import Registry
from aeond.domain.plans.profiles import DEFAULT_PROFILE
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import DIMENSIONS, Budget
from aeond.domain.runs.run import RunRequest, RunSnapshot, RunState
from aeond.domain.tools import ToolContext
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import ToolError
from aeond.kernel.executor import StepExecutor
from aeond.kernel.orchestrator import Orchestrator, RunPorts
from aeond.orchestration.assembly import phases_over
from aeond.orchestration.execution.agent_steps import AgentReasoner
from aeond.orchestration.execution.intents import PreparedIntents
from aeond.orchestration.matching.text_ranking import TextRanking
from aeond.orchestration.planning.validator import PlanValidator
from aeond.orchestration.repair.step_repair import StepRepairer
from aeond.orchestration.repair.supervisor import Supervisor
from tests.support.doubles import ManualClock, PlainInvoker, RecordingFeed, ScriptedChildren, ScriptedTool
from tests.support.folding import fold_all
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.null_objects import AlwaysWait, AsSaid, NamedTemplates, NoSituations, NoTemplates

HARD = {"depth": 4, "known": 20, "tools": "moderate", "breadth": "broad", "confidence": "low", "why": "much"}
EASY = {**HARD, "depth": 1, "known": 100, "tools": "none", "breadth": "narrow"}
FINE = {"issues": [], "completeness": 100, "coherence": 100, "consistency": 100}
ROUTE, PROFILE, JUDGE, REFINE, STEP = (
    "Reply with the next action",
    "Do not plan it yet",
    "Do not plan. Judge",
    "Do not plan again",
    "You do one step",
)
PLAN, ANSWER = "You plan how to fulfil", "You are aeond, a helpful"
PLACE: JsonObject = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}
RUN_ID = "run"


def look(path: str) -> JsonObject:
    return {"tool": "look", "arguments": {"path": path}}


def think(task: str) -> JsonObject:
    return {"agent": "llm", "task": task}


async def see(arguments: JsonObject, context: ToolContext) -> JsonValue:
    if arguments["path"] == "park":
        return {"text": "mint and sage"}
    raise ToolError(f"there is no {arguments['path']}; there is a park", reason="FILE_NOT_FOUND")


class Ids:
    """Ids that these tests do not use."""

    def new_id(self) -> str:
        return "child"


@dataclass
class Daemon:
    """One run with everything that it needs; the model says what fits its question."""

    said: dict[str, list[Any]]
    journal: InMemoryJournal = field(default_factory=InMemoryJournal)

    def _model(self) -> ScriptedLLM:
        usual: dict[str, list[Any]] = {ROUTE: [{"plan": True}], PROFILE: [EASY], JUDGE: [FINE]}
        rules = [
            Rule.model_validate({"contains": word, "times": int(n < len(texts) - 1), **_says(text)})
            for word, texts in {**usual, **self.said}.items()
            for n, text in enumerate(texts)
        ]
        # A question is known by its last words; planning's beginning is in most of them.
        return ScriptedLLM(Script(rules=tuple(sorted(rules, key=lambda rule: rule.contains == PLAN))))

    async def work(self, budget: Budget | None = None) -> RunSnapshot:
        """The run, created and worked on until it has ended."""
        llm, clock, registry = self._model(), ManualClock(), Registry()
        tools = {"look": ScriptedTool("look", see, input_schema=PLACE)}
        registry.register(tools["look"])
        agents = {"llm": LLMAgent(llm)}
        validator = PlanValidator(registry, agents)
        supervisor = Supervisor(llm, validator)
        reasoner = AgentReasoner(agents, llm)
        repairer = StepRepairer(registry, supervisor)
        ports = RunPorts(
            journal=self.journal,
            feed=RecordingFeed(),
            phases=phases_over(
                supervisor,
                registry,
                PlainInvoker(tools),
                AsSaid(),
                NoSituations(),
                TextRanking(NoEmbedder()),
            ),
            intents=PreparedIntents(registry, reasoner, validator, NoTemplates(), Ids()),
            immediate=AlwaysWait(),
            executor=StepExecutor(
                PlainInvoker(tools), reasoner, repairer, clock, ScriptedChildren(), NamedTemplates()
            ),
            clock=clock,
        )
        created = e.RunCreated(RunRequest("What grows in the garden?"), budget or Budget(), logic_version=2)
        await self.journal.append([e.Event(RUN_ID, 1, 0.0, 0.0, created)])
        loop = Orchestrator(fold_all(RunSnapshot(RUN_ID), await self.journal.read(RUN_ID)), ports)
        with anyio.fail_after(60):
            return await loop.execute()

    async def kinds(self, *types: type) -> list[Any]:
        return [x.kind for x in await self.journal.read(RUN_ID) if isinstance(x.kind, types)]


def _says(text: Any) -> dict[str, Any]:
    if isinstance(text, dict) and set(text) & {"fail", "gone", "stall"}:
        return text
    return {"text": text if isinstance(text, str) else json.dumps(text)}


def within_bounds(run: RunSnapshot) -> bool:
    used, bound = run.ledger.used, run.bound.amounts
    return all(getattr(used, name) <= getattr(bound, name) for name in DIMENSIONS)


async def test_a_failed_step_is_made_good_in_another_pass() -> None:
    """A call fails, is judged, replaced by one that can work, and what waited for it is done: it succeeded."""
    daemon = Daemon(
        {
            PLAN: [{"steps": [look("garden"), think("What grows in $s1?")]}],
            REFINE: [{"changes": [{"change": "replace", "id": "s1", "step": look("park")}]}],
            ANSWER: ["Mint and sage."],
        }
    )
    run = await daemon.work()
    assert run.state is RunState.SUCCEEDED
    assert run.answer is not None
    assert run.answer.text == "Mint and sage."
    assert (run.pass_index, run.refinement_count) == (2, 1)
    judged = [x.evaluation for x in await daemon.kinds(e.PassEvaluated)]
    assert [(j.pass_index, j.converged) for j in judged] == [(0, True), (1, False), (2, True)]
    assert judged[1].issues[0].reason == "FILE_NOT_FOUND"
    assert [x.pass_index for x in run.steps.values() if x.attempt] == [1, 2, 2]
    assert within_bounds(run)


async def test_the_profile_sets_the_budget_within_the_bound() -> None:
    """An easy task is given less than it may have, by an event that follows its profile."""
    daemon = Daemon({PLAN: [{"steps": [look("park")]}], ANSWER: ["Mint."]})
    run = await daemon.work()
    assert run.state is RunState.SUCCEEDED
    (inferred,) = await daemon.kinds(e.ProfileInferred)
    (adjusted,) = await daemon.kinds(e.BudgetAdjusted)
    assert (inferred.fallback, inferred.profile.reasoning_depth) == (False, 1)
    assert adjusted.budget.amounts.exceeding(run.bound.amounts) == ""
    assert adjusted.budget.tokens < run.bound.tokens
    assert run.ledger.limit == adjusted.budget


async def test_a_blocked_step_makes_a_run_that_gets_on_go_deeper() -> None:
    """Not converged, an issue, a BLOCKED step: at the pass boundary profile and budget move up, as an event."""
    steps = [look("park"), think("Count the herbs."), think("Tell it with $s1 and $s2.")]
    daemon = Daemon(
        {
            PROFILE: [{**HARD, "depth": 2, "breadth": "narrow"}],
            PLAN: [{"steps": steps}],
            STEP: ["BLOCKED: no herbs are listed.", "Two herbs."],
            REFINE: [{"changes": [{"change": "replace", "id": "s2", "step": think("Count them in $s1.")}]}],
            ANSWER: ["There are two: mint and sage."],
        }
    )
    run = await daemon.work()
    assert run.state is RunState.SUCCEEDED, run.steps
    first, second = await daemon.kinds(e.BudgetAdjusted)
    assert second.reasons == ("NOT_CONVERGED", "ISSUES_PRESENT", "BLOCKED", "DEEPER")
    assert first.budget.amounts.exceeding(second.budget.amounts) == ""
    assert second.budget.tokens > first.budget.tokens
    assert second.profile is not None
    assert second.profile.reasoning_depth == 3
    assert within_bounds(run)


async def test_a_run_that_gets_nowhere_goes_shallower() -> None:
    """The step in place of a BLOCKED one brings nothing new and is BLOCKED too: profile and budget move down again."""
    steps = [look("park"), think("Count the herbs in $s1."), think("Tell it with $s1 and $s2.")]
    instead = [("s2", think("Count them in $s1.")), ("s4", think("Count again in $s1."))]
    daemon = Daemon(
        {
            PROFILE: [HARD],
            PLAN: [{"steps": steps}],
            JUDGE: [{"issues": []}, FINE],
            STEP: ["BLOCKED: no.", "BLOCKED: still no.", "Two."],
            REFINE: [{"changes": [{"change": "replace", "id": i, "step": step}]} for i, step in instead],
            ANSWER: ["There are two."],
        }
    )
    run = await daemon.work()
    assert run.state is RunState.SUCCEEDED, run.steps
    first, deeper, shallower = await daemon.kinds(e.BudgetAdjusted)
    assert deeper.reasons[-1] == "DEEPER"
    assert shallower.reasons == ("NOT_CONVERGED", "ISSUES_PRESENT", "BLOCKED", "SHALLOWER")
    assert shallower.budget.amounts.exceeding(deeper.budget.amounts) == ""
    assert shallower.budget.tokens < deeper.budget.tokens
    assert [x.profile.reasoning_depth for x in (deeper, shallower)] == [5, 4]
    assert first.profile is None
    assert within_bounds(run)


async def test_a_call_that_failed_is_not_made_again() -> None:
    """A plan that is refined into the same failing call goes to its answer at once, and says why."""
    daemon = Daemon(
        {
            PLAN: [{"steps": [look("garden")]}],
            REFINE: [{"changes": [{"change": "add", "step": look("garden")}]}],
        }
    )
    run = await daemon.work()
    assert run.state is RunState.FAILED
    assert run.pass_index == 1
    (refined,) = await daemon.kinds(e.PlanRefined)
    assert [problem.reason for problem in refined.skipped] == ["CALL_REPEATED"]
    assert run.answer is not None
    assert "there is no garden" in run.answer.text


async def test_an_expired_run_answers_and_says_where_it_was() -> None:
    """With its step executions spent the run ends EXPIRED, with what it has and with the phase it was in."""
    daemon = Daemon({PLAN: [{"steps": [look("park"), think("Count."), think("Tell.")]}], STEP: ["Two."]})
    run = await daemon.work(Budget(ttl=1))
    assert run.state is RunState.EXPIRED
    assert run.answer is not None
    assert "mint and sage" in run.answer.text
    assert any("ran out in phase C, before it ended, after 1 pass" in note for note in run.answer.notes)


async def short_after(said: dict[str, list[Any]], *kinds: type) -> Budget:
    """A budget that is at its end, but for next to nothing, when the last event of these kinds has happened."""
    daemon = Daemon(said)
    await daemon.work(Budget(tokens=3_000))  # as in the run that is short, none are spent on judging
    used, run = 0, RunSnapshot(RUN_ID)
    for event in await daemon.journal.read(RUN_ID):
        run = fold_all(run, [event])
        used = run.ledger.used.tokens if isinstance(event.kind, kinds) else used
    return Budget(tokens=used + 10)


async def expired(said: dict[str, list[Any]], budget: Budget) -> tuple[RunSnapshot, str]:
    """A run that ran out of tokens, and what its answer says of that."""
    daemon = Daemon(said)
    run = await daemon.work(budget)
    assert run.answer is not None
    assert (run.state, run.exhausted, run.answer.budget_exhausted) == (RunState.EXPIRED, "tokens", True)
    assert not run.ledger.used.exceeding(budget.amounts)
    (note,) = [note for note in run.answer.notes if "ran out" in note]
    return run, note


async def test_too_few_tokens_to_plan_with_expire_the_run() -> None:
    """A budget that no prompt of the planning fits into is a budget that ran out, and no plan that failed."""
    run, note = await expired({PLAN: [{"steps": [look("park")]}]}, Budget(tokens=10))
    assert (
        note
        == "the run's budget of tokens ran out in phase B, at its boundary, after 0 passes: 0 of 0 steps gave a result"
    )
    assert run.plan is None


async def test_too_few_tokens_for_a_step_expire_the_run() -> None:
    """Where a step does not fit into what is left, the run ends EXPIRED with the results that it has."""
    steps = [look("park"), think("Count $s1."), think("Tell $s2.")]
    said: dict[str, list[Any]] = {PLAN: [{"steps": steps}], STEP: ["Two."]}
    run, note = await expired(said, await short_after(said, e.PassStarted))
    assert run.steps["s2"].reason == "BUDGET_SPENT"
    assert run.answer is not None
    assert "mint and sage" in run.answer.text
    assert note.startswith(
        "the run's budget of tokens ran out in phase C, before it ended, after 1 pass: 1 of 3"
    )


async def test_too_few_tokens_for_the_answer_expire_the_run() -> None:
    """Where the answer does not fit into what is left, it is that of the steps, and the run ends EXPIRED."""
    said: dict[str, list[Any]] = {PLAN: [{"steps": [look("park")]}], ANSWER: ["Mint."]}
    run, note = await expired(said, await short_after(said, e.AnswerStarted))
    assert run.answer is not None
    assert "mint and sage" in run.answer.text
    assert note.startswith("the run's budget of tokens ran out in phase E")


async def test_a_run_without_its_model_still_ends_with_an_answer() -> None:
    """Every call of the model fails: no profile, no plan, and an answer that says so."""
    gone: list[Any] = [{"fail": "BAD_ANSWER"}]
    daemon = Daemon(dict.fromkeys((ROUTE, PROFILE, PLAN, JUDGE, ANSWER), gone))
    run = await daemon.work()
    assert run.state is RunState.FAILED
    assert run.profile == DEFAULT_PROFILE
    assert run.answer is not None
    assert run.answer.text.startswith("No result")


async def test_an_engine_that_died_once_is_asked_once_more() -> None:
    """A retryable failure of each phase is tried again, and the run goes on as if nothing had been."""
    died = {"gone": True, "times": 3}  # as often as an adapter tries by itself
    daemon = Daemon(
        {
            ROUTE: [died, {"plan": True}],
            PROFILE: [died, EASY],
            PLAN: [died, {"steps": [look("park")]}],
            ANSWER: ["Mint."],
        }
    )
    run = await daemon.work()
    assert run.state is RunState.SUCCEEDED
    assert [
        x.used.llm_calls for x in await daemon.kinds(e.RouteChosen, e.ProfileInferred, e.PlanAdopted)
    ] == [
        2,
        2,
        2,
    ]
    assert (run.run_id, run.created_time) == (RUN_ID, 0.0)
