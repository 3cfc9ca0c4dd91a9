# Generated from protos/ by `make proto`; never edited.
"""Evaluations and questions of a run."""

from dataclasses import dataclass, field
from typing import Any

from aeond_client.records.tools import ToolCall


@dataclass(frozen=True, slots=True)
class TaskProfile:
    """The estimated difficulty of a task."""

    reasoning_depth: int
    """1 to 5. 0: not set."""
    information_sufficiency: float
    """The share of the needed information that the request contains, 0 to 1."""
    expected_tool_usage: str
    """Expected use of tools."""
    output_breadth: str
    """Expected breadth of the answer."""
    confidence_requirement: str
    """Required confidence of the answer."""
    raw_inference: str = ""
    """The model's own words."""


@dataclass(frozen=True, slots=True)
class Issue:
    """A finding of an evaluation."""

    reason: str
    """A stable UPPER_SNAKE word."""
    severity: str
    """The severity."""
    step_id: str
    """The step. Empty: the plan or pass as a whole."""
    message: str
    """A description for people."""
    proposal: str = ""
    """A proposed correction, for people. Empty: none."""


@dataclass(frozen=True, slots=True)
class CallPreview:
    """What a call would do, by the account of its tool. The texts come from files and models: escape
    them for display."""

    diff: str = ""
    """A unified diff of the changed file. Empty: no file is changed, or see problem."""
    source: str = ""
    """What is moved or deleted. Empty: nothing."""
    target: str = ""
    """The path that is written, or the new place of source. Empty: none."""
    command: tuple[str, ...] = ()
    """The command with its arguments. Empty: none is run."""
    host: str = ""
    """The host and port that is contacted. Empty: none."""
    problem: str = ""
    """Why the preview is incomplete. Empty: it is complete, or the tool gives none."""


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """Exact tool calls that wait for a person's approval."""

    approval_id: str
    """Unique in the run."""
    step_ids: tuple[str, ...]
    """The steps."""
    calls: tuple[ToolCall, ...]
    """The calls with their exact arguments."""
    digest: str
    """Identifies calls, policy and sandbox. An approval with another digest is rejected."""
    message: str = ""
    """The reason for asking, for people."""
    expire_time: float = 0.0
    """The time after which it counts as denied; it does not pass while the run is suspended. Not set:
    never."""
    previews: tuple[CallPreview, ...] = ()
    """What each call would do, in their order."""
    scopes: tuple[str, ...] = ()
    """The scopes with which it may be approved."""
    folders: tuple[str, ...] = ()
    """The folders that APPROVAL_SCOPE_FOLDER covers. Empty: the calls touch no files."""
    hosts: tuple[str, ...] = ()
    """The hosts that APPROVAL_SCOPE_HOST covers. Empty: the calls contact none."""
    requested_time: float = 0.0
    """The time of the request."""
    expire_seconds: float = 0.0
    """How long it is open, in seconds. 0: without limit."""
    unattended: bool = False
    """Whether the run was to be unattended, and is suspended at once."""
    digests: tuple[str, ...] = ()
    """Identifies each call, in their order."""
    kinds: tuple[str, ...] = ()
    """Identifies each call without its arguments, in their order."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a run to a person."""

    question_id: str
    """Unique in the run."""
    step_id: str
    """The asking step."""
    prompt: str
    """The text of the question."""
    schema: dict[str, Any] = field(default_factory=dict)
    """JSON Schema that the answer must satisfy. Empty: any text."""
    options: tuple[str, ...] = ()
    """The possible answers. Empty: not a choice."""
    default: Any = None
    """The answer after the deadline. Empty: the step fails then."""
    has_default: bool = False
    deadline_time: float = 0.0
    """The deadline. Not set: none."""
    continues: bool = False
    """Whether the answer continues the step's call. False: it is the step's result."""
