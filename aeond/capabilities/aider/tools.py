"""The tools aider, aider_interactive and apply_changes: proposals made in a private copy, and their application to the
workspace."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, Field

from aeond.capabilities.aider.arguments import AiderArguments, chosen
from aeond.capabilities.aider.drafts import (
    call_key,
    drafted,
    explanation_of,
    file_diff,
    message_of,
    notes_of,
    outcome_of,
    private_copy,
    touched,
    whole_diff,
)
from aeond.capabilities.aider.interactive import interactive_tool
from aeond.capabilities.aider.proposals import FileProposal, Proposal, Proposals
from aeond.capabilities.aider.tests_found import SOURCE_CODE, usual_program, usual_test
from aeond.capabilities.aider.workbench import Done, Order, Workbench
from aeond.capabilities.aider.worktrees import Chosen, clear
from aeond.capabilities.hands.workshop import Workshop
from aeond.capabilities.tools.files.changes import FileChanges
from aeond.capabilities.tools.files.differences import Edit
from aeond.capabilities.tools.files.file_state import NO_FILE, identity_of
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.policy import Access, Origin, Target
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.reservations import ASKING_TOOL_STEP
from aeond.domain.tools import Effect, RecordedEffect, ToolContext, ToolOutput
from aeond.errors import ToolError
from aeond.frozen import frozen
from aeond.ports import LLMAdapter
from aeond.ports.serving import Terminals

APPLY_SECONDS: Final = 120.0
Digest = Annotated[str, Field(pattern="^[0-9a-f]{32}$", description="The proposal that aider returned")]


class Tested(BaseModel):
    """The exit codes of the test before and after the change, and the end of its last output."""

    before: int
    after: int
    output: str


class Proposed(BaseModel):
    """Changes that were tried in a private copy, and what the model said about them. `proposal` is what apply_changes needs to make them. They are not `ready`
    if they are incomplete, the test fails after them, or the names of `lost` are not defined any more."""

    proposal: str
    explanation: str = ""
    files: list[str]
    message: str
    diff: str
    test: Tested | None
    lost: list[str] = []
    ready: bool = False
    note: str


class ApplyArguments(BaseModel):
    """Which proposal."""

    proposal: Digest


class Applied(BaseModel):
    """The files that were changed, and a message for their commit."""

    files: list[str]
    message: str


@frozen
class Editor:
    """The tools over one folder of the daemon. `metered` gives the model as it is paid for by a grant."""

    workbench: Workbench
    workshop: Workshop
    changes: FileChanges
    folder: Path
    metered: Callable[[Grant], LLMAdapter]
    seconds: float
    terminals: Terminals

    @property
    def _proposals(self) -> Proposals:
        return Proposals(self.folder / "proposals")

    def tools(self) -> Sequence[FunctionTool]:
        """All three. Removes what an earlier daemon left; blocking."""
        copies = self.folder / "copies"
        clear(copies)
        interactive = interactive_tool(
            self.workbench, self.workshop, self._proposals, copies, self.metered, self.terminals
        )
        return self._aider(), interactive, self._apply()

    def _aider(self) -> FunctionTool:
        async def touched_by(arguments: AiderArguments, context: ToolContext) -> tuple[Target, ...]:
            test = arguments.test or await self._usual_program(context)
            return await touched(arguments.model_copy(update={"test": [*test]}), context)

        @tool(
            effect=Effect.EXEC_CONTAINED,
            example={
                "task": "Let add() return the sum",
                "files": ["calc.py"],
                "test": ["python3", "-m", "unittest"],
            },
            targets=touched_by,
            followed_by="apply_changes",
            source_code=SOURCE_CODE,
            request_argument="task",
            timeout_seconds=Order(Path(), "", Chosen(()), (), self.seconds).whole_seconds + APPLY_SECONDS,
            private=True,
            asks_model=True,
        )
        async def aider(arguments: AiderArguments, context: ToolContext) -> ToolOutput[Proposed]:
            """Changes source code in a private copy and tests it; apply_changes brings the result to the working folder."""
            threads = self.workshop.threads
            made = await threads.run(
                lambda _stopped: self._proposals.made_by(call_key(arguments, context), context.uid)
            )
            if made is None:
                made = await self._made(arguments, context)
            result = _with_advice(Proposed.model_validate({**made.result, "proposal": made.digest}))
            return ToolOutput(
                result, (RecordedEffect("changes.proposed", made.digest, made.message.partition("\n")[0]),)
            )

        return aider

    async def _made(self, arguments: AiderArguments, context: ToolContext) -> Proposal:
        grant = context.grant or Grant(ASKING_TOOL_STEP)
        threads = self.workshop.threads
        copies, hidden = self.folder / "copies", self.workbench.hidden
        async with private_copy(self.workshop, copies, hidden, context) as copy:
            files = chosen(copy, arguments)
            test = tuple(arguments.test)
            if not test and await self._usual_program(context):  # else the policy was asked about none
                test = usual_test(copy.before)
            order = Order(copy.folder, arguments.task, files, test, self.seconds, not arguments.test)
            done, relay = await self.workbench.work(order, self.metered(grant), self.workshop.sink(context))
            refusals = relay.refusals
            found, left_out = await threads.run(lambda _stopped: copy.changes(done.changed))
            note = notes_of(left_out, refusals, stopped=done.aider.stopped)
            if done.unusable:
                untested = f"the tests cannot run here, so that the change is not tested: {done.unusable}"
                note = "; ".join(filter(None, (note, untested)))
            if not found:
                raise _nothing(done, refusals, note if left_out else "")
            message = message_of(arguments.task)
            result = {
                "explanation": explanation_of(relay.answers[slice(*done.asked)]),
                "files": [one.path for one in found],
                "message": message,
                "diff": whole_diff(copy, found),
                "test": outcome_of(done.before, done.after),
                "lost": done.lost,
                "ready": done.ready and not refusals and not left_out,
                "note": note,
            }
        proposal = drafted(arguments, context, message, found, result)
        await threads.run(lambda _stopped: self._proposals.keep(proposal))
        return proposal

    async def _usual_program(self, context: ToolContext) -> tuple[str, ...]:
        return await self.workshop.threads.run(lambda _stopped: usual_program(context.workspace))

    def _apply(self) -> FunctionTool:
        changes, threads = self.changes, self.workshop.threads

        async def found(arguments: ApplyArguments, context: ToolContext) -> Proposal:
            proposal = await threads.run(
                lambda _stopped: self._proposals.find(arguments.proposal, context.uid)
            )
            if proposal.workspace != context.workspace:
                raise ToolError(
                    f"the proposal is for {proposal.workspace}: apply it there", reason="PROPOSAL_NOT_FOUND"
                )
            unread = sorted({*proposal.taint} - {*context.taint})
            # This run would not be asked about it as the other was.
            if unread and context.origin is not Origin.DIRECT:
                raise ToolError(
                    f"the proposal was made after {unread[0]:.100} had been read, which is not trusted: apply it in the"
                    f" conversation in which it was made, or with aeonctl call apply_changes proposal={arguments.proposal}",
                    reason="PROPOSAL_TAINTED",
                    field="proposal",
                )
            return proposal

        async def touched(arguments: ApplyArguments, context: ToolContext) -> tuple[Target, ...]:
            proposal = await found(arguments, context)
            return tuple([await changes.target(one.path, context, Access.WRITE) for one in proposal.files])

        async def preview(arguments: ApplyArguments, context: ToolContext) -> CallPreview:
            proposal = await found(arguments, context)
            diffs = [file_diff(await self._content(one, context), one) for one in proposal.files]
            return CallPreview(diff="".join(diffs), target=context.workspace)

        async def proposing(context: ToolContext, limit: int, _near: str) -> Sequence[str]:
            return await threads.run(
                lambda _stopped: self._proposals.latest(context.uid, context.workspace, limit)
            )

        @tool(
            effect=Effect.WRITE_CONTAINED,
            followed_by="git_commit",
            example={"proposal": "0123456789abcdef0123456789abcdef"},
            idempotent=True,
            candidates={"proposal": proposing},
            targets=touched,
            preview=preview,
            timeout_seconds=APPLY_SECONDS,
        )
        async def apply_changes(arguments: ApplyArguments, context: ToolContext) -> Applied:
            """Makes the changes of a proposal of aider in the working folder."""
            proposal = await found(arguments, context)
            steps = [
                (one, replace(context, step_id=f"{context.step_id}#{number}"))
                for number, one in enumerate(proposal.files, 1)
            ]
            for one, step in steps:  # all or none, unless others change files meanwhile
                if await changes.made(step) is None:
                    await self._content(one, step)
            for one, step in steps:
                if one.after is None:
                    made = (await changes.delete(one.path, step)).effects
                else:
                    made = (await changes.rewrite(one.path, step, _transform(one, one.after))).effects
                for effect in made:  # a later change can fail
                    context.record(effect)
            return Applied(files=[one.path for one in proposal.files], message=proposal.message)

        return apply_changes

    async def _content(self, one: FileProposal, context: ToolContext) -> bytes | None:
        """What the file has now. ToolError (reason FILE_CHANGED) if it is not what the proposal was made from."""
        files = self.workshop.files
        state = await self.workshop.threads.run(lambda _stopped: files.state(one.path, context.workspace))
        if (NO_FILE if state is None else state.identity) != one.before:
            raise _changed(one.path)
        return None if state is None else state.content


def _with_advice(made: Proposed) -> Proposed:
    """The result, for changes that are not ready with the reason and what can be done now."""
    if made.ready:
        return made
    failing = f"the test still fails (exit code {made.test.after})" if made.test and made.test.after else ""
    losing = f"no file defines {', '.join(made.lost)} any more" if made.lost else ""
    reasons = " and ".join(filter(None, (failing, losing))) or "the work was not completed"
    advice = (
        f"{reasons}, so that nothing was changed in the working folder; make the changes all the same"
        f" with aeonctl call apply_changes proposal={made.proposal}"
    )
    return made.model_copy(update={"note": "; ".join(filter(None, (made.note, advice)))})


def _transform(one: FileProposal, after: bytes) -> Callable[[bytes | None], Edit]:
    def transform(content: bytes | None) -> Edit:
        if (NO_FILE if content is None else identity_of(content)) != one.before:
            raise _changed(one.path)
        return Edit(after, "created" if content is None else "changed")

    return transform


def _changed(path: str) -> ToolError:
    return ToolError(
        f"{path!r:.200} was changed after the proposal was made: let aider make a new one",
        reason="FILE_CHANGED",
    )


def _nothing(done: Done, refusals: Sequence[str], note: str) -> ToolError:
    if note:
        return ToolError(f"none of Aider's changes can be proposed: {note}", reason="NOTHING_CHANGED")
    said = done.aider.output.strip()[-500:]
    if refusals:
        return ToolError(f"the model refused to answer ({refusals[-1]}): {said}", reason=refusals[-1])
    return ToolError(f"Aider changed nothing: {said or 'it printed nothing'}", reason="NOTHING_CHANGED")
