"""Private copies for calls, and the proposals that are made of what differs in them."""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import anyio

from aeond.capabilities.aider.arguments import Editing
from aeond.capabilities.aider.proposals import FileProposal, Proposal
from aeond.capabilities.aider.workbench import Ended
from aeond.capabilities.aider.worktrees import Worktree, packed, worktree
from aeond.capabilities.hands.commands import workspace_targets
from aeond.capabilities.hands.git import listed_files
from aeond.capabilities.hands.workshop import Workshop
from aeond.capabilities.tools.files.differences import unified_diff
from aeond.domain.policy import Access, Target, TargetKind
from aeond.domain.tools import ToolContext
from aeond.errors import ToolError

AIDER: Final = "aider"
MAX_DIFF_CHARS: Final = 32 << 10
MAX_TEST_CHARS: Final = 4_000
MAX_SUBJECT_CHARS: Final = 72
MAX_MESSAGE_CHARS: Final = 4_000  # that a commit may have
MAX_NAMES: Final = 20
MAX_NAME_CHARS: Final = 200
MAX_EXPLANATION_CHARS: Final = 1_500
MAX_ANSWER_CHARS: Final = 32 << 10
# A block of code below the name of a file; one that is not closed ends with the text.
_LISTING: Final = re.compile(
    r"^\S*\w\.\w\S*[ \t]*\n\s*?(`{3,}).*?(?:^\1`*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)


@asynccontextmanager
async def private_copy(
    workshop: Workshop, folder: Path, hidden: Sequence[Path], context: ToolContext
) -> AsyncIterator[Worktree]:
    """A copy of the workspace, without what is `hidden`, below `folder` while the context is open. ToolError (reason
    WORKSPACE_MISSING, WORKSPACE_TOO_LARGE)."""
    if not context.workspace:
        raise ToolError("this run has no folder to work in", reason="WORKSPACE_MISSING")
    threads = workshop.threads
    listed = await listed_files(workshop, context)
    parcel = await threads.run(lambda _stopped: packed(context.workspace, listed, hidden))
    stack = ExitStack()
    try:
        yield await threads.run(lambda _stopped: stack.enter_context(worktree(folder, parcel)))
    finally:
        with anyio.CancelScope(shield=True):
            await threads.run(lambda _stopped: stack.close())


async def touched(arguments: Editing, context: ToolContext) -> tuple[Target, ...]:
    """What a call of Aider uses and reads."""
    programs = [AIDER, *arguments.test[:1]]
    used = tuple(Target(TargetKind.COMMAND, name, Access.USE) for name in programs)
    return (*used, *workspace_targets(context)[:1])


def drafted(
    arguments: Editing,
    context: ToolContext,
    message: str,
    found: Sequence[FileProposal],
    result: Mapping[str, Any],
) -> Proposal:
    return Proposal(
        uid=context.uid,
        workspace=str(context.workspace),
        call_id=call_key(arguments, context),
        message=message,
        files=tuple(found),
        result={**result},
        taint=context.taint,
    )


def call_key(arguments: Editing, context: ToolContext) -> str:
    """The same for a repeated call, and another for a call of other arguments."""
    return f"{context.call_id}:{sha256(arguments.model_dump_json().encode()).hexdigest()}"


def notes_of(left_out: Mapping[str, str], refusals: Sequence[str], *, stopped: bool = False) -> str:
    """What a person should know besides the changes: files that were left out, and why the model refused."""
    notes = [
        *(
            f"left out, because {reason}: {_listed(left_out, reason)}"
            for reason in sorted({*left_out.values()})
        ),
        f"the model refused: {refusals[-1]}" if refusals else "",
        "Aider was stopped" if stopped else "",
    ]
    return "; ".join(filter(None, notes))


def _listed(left_out: Mapping[str, str], reason: str) -> str:
    names = sorted(name for name, why in left_out.items() if why == reason)
    shown = [f"{name!r:.{MAX_NAME_CHARS}}" for name in names[:MAX_NAMES]]
    return ", ".join(shown) + (f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else "")


def explanation_of(answers: Sequence[str]) -> str:
    """The last answer of the model that says something besides the files, without these."""
    texts = (
        re.sub(r"\n{3,}", "\n\n", _LISTING.sub("", one[:MAX_ANSWER_CHARS])).strip()
        for one in reversed(answers)
    )
    return next(filter(None, texts), "")[:MAX_EXPLANATION_CHARS]


def outcome_of(before: Ended | None, after: Ended | None) -> dict[str, object] | None:
    if before is None or after is None:
        return None
    return {"before": before.exit_code, "after": after.exit_code, "output": after.output[-MAX_TEST_CHARS:]}


def whole_diff(copy: Worktree, found: Sequence[FileProposal]) -> str:
    """The changes of all files, cut at a limit."""
    diff = "".join(file_diff(copy.before.get(one.path), one) for one in found)
    return diff if len(diff) <= MAX_DIFF_CHARS else f"{diff[:MAX_DIFF_CHARS]}\n[...]\n"


def file_diff(before: bytes | None, one: FileProposal) -> str:
    try:
        return unified_diff(before, one.after or b"", one.path)
    except ToolError as error:  # binary, or too long
        return f"{error.message}\n"


def message_of(task: str) -> str:
    """A message for a commit: the beginning of the task as its subject, the task below if it is longer."""
    text = task.strip()[: MAX_MESSAGE_CHARS - MAX_SUBJECT_CHARS - 2]
    line = text.partition("\n")[0]
    if len(line) <= MAX_SUBJECT_CHARS:
        subject = line.rstrip(".")
    else:
        subject = line[: MAX_SUBJECT_CHARS - 3].rpartition(" ")[0] + "..."
    return subject if text.rstrip(".") == subject else f"{subject}\n\n{text}"
