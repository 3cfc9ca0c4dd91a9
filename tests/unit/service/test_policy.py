"""The policy as clients see it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from aeond.capabilities.policy.inspecting import ToolInspector
from aeond.capabilities.policy.loading import load_policy, parse_policy
from aeond.capabilities.tools.registry import Registry
from aeond.domain.plans.plan import PlanStep, StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.policy import CallFacts, DecidedCall, Effect, Verdict
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.run import Caller, Owner, RunRequest
from aeond.domain.tools import Recovery, ToolCall
from aeond.errors import InvalidInputError, NotFoundError
from aeond.service.folding import RunOwners
from aeond.service.policy import PolicyDecisions
from aeond.service.runs.workspaces import Workspaces
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.policy_facts import policy_text
from tests.support.tools import FreeTool

ANN = Owner(1000, 1)
CALLER = Caller(ANN)
CALL = ToolCall("give_back", {"text": "hi"}, "r/s1")


@pytest.fixture
def journal() -> InMemoryJournal:
    return InMemoryJournal()


@pytest.fixture
def decisions(tmp_path: Path, journal: InMemoryJournal) -> PolicyDecisions:
    registry = Registry()
    registry.register(FreeTool())
    return PolicyDecisions(
        policy=load_policy("ask", None),
        parse=parse_policy,
        inspector=ToolInspector(registry),
        registry=registry,
        journal=journal,
        owners=RunOwners(journal),
        workspaces=Workspaces(own=tmp_path / "own", roots=[tmp_path], protected=[], user_id=ANN.uid),
    )


async def record(journal: InMemoryJournal, *kinds: e.EventKind) -> None:
    created = e.RunCreated(RunRequest("x", owner=ANN, workspace="/home/ann"), Budget())
    started = e.StepStarted(PlanStep("s1", "say", CALL), 1, StepMode.TOOL, Recovery.RERUN, Amounts())
    every: Sequence[e.EventKind] = (created, started, *kinds)
    await journal.append([e.Event("r", seq, 1.0, 0.0, kind) for seq, kind in enumerate(every, start=1)])


async def test_the_policy_in_force_is_described(decisions: PolicyDecisions) -> None:
    """Its version, profile and rules are shown."""
    described = await decisions.in_force()
    assert described == load_policy("ask", None).describe()


async def test_a_call_is_decided_and_not_carried_out(decisions: PolicyDecisions, tmp_path: Path) -> None:
    """The facts are those of a step that a model planned, in this workspace and with this taint."""
    decided = await decisions.test(CALL, str(tmp_path), ("web", "mail", "web"), ANN)
    assert decided.decision.verdict is Verdict.ALLOW
    assert (decided.facts.uid, decided.facts.taint, decided.facts.workspace) == (
        1000,
        ("mail", "web"),
        str(tmp_path),
    )


async def test_a_tool_that_does_not_exist_is_not_found(decisions: PolicyDecisions) -> None:
    """A misspelt name is an error and no decision."""
    with pytest.raises(NotFoundError):
        await decisions.test(ToolCall("none"), "", (), ANN)


async def test_a_recorded_call_is_decided_again_by_its_facts(
    decisions: PolicyDecisions, journal: InMemoryJournal
) -> None:
    """The new policy decides about the recorded facts and the exact arguments; the old decision is beside it."""
    facts = CallFacts("give_back", Effect.MEMORY, {}, uid=1000)
    policy = load_policy("trusted-folder", None)
    before = policy.decide(facts)
    await record(journal, e.PolicyDecided.of("s1", DecidedCall(facts, before)))
    (replayed,) = (await decisions.replay("r", policy_text("observe"), CALLER)).decisions
    assert (replayed.tool, replayed.arguments, replayed.facts_recorded) == ("give_back", {"text": "hi"}, True)
    assert replayed.recorded == before
    assert replayed.decided.verdict is Verdict.DENY


async def test_a_call_that_only_computed_is_decided_again(
    decisions: PolicyDecisions, journal: InMemoryJournal
) -> None:
    """Its decision is in the event of its end."""
    ended = e.StepEnded("s1", StepState.SUCCEEDED, StepMode.TOOL, rule="ask.reading", policy_version="ask-1")
    await record(journal, ended)
    text = policy_text("ask", deny=[{"tools": ["give_*"]}])
    (replayed,) = (await decisions.replay("r", text, CALLER)).decisions
    assert replayed.recorded is not None
    assert (replayed.recorded.verdict, replayed.recorded.version) == (Verdict.ALLOW, "ask-1")
    assert replayed.decided.verdict is Verdict.DENY


async def test_a_journal_of_an_earlier_version_is_decided_from_its_calls(
    decisions: PolicyDecisions, journal: InMemoryJournal
) -> None:
    """Where no decision was recorded, the facts are those of the call and its tool alone."""
    await record(journal, e.StepEnded("s1", StepState.SUCCEEDED, StepMode.TOOL))
    replay = await decisions.replay("r", "", CALLER)
    (replayed,) = replay.decisions
    assert (replayed.recorded, replayed.facts_recorded) == (None, False)
    assert (replayed.decided.verdict, replay.version) == (Verdict.ALLOW, load_policy("ask", None).version)


async def test_a_replay_needs_a_run_and_a_policy(
    decisions: PolicyDecisions, journal: InMemoryJournal
) -> None:
    """A run that does not exist and a broken policy are errors."""
    with pytest.raises(NotFoundError):
        await decisions.replay("none", "", CALLER)
    await record(journal)
    with pytest.raises(InvalidInputError) as raised:
        await decisions.replay("r", "profile = 1", CALLER)
    assert raised.value.reason == "POLICY_INVALID"
