"""The cost of a decision, for policies of different sizes, of deciding about a call that only computes, and of all that
a step owes to the policy."""

from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import anyio

from aeond.capabilities.policy.authorising import PolicyAuthoriser
from aeond.capabilities.policy.inspecting import ToolInspector
from aeond.capabilities.policy.loading import Profile, load_policy, parse_policy
from aeond.capabilities.policy.trust import Trust
from aeond.capabilities.tools.registry import Registry
from aeond.domain.policy import Access, CallFacts, DecidedCall, Effect, Target, TargetKind
from aeond.domain.tools import ToolCall, ToolContext
from benchmarks.calls import Same
from benchmarks.measuring import OURS, Contender, Sample, in_turns
from benchmarks.page import Section, microseconds, verdict
from tests.support.null_objects import NoApprover

DECISIONS_A_TURN = 2_000
TURNS = 41
MOST_MICROSECONDS = 30
MOST_PERCENT = 5
RULES = 20

_WORKSPACE = "/home/ann/projects/garden"
_FILE = Target(TargetKind.FILE, f"{_WORKSPACE}/notes/2026/spring.md", Access.WRITE, exists=True)
_WRITE = CallFacts(
    "write_file", Effect.WRITE_CONTAINED, {"path": "notes/2026/spring.md"}, (_FILE,), workspace=_WORKSPACE
)
_CALL = ToolCall("same", {"text": "hello"}, "call")
_CONTEXT = ToolContext("run", "s1", "call", _WORKSPACE)


def measure(_folder: Path) -> Section:
    """Microseconds a decision."""
    shipped, large = load_policy(Profile.TRUSTED_FOLDER, None), parse_policy(_many_rules())
    tainted = CallFacts.from_json(
        _WRITE.tool, _WRITE.arguments, {**_WRITE.as_json(), "taint": ["host:a:443"]}
    )
    rows = (
        ("a write, shipped profile", _timed(lambda: shipped.decide(_WRITE))),
        ("a write of a tainted run", _timed(lambda: shipped.decide(tainted))),
        (f"a write, {RULES} rules with paths, none of which applies", _timed(lambda: large.decide(_WRITE))),
        ("facts and decision of a call that only computes", anyio.run(_authorised)),
    )
    return Section(
        "Decisions of the policy",
        f"{TURNS} rounds of {DECISIONS_A_TURN} decisions each, in one process.",
        ("what", "a decision", "undisturbed", "aim"),
        tuple(
            (
                name,
                f"{sample.median * 1e6:.1f} us",
                f"{sample.fastest_tenth * 1e6:.1f} us",
                verdict(sample.median * 1e6, at_most=MOST_MICROSECONDS, unit=" us"),
            )
            for name, sample in rows
        ),
    )


STEPS = {
    kind: Contender(kind, OURS, "aeond_in_process.py", (kind, "alternating"), count=60, warm_up=10)
    for kind in ("compute", "write")
}
ROUNDS = 7


def measure_steps(folder: Path) -> Section:
    """A step with policy and undo log, and one without."""
    turns = in_turns(tuple(STEPS.values()), ROUNDS, folder)
    rows = []
    for kind in STEPS:
        seconds = turns.whole(kind).seconds
        walled, bare = Sample(seconds[::2]), Sample(seconds[1::2])
        added = (walled.fastest_tenth / bare.fastest_tenth - 1) * 100
        rows.append(
            (
                f"a step that {'computes' if kind == 'compute' else 'writes a file'}",
                microseconds(bare.fastest_tenth),
                microseconds(walled.fastest_tenth),
                f"{added:.1f} %",
                verdict(added, at_most=MOST_PERCENT, unit=" %"),
            )
        )
    return Section(
        "Steps under the policy",
        "A step of a chain of ten, in the daemon's process and on disk, with the shipped profile `trusted-folder`: the facts"
        " of the call, the decision and its event, and of a change its record for undo, which is on disk before it. One daemon"
        f" runs chains with and without all of these in turn, {ROUNDS} times 25 of each; the figures are the tenth percentiles,"
        " which other load of the machine disturbs least.",
        ("what", "without", "with", "added", "aim"),
        tuple(rows),
    )


def _many_rules() -> str:
    rules = (
        f'[[deny]]\nname = "r{number}"\nreason = "x"\npaths = ["**/private-{number}/**", "/srv/{number}/*.md"]\n'
        for number in range(RULES)
    )
    return 'profile = "trusted-folder"\n' + "".join(rules)


def _timed(decide: Callable[[], object]) -> Sample:
    return Sample(tuple(_turn(decide) for _ in range(TURNS)))


def _turn(decide: Callable[[], object]) -> float:
    begun = perf_counter()
    for _ in range(DECISIONS_A_TURN):
        decide()
    return (perf_counter() - begun) / DECISIONS_A_TURN


async def _authorised() -> Sample:
    registry = Registry()
    registry.register(Same())
    policy = load_policy(Profile.TRUSTED_FOLDER, None)
    authoriser = PolicyAuthoriser(ToolInspector(registry), policy, NoApprover(), Trust())
    seconds = []
    for _ in range(TURNS):
        decided: list[DecidedCall] = []
        begun = perf_counter()
        for _ in range(DECISIONS_A_TURN):
            await authoriser.authorise(_CALL, _CONTEXT, decided.append)
        seconds.append((perf_counter() - begun) / DECISIONS_A_TURN)
    return Sample(tuple(seconds))
