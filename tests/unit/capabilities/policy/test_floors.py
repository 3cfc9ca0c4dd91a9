"""The calls that need approval under every policy."""

from pathlib import Path

import pytest

import aeond
from aeond.capabilities.policy.floors import FLOORS
from aeond.capabilities.policy.loading import parse_policy
from aeond.domain.policy import Access, CallFacts, Decision, Effect, Target, TargetKind, Verdict
from tests.support.policy_facts import WORKSPACE, of_class, policy_text, write

EVERYTHING = parse_policy(policy_text("trusted-folder", allow=[{}]))
WEB = ("host:example.org:443",)


def decided(facts: CallFacts) -> Decision:
    return EVERYTHING.decide(facts)


def memory(access: Access, **others: object) -> CallFacts:
    target = Target(TargetKind.MEMORY, "door code", access, exists=False)
    return of_class(Effect.MEMORY, targets=(target,), **others)


def test_the_code_of_the_daemon_is_changed_with_consent_only() -> None:
    """A change of a module of aeond needs approval under a policy that allows everything."""
    found = decided(write(str(Path(aeond.__file__).resolve().parent / "errors.py"), exists=True))
    assert (found.verdict, "the code of aeond" in found.reason) == (Verdict.ASK, True)


def test_untainted_work_needs_no_question() -> None:
    """Writing, changing and remembering before anything untrusted was read is plain work."""
    for facts in (write(f"{WORKSPACE}/a"), write(f"{WORKSPACE}/a", exists=True), memory(Access.WRITE)):
        assert decided(facts).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    "facts",
    [
        write(f"{WORKSPACE}/a", exists=True, taint=WEB),
        write(f"{WORKSPACE}/a", exists=None, taint=WEB),
        memory(Access.WRITE, taint=WEB),
        memory(Access.DELETE, taint=WEB),
        of_class(Effect.WRITE_CONTAINED, taint=WEB, targets_known=False),
        of_class(Effect.EXEC_CONTAINED, taint=WEB, targets_known=False),
        of_class(Effect.NET, taint=WEB),
        of_class(Effect.WRITE_OUTSIDE, taint=WEB),
        of_class(Effect.EXEC_HOST, taint=WEB),
        of_class(Effect.SECRET, taint=WEB),
        of_class(Effect.UNDECLARED),
    ],
)
def test_a_tainted_run_is_asked_about_what_it_could_spoil(facts: CallFacts) -> None:
    """A note's text had another file overwritten and a fact planted, with no question; both are asked about now."""
    decision = decided(facts)
    assert decision.verdict is Verdict.ASK
    assert decision.rule in {floor.name for floor in FLOORS}
    assert decision.reason


@pytest.mark.parametrize(
    "facts",
    [
        write(f"{WORKSPACE}/new", taint=WEB),
        of_class(Effect.READ, taint=WEB),
        of_class(Effect.PURE, taint=WEB),
        of_class(Effect.EXEC_CONTAINED, taint=WEB),
    ],
)
def test_a_tainted_run_may_still_do_what_spoils_nothing(facts: CallFacts) -> None:
    """Reading, computing and new files in the workspace need no question."""
    assert decided(facts).verdict is Verdict.ALLOW


def test_every_write_to_a_protected_name_needs_approval() -> None:
    """A user had .git/hooks of the daemon's account written; such names are asked about also untainted."""
    decision = decided(write(f"{WORKSPACE}/.git/hooks/pre-commit"))
    assert (decision.verdict, decision.rule) == (Verdict.ASK, "builtin.protected-name")
    read = Target(TargetKind.FILE, f"{WORKSPACE}/.git/config", Access.READ, exists=True)
    assert decided(of_class(Effect.READ, targets=(read,))).verdict is Verdict.ALLOW


def test_a_rule_that_denies_outweighs_a_floor() -> None:
    """A floor raises what is allowed, it does not soften what is denied."""
    policy = parse_policy(policy_text("ask", deny=[{"paths": ["**/.git/**"]}]))
    assert policy.decide(write(f"{WORKSPACE}/.git/config")).verdict is Verdict.DENY
