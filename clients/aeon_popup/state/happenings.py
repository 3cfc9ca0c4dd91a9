"""The happenings that change the popup's state from outside: events of runs, results of calls, and the connection. Also the
hotkey as it was set, which is part of the state and no happening.
"""

from dataclasses import dataclass

from aeond_client.events import Event
from aeond_client.records.judgements import ApprovalRequest
from aeond_client.records.runs import RunSummary, UndoReport


@dataclass(frozen=True, slots=True)
class Approval:
    """Calls of a run, or of a run below it, that wait for a person's approval."""

    run_id: str
    request: ApprovalRequest

    @property
    def subject(self) -> str:
        """Identifies it among all runs, with exactly the calls that it shows: its id is unique in its run only."""
        return subject_of(self.run_id, f"{self.request.approval_id}/{self.request.digest}")


def subject_of(run_id: str, name: str) -> str:
    """Identifies a question or a step among all runs by its id, which is unique in its run only."""
    return f"{run_id}/{name}"


def key_of(run_id: str) -> str:
    """The key of a run that this popup did not submit."""
    return f"opened-{run_id}"


@dataclass(frozen=True, slots=True)
class Accepted:
    """The daemon stored the run of this request."""

    key: str
    run_id: str
    session_id: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The daemon did not accept the request, or is not available; its text becomes the draft again, and a failed run that was to be
    continued is shown again. The same request would always be refused if that is `lasting`.
    """

    key: str
    message: str
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Received:
    """An event of a followed run or of a run below it; `key` names the followed run."""

    key: str
    event: Event
    time: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """A run that had not ended when the popup was started. Its events follow from the first one; those up to `last_seq` are old."""

    key: str
    run_id: str
    text: str
    last_seq: int


@dataclass(frozen=True, slots=True)
class LinkUp:
    """A daemon is listening on this socket."""

    socket: str


@dataclass(frozen=True, slots=True)
class LinkDown:
    """No daemon is listening."""

    socket: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class StartFailed:
    """The daemon was not started, for the reason in the message."""

    message: str


@dataclass(frozen=True, slots=True)
class CallFailed:
    """A call about a run failed, such as a cancellation or an answer. `subject` is that of an answer or a decision."""

    key: str
    message: str
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Undone:
    """The result of undoing a run's changes."""

    key: str
    report: UndoReport


@dataclass(frozen=True, slots=True)
class HistoryListed:
    """The most recent runs, newest first."""

    runs: tuple[RunSummary, ...]


@dataclass(frozen=True, slots=True)
class HistoryFailed:
    """The runs could not be listed, for the reason in the message."""

    message: str


@dataclass(frozen=True, slots=True)
class DaemonSeen:
    """The daemon's state and its problems, while the window is visible."""

    state: str
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HotkeySet:
    """The hotkey was bound, as `shortcut` describes it, or it was not: `problem` says why. With `absent` there is nothing to
    repair: none is wanted, or this desktop binds no keys for programs, so the user has to bind one.
    """

    shortcut: str = ""
    problem: str = ""
    absent: bool = False


Happening = (
    Accepted
    | Refused
    | Received
    | Found
    | LinkUp
    | LinkDown
    | DaemonSeen
    | StartFailed
    | CallFailed
    | Undone
    | HistoryListed
    | HistoryFailed
)
