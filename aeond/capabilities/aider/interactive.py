"""The tool aider_interactive: a user works with Aider at a terminal, on a private copy. The result is a text for the session."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from pydantic import RootModel

from aeond.capabilities.aider.arguments import TerminalArguments, chosen
from aeond.capabilities.aider.drafts import (
    call_key,
    drafted,
    message_of,
    notes_of,
    private_copy,
    touched,
    whole_diff,
)
from aeond.capabilities.aider.proposals import FileProposal, Proposal, Proposals
from aeond.capabilities.aider.workbench import Ended, Order, TerminalDone, Workbench
from aeond.capabilities.aider.worktrees import Chosen, Worktree
from aeond.capabilities.hands.workshop import Workshop
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.reservations import ASKING_TOOL_STEP
from aeond.domain.tools import Effect, RecordedEffect, ToolContext, ToolOutput
from aeond.errors import ToolError
from aeond.ports import LLMAdapter
from aeond.ports.serving import Terminals

SESSION_SECONDS: Final = 12 * 3_600.0
END_SECONDS: Final = 600.0
MAX_SHOWN_INPUTS: Final = 20
MAX_INPUT_CHARS: Final = 200
NOTHING_CHANGED: Final = "Nothing was changed."
NOTHING_PROPOSED: Final = "None of the changes can be proposed."


class Summary(RootModel[str]):
    """What was asked and changed, with the diff."""


def interactive_tool(
    workbench: Workbench,
    workshop: Workshop,
    proposals: Proposals,
    copies: Path,
    metered: Callable[[Grant], LLMAdapter],
    terminals: Terminals,
) -> FunctionTool:
    """The tool. Models never see it: it needs a terminal, which only a client can lend."""
    threads = workshop.threads

    @tool(
        effect=Effect.EXEC_CONTAINED,
        example={"task": "Let add() return the sum", "files": ["calc.py"]},
        targets=touched,
        timeout_seconds=Order(Path(), "", Chosen(()), (), SESSION_SECONDS).whole_seconds + END_SECONDS,
        offered=False,
        private=True,
        asks_model=True,
    )
    async def aider_interactive(arguments: TerminalArguments, context: ToolContext) -> ToolOutput[Summary]:
        """Lets the user work with Aider at a terminal, on a private copy; apply_changes brings the result to the working
        folder."""
        if not context.run_id:
            raise ToolError("aider_interactive works only as a step of a run", reason="TOOL_NEEDS_RUN")
        key = call_key(arguments, context)
        made = await threads.run(lambda _stopped: proposals.made_by(key, context.uid))
        if made is not None:
            return _output(made)
        grant = context.grant or Grant(ASKING_TOOL_STEP)
        async with (
            terminals.of(context.uid, context.run_id) as terminal,
            private_copy(workshop, copies, workbench.hidden, context) as copy,
        ):
            files = chosen(copy, arguments)
            order = Order(copy.folder, arguments.task, files, tuple(arguments.test), SESSION_SECONDS)
            done, refusals = await workbench.work_at_terminal(order, metered(grant), terminal)
            found, left_out = await threads.run(lambda _stopped: copy.changes(done.changed))
            nothing = NOTHING_PROPOSED if left_out else NOTHING_CHANGED
            text = _summary(done, copy, found, nothing, notes_of(left_out, refusals))
            if not found:
                return ToolOutput(Summary(text))
            proposal = drafted(arguments, context, _message(arguments, done), found, {"text": text})
        await threads.run(lambda _stopped: proposals.keep(proposal))
        return _output(proposal)

    return aider_interactive


def _output(proposal: Proposal) -> ToolOutput[Summary]:
    effect = RecordedEffect("changes.proposed", proposal.digest, proposal.message.partition("\n")[0])
    return ToolOutput(Summary(proposal.result["text"]), (effect,))


def _summary(
    done: TerminalDone, copy: Worktree, found: Sequence[FileProposal], nothing: str, notes: str
) -> str:
    asked = [
        " ".join(text.split())[:MAX_INPUT_CHARS]
        for text in done.inputs
        if text.strip() not in ("/exit", "/quit")
    ]
    parts = [
        "Asked of Aider:\n" + "\n".join(f"- {text}" for text in asked[:MAX_SHOWN_INPUTS]) if asked else "",
        f"Proposed changes of {', '.join(one.path for one in found)}." if found else nothing,
        _tested(done.after),
        f"Note: {notes}" if notes else "",
        whole_diff(copy, found).rstrip("\n"),
    ]
    return "\n\n".join(filter(None, parts))


def _tested(after: Ended | None) -> str:
    if after is None:
        return ""
    return f"The test fails (exit code {after.exit_code})." if after.exit_code else "The test succeeds."


def _message(arguments: TerminalArguments, done: TerminalDone) -> str:
    """For a commit: of the task, else of the first request, else of Aider's own last commit."""
    requests = (text for text in done.inputs if not text.startswith(("/", "!")))
    return message_of(
        arguments.task or next(requests, "") or (done.commits or ["Changes made with Aider"])[-1]
    )
