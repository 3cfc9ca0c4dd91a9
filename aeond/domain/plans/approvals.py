"""Approvals: exact tool calls that wait for a person, what is shown of them, and what was allowed."""

from enum import StrEnum
from typing import Final

from aeond.domain.plans.tool_calls import ToolCall
from aeond.frozen import frozen

APPROVAL_REQUIRED: Final = "APPROVAL_REQUIRED"
APPROVAL_DENIED: Final = "APPROVAL_DENIED"
APPROVAL_EXPIRED: Final = "APPROVAL_EXPIRED"


class ApprovalScope(StrEnum):
    """What an approval covers; every scope ends with the run."""

    ONCE = "once"  # exactly the calls shown, each in its own step
    RUN = "run"  # the tools shown, with any arguments
    FOLDER = "folder"  # the tools shown, on files in the folders shown
    HOST = "host"  # the tools shown, with the hosts shown


@frozen
class CallPreview:
    """What a call would do, by the account of its tool; empty where the tool gives none.

    `diff` is a unified diff of the changed file, `source` and `target` are what is moved or deleted and the path
    that is written, `command` is the command with its arguments, `host` the host and port that is contacted.
    `problem` is why the preview is incomplete. The texts come from files and models: programs that print them must
    escape them.
    """

    diff: str = ""
    source: str = ""
    target: str = ""
    command: tuple[str, ...] = ()
    host: str = ""
    problem: str = ""


@frozen
class ApprovalRequest:
    """Calls of a run that wait for a person: that of the first step, and planned ones shown together with it.

    `digests` identify the calls, in their order, with everything that the decision rests on (see `call_digest`);
    `kinds` identify the same without arguments and targets, for scopes other than ONCE, before and after what the calls
    themselves read; `digest` identifies all of them together. `folders` and `hosts` are what FOLDER and HOST would cover. `requested_time` is Unix time in seconds,
    `expire_seconds` how long it stays open (0: without limit). An `unattended` run does not wait for anybody.
    """

    approval_id: str
    step_ids: tuple[str, ...]
    calls: tuple[ToolCall, ...]
    digests: tuple[str, ...]
    digest: str
    message: str = ""
    previews: tuple[CallPreview, ...] = ()
    kinds: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    requested_time: float = 0.0
    expire_seconds: float = 0.0
    unattended: bool = False

    @property
    def expire_time(self) -> float:
        """The time at which it counts as denied, in Unix seconds; 0 for never."""
        return self.requested_time + self.expire_seconds if self.expire_seconds > 0 else 0.0

    @property
    def scopes(self) -> tuple[ApprovalScope, ...]:
        """The scopes with which it may be allowed."""
        folder = (ApprovalScope.FOLDER,) if self.folders else ()
        host = (ApprovalScope.HOST,) if self.hosts else ()
        return (ApprovalScope.ONCE, ApprovalScope.RUN, *folder, *host)

    def shows(self, step_id: str, digest: str) -> bool:
        """Whether exactly this call of this step is among those shown."""
        return (step_id, digest) in zip(self.step_ids, self.digests, strict=True)


@frozen
class ApprovalAnswer:
    """A person's decision. `digest` is the one that was shown; `scope` counts only if it is approved."""

    approval_id: str
    digest: str
    approved: bool
    scope: ApprovalScope = ApprovalScope.ONCE


@frozen
class ApprovalGrant:
    """An approval that was given."""

    approval: ApprovalRequest
    scope: ApprovalScope
