"""When a rule applies."""

import pytest

from aeond.capabilities.policy.loading import parse_policy
from aeond.domain.policy import Access, Decision, Effect, Origin, Target, TargetKind, Verdict
from tests.support.policy_facts import WORKSPACE, of_class, policy_text, write

TWO_FILES = (
    Target(TargetKind.FILE, f"{WORKSPACE}/src/a", Access.WRITE, exists=False),
    Target(TargetKind.FILE, f"{WORKSPACE}/other/b", Access.WRITE, exists=False),
)


def allows(conditions: dict[str, object], **facts: object) -> Verdict:
    policy = parse_policy(policy_text("ask", allow=[conditions]))
    return policy.decide(of_class(Effect.WRITE_CONTAINED, **facts)).verdict


def denies(conditions: dict[str, object], **facts: object) -> Verdict:
    policy = parse_policy(policy_text("trusted-folder", deny=[conditions]))
    return policy.decide(of_class(Effect.WRITE_CONTAINED, **facts)).verdict


def test_permission_for_paths_must_cover_every_file() -> None:
    """A call that touches one file outside the permitted paths is asked about; a restriction needs one file."""
    assert allows({"paths": ["src/**"]}, targets=TWO_FILES) is Verdict.ASK
    assert allows({"paths": ["src/**"]}, targets=TWO_FILES[:1]) is Verdict.ALLOW
    assert denies({"paths": ["src/**"]}, targets=TWO_FILES) is Verdict.DENY


def test_permission_for_paths_does_not_cover_unknown_targets() -> None:
    """A tool that does not report its targets gets no permission that depends on them, and a restriction asks."""
    assert allows({"paths": ["**"]}, targets_known=False) is Verdict.ASK
    assert allows({"paths": ["**"]}) is Verdict.ASK
    assert denies({"paths": ["private/**"]}, targets_known=False) is Verdict.ASK


def test_a_command_by_its_bare_name() -> None:
    """A restriction of git holds for any program of that name, permission only for the program as it is written."""
    lookalike = (Target(TargetKind.COMMAND, "/srv/evil/git", Access.USE),)
    assert denies({"commands": ["git"]}, targets=lookalike) is Verdict.DENY
    assert allows({"commands": ["git"]}, targets=lookalike) is Verdict.ASK
    assert allows({"commands": ["/srv/evil/git"]}, targets=lookalike) is Verdict.ALLOW


def test_a_memory_key_in_any_case() -> None:
    """Memory keys are compared without case."""
    key = (Target(TargetKind.MEMORY, "Bank Account", Access.WRITE, exists=False),)
    assert denies({"memory": ["bank*"]}, targets=key) is Verdict.DENY


@pytest.mark.parametrize(
    ("conditions", "facts", "verdict"),
    [
        ({"tools": ["some_*"]}, {}, Verdict.ALLOW),
        ({"tools": ["other"]}, {}, Verdict.ASK),
        ({"users": [1000]}, {"uid": 1000}, Verdict.ALLOW),
        ({"users": ["root"]}, {"uid": 0}, Verdict.ALLOW),
        ({"users": [1000]}, {"uid": 1001}, Verdict.ASK),
        ({"origins": ["client"]}, {"origin": Origin.CLIENT}, Verdict.ALLOW),
        ({"origins": ["client"]}, {"origin": Origin.MODEL}, Verdict.ASK),
        ({"tainted": False}, {}, Verdict.ALLOW),
        ({"tainted": True}, {}, Verdict.ASK),
        ({"classes": ["net"]}, {}, Verdict.ASK),
        ({}, {}, Verdict.ALLOW),
    ],
)
def test_every_condition_must_hold(
    conditions: dict[str, object], facts: dict[str, object], verdict: Verdict
) -> None:
    """A rule without conditions concerns every call; each condition narrows it."""
    assert allows(conditions, **facts) is verdict


def test_an_undeclared_effect_is_the_worst() -> None:
    """A restriction of any class holds for a tool that declares none, permission of a class does not."""
    undeclared = of_class(Effect.UNDECLARED)
    denying = parse_policy(policy_text("trusted-folder", deny=[{"classes": ["secret"]}]))
    allowing = parse_policy(
        policy_text("trusted-folder", allow=[{"classes": ["exec_host", "secret", "net"]}])
    )
    assert denying.decide(undeclared).verdict is Verdict.DENY
    assert allowing.decide(undeclared).verdict is Verdict.ASK


def test_a_decision_names_its_rule_and_version() -> None:
    """A decision carries what its reader needs to find the rule."""
    policy = parse_policy(policy_text("ask", deny=[{"paths": ["/etc/**"]}]))
    decision = policy.decide(write("/etc/hosts"))
    assert decision == Decision(Verdict.DENY, "own.deny.1", "the test says so", policy.version)
