"""Policy as data: effect classes, the facts of a tool call, the decision about it, and the digest of an approval."""

import hashlib
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, Final

from aeond.domain.values import NO_ARGUMENTS, JsonObject, JsonValue, canonical_json
from aeond.frozen import frozen


class Effect(StrEnum):
    """The effect of a call, declared by the tool, never by the model."""

    PURE = "pure"  # computes; the same arguments give the same result
    READ = "read"  # reads the outside world
    WRITE_CONTAINED = "write_contained"  # changes the run's workspace
    MEMORY = "memory"  # changes the user's memory
    WRITE_OUTSIDE = "write_outside"  # changes other files
    EXEC_CONTAINED = "exec_contained"  # runs a command, sandboxed, without network
    EXEC_HOST = "exec_host"  # runs a command on the host
    NET = "net"  # talks to the network; a GET is egress
    SECRET = "secret"  # touches secrets
    UNDECLARED = "undeclared"  # not stated: treated as the worst of all


_BY_DANGER: Final = (
    *(Effect.PURE, Effect.READ, Effect.WRITE_CONTAINED, Effect.MEMORY, Effect.EXEC_CONTAINED),
    *(Effect.NET, Effect.WRITE_OUTSIDE, Effect.EXEC_HOST, Effect.SECRET, Effect.UNDECLARED),
)


def worse(first: Effect, second: Effect) -> Effect:
    """The more dangerous of two effect classes."""
    return max(first, second, key=_BY_DANGER.index)


class Recovery(StrEnum):
    """How a restart treats a call that was started and has no recorded outcome."""

    RERUN = "rerun"  # no effects: run it again
    RECONCILE = "reconcile"  # idempotent: ask the tool for the outcome, else run it again
    ASK = "ask"  # at most once: a person decides


class Verdict(StrEnum):
    """The decision about a call. DENY outweighs ASK, and ASK outweighs ALLOW."""

    ALLOW = "allow"
    ASK = "ask"  # a person decides
    DENY = "deny"


class Origin(StrEnum):
    """Who wrote the call."""

    DIRECT = "direct"  # a client, as a single call
    CLIENT = "client"  # a client, as a step of a plan
    MODEL = "model"


class TargetKind(StrEnum):
    """The kind of a thing that a call touches, and the form of its name."""

    FILE = "file"  # an absolute path with links resolved
    HOST = "host"  # host:port in lower case
    COMMAND = "command"  # argv[0]
    MEMORY = "memory"  # the key of a fact


class Access(StrEnum):
    """What the call does to a target."""

    READ = "read"
    WRITE = "write"  # creates or changes it
    DELETE = "delete"
    USE = "use"  # connects to a host, runs a command


@frozen
class Target:
    """One thing that a call touches. `exists` is None where that is not known before the call."""

    kind: TargetKind
    name: str
    access: Access
    exists: bool | None = None


@frozen
class CallFacts:
    """Everything that a decision about a call may depend on.

    `arguments` are the parsed arguments exactly as the tool receives them. `targets_known` says that the call
    touches nothing besides `targets`; it is false for a tool that does not report its targets. `taint` names the
    untrusted sources that the run has read, sorted; empty for an untainted run. `workspace` is the real path of the
    run's folder, `workspace_id` identifies the folder itself across renames ("" if unknown). `sandbox` names the
    sandbox of the call with its layers ("" for a call inside the daemon). `foreign` marks a tool by another author.
    `uid` is -1 if unknown. `code` identifies the tool's declarations and code ("" if unknown).
    """

    tool: str
    effect: Effect
    arguments: JsonObject = field(default_factory=lambda: NO_ARGUMENTS)
    targets: tuple[Target, ...] = ()
    targets_known: bool = True
    taint: tuple[str, ...] = ()
    origin: Origin = Origin.MODEL
    uid: int = -1
    workspace: str = ""
    workspace_id: str = ""
    sandbox: str = ""
    foreign: bool = False
    code: str = ""

    @property
    def tainted(self) -> bool:
        return bool(self.taint)

    @classmethod
    def from_json(cls, tool: str, arguments: JsonObject, facts: JsonObject) -> "CallFacts":
        """The facts that `as_json` gave. KeyError, TypeError or ValueError if they do not have its form."""
        parts: Mapping[str, Any] = facts
        return cls(
            tool,
            Effect(parts["effect"]),
            arguments,
            tuple(
                Target(TargetKind(one["kind"]), one["name"], Access(one["access"]), one["exists"])
                for one in parts["targets"]
            ),
            parts["targets_known"],
            tuple(parts["taint"]),
            Origin(parts["origin"]),
            parts["uid"],
            parts["workspace"],
            parts["workspace_id"],
            parts["sandbox"],
            parts["foreign"],
            parts.get("code", ""),  # journals of earlier versions do not have it
        )

    def as_json(self) -> JsonObject:
        """The facts without tool and arguments, which events and requests carry separately.

        In plain texts: JSON is made of them in half the time that it takes from members of enumerations.
        """
        targets: list[Mapping[str, JsonValue]] = [
            {
                "kind": target.kind.value,
                "name": target.name,
                "access": target.access.value,
                "exists": target.exists,
            }
            for target in self.targets
        ]
        return {
            "effect": self.effect.value,
            "targets": targets,
            "targets_known": self.targets_known,
            "taint": list(self.taint),
            "origin": self.origin.value,
            "uid": self.uid,
            "workspace": self.workspace,
            "workspace_id": self.workspace_id,
            "sandbox": self.sandbox,
            "foreign": self.foreign,
            "code": self.code,
        }


@frozen
class Decision:
    """A verdict with its grounds: the name of the deciding rule ("" if none matched), the reason in plain words, and
    the version of the policy."""

    verdict: Verdict
    rule: str
    reason: str
    version: str


@frozen
class DecidedCall:
    """A call as it was decided, for the journal. `adds` names the untrusted sources that it reads if it is carried
    out."""

    facts: CallFacts
    decision: Decision
    adds: tuple[str, ...] = ()


@frozen
class PolicyRule:
    """A rule as people read it. Empty conditions match every call."""

    name: str
    verdict: Verdict
    conditions: JsonObject
    reason: str


@frozen
class PolicyDescription:
    """A policy with all its rules, those that cannot be changed first; `file` is "" for a profile alone."""

    version: str
    profile: str
    file: str
    rules: tuple[PolicyRule, ...]


@frozen
class ReplayedDecision:
    """A past call with the decision in the journal (None: an earlier version recorded none) and the decision now."""

    step_id: str
    tool: str
    arguments: JsonObject
    recorded: Decision | None
    decided: Decision
    facts_recorded: bool


@frozen
class PolicyReplay:
    """The calls of a run in the order of the journal, decided again by the policy of this version."""

    decisions: tuple[ReplayedDecision, ...]
    version: str


def call_digest(facts: CallFacts, policy_version: str) -> str:
    """Identifies a call for approvals: SHA-256 of its tool with its code, canonical arguments, targets, workspace, policy
    version and sandbox, as 64 hexadecimal digits. Equal for arguments that differ only in the order of their keys."""
    parts: JsonObject = {
        "tool": [facts.tool, facts.code],
        "arguments": facts.arguments,
        # not whether they exist: a step approved with its plan may find a file that an earlier step created
        "targets": [[target.kind, target.name, target.access] for target in facts.targets],
        "targets_known": facts.targets_known,
        "workspace": [facts.workspace, facts.workspace_id],
        "policy": policy_version,
        "sandbox": facts.sandbox,
    }
    return hashlib.sha256(canonical_json(parts).encode("utf-8", "surrogatepass")).hexdigest()


MAX_SOURCES: Final = 16
MORE_SOURCES: Final = "more"
"""The last source of a list that was too long."""


def joined(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """The sources of both, sorted, each once, at most MAX_SOURCES."""
    if not second or second == first:
        return first
    sources = sorted({*first, *second} - {MORE_SOURCES})
    if len(sources) < MAX_SOURCES and MORE_SOURCES not in (*first, *second):
        return tuple(sources)
    return (*sources[: MAX_SOURCES - 1], MORE_SOURCES)
