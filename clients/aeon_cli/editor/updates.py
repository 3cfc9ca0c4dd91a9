"""The events of a run, and of the runs below it, as the session updates of an editor."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from acp import schema
from acp.helpers import (
    plan_entry,
    start_tool_call,
    text_block,
    tool_content,
    update_agent_message_text,
    update_plan,
    update_tool_call,
)

from aeon_cli.editor.edits import Snapshot, difference, path_in, snapshot
from aeon_cli.text.printable import shown_value
from aeon_cli.text.titles import effect_in_words, title_of
from aeond_client import events
from aeond_client.records.runs import Answer, Plan, PlanStep, RunState, StepState

Update = schema.AgentMessageChunk | schema.AgentPlanUpdate | schema.ToolCallStart | schema.ToolCallProgress

# An output is context for a person; its whole is in the journal.
MAX_OUTPUT_CHARS = 20_000
_KINDS: Mapping[str, schema.ToolKind] = {
    "pure": "think",
    "read": "read",
    "write_contained": "edit",
    "write_outside": "edit",
    "exec_contained": "execute",
    "exec_host": "execute",
    "net": "fetch",
}


def call_id(run_id: str, step_id: str) -> str:
    """The id of a step's tool call: unique in a session, which has many runs."""
    return f"{run_id}:{step_id}"


class RunUpdates:
    """Translates the events of one run in their order; `stop_reason` is known after its last one.

    The plan and the text are those of the run itself; tool calls are also shown from runs below. `effects` maps tools
    to their effect classes, `folder` is the workspace, whose files are read to show how they change.
    """

    def __init__(self, run_id: str, folder: Path, effects: Mapping[str, str]) -> None:
        self.stop_reason: schema.StopReason | None = None
        self._run_id = run_id
        self._folder = folder
        self._effects = effects
        self._plan: dict[str, PlanStep] = {}
        self._states: dict[str, StepState] = {}
        self._started: set[str] = set()
        self._before: dict[str, Snapshot] = {}
        self._waiting: dict[tuple[str, str], set[str]] = {}  # the steps that wait, by run and approval
        self._text = ""
        self._answer: Answer | None = None
        self._exhausted = ""

    def of(self, event: events.Event) -> Iterator[Update]:
        """The updates for one event, in order; often none."""
        own = event.run_id == self._run_id
        match event.kind:
            case events.PlanAdopted(plan=plan) | events.PlanRefined(plan=plan) if own:
                yield self._planned(plan)
            case events.StepStarted(step=step) | events.StepRepaired(step=step):
                if own:
                    yield self._moved(step.step_id, StepState.RUNNING)
                if step.tool:
                    yield self._begun(event.run_id, step)
            case events.StepEnded() as ended:
                if own:
                    yield self._moved(ended.step_id, ended.state)
                if call_id(event.run_id, ended.step_id) in self._started:
                    yield self._finished(event.run_id, ended)
            case events.ApprovalRequested(approval=approval, step_id=step_id):
                waiting = self._waiting.setdefault((event.run_id, approval.approval_id), set())
                waiting.update((*approval.step_ids, step_id) if step_id else approval.step_ids)
            case events.ApprovalDecided(approval_id=approval_id, approved=approved):
                steps = sorted(self._waiting.pop((event.run_id, approval_id), set()))
                for step_id in steps:
                    yield from self._decided(event.run_id, step_id, approved=approved)
            case events.TextDelta(text=text, offset=offset, step_id="") if own:
                yield from self._streamed(text, offset)
            case events.AnswerComposed(answer=answer) if own:
                self._answer = answer
                yield from self._answered(answer)
            case events.BudgetExhausted(dimension=dimension) if own:
                self._exhausted = dimension
            case events.RunEnded(state=state, problem=problem) if own:
                if problem is not None and self._answer is None:
                    yield update_agent_message_text(f"The run failed: {problem.message} ({problem.reason})")
                self.stop_reason = self._reason(state)
            case _:
                pass

    def _reason(self, state: RunState) -> schema.StopReason:
        if state is RunState.CANCELLED:
            return "cancelled"
        if state is RunState.EXPIRED:
            return "max_tokens" if self._exhausted == "tokens" else "max_turn_requests"
        return "end_turn"

    # ------------------------------------------------------------ the plan

    def _planned(self, plan: Plan) -> schema.AgentPlanUpdate:
        self._plan = {step.step_id: step for step in plan.steps}
        return self._entries()

    def _moved(self, step_id: str, state: StepState) -> schema.AgentPlanUpdate:
        self._states[step_id] = state
        return self._entries()

    def _entries(self) -> schema.AgentPlanUpdate:
        return update_plan(
            [
                plan_entry(_line(step, self._states.get(step_id)), status=_status(self._states.get(step_id)))
                for step_id, step in self._plan.items()
            ]
        )

    # ------------------------------------------------------------ tool calls

    def _begun(self, run_id: str, step: PlanStep) -> Update:
        number = call_id(run_id, step.step_id)
        path = path_in(self._folder, step.arguments.get("path"))
        if path is not None:
            self._before[number] = snapshot(path)
        details: dict[str, Any] = {
            "title": title_of(step),
            "kind": _KINDS.get(self._effects.get(step.tool, ""), "other"),
            "status": "in_progress",
            "locations": [] if path is None else [schema.ToolCallLocation(path=str(path))],
            "raw_input": step.arguments,
        }
        if number in self._started:
            return update_tool_call(number, **details)
        self._started.add(number)
        return start_tool_call(number, **details)

    def _finished(self, run_id: str, ended: events.StepEnded) -> schema.ToolCallProgress:
        number = call_id(run_id, ended.step_id)
        before = self._before.pop(number, None)
        places: dict[str, schema.ToolCallLocation] = {}
        diffs: list[schema.FileEditToolCallContent] = []
        for effect in ended.effects:
            path = path_in(self._folder, effect.target) if effect.kind.startswith("file.") else None
            if path is None:
                continue
            places[str(path)] = schema.ToolCallLocation(path=str(path))
            created = effect.kind == "file.created"
            if created or (before is not None and before.path == path):
                known = before if before is not None and before.path == path else Snapshot(path, None)
                change = difference(known, created=created)
                diffs += [change] if change is not None else []
        succeeded = ended.state is StepState.SUCCEEDED
        shown = shown_value(ended.output) if succeeded else f"{ended.error} ({ended.reason or ended.state})"
        return update_tool_call(
            number,
            status="completed" if succeeded else "failed",
            content=[*diffs, tool_content(text_block(shown[:MAX_OUTPUT_CHARS]))],
            locations=list(places.values()) or None,
        )

    def _decided(self, run_id: str, step_id: str, *, approved: bool) -> Iterator[Update]:
        """A denial is the end of a step, without an event of its own."""
        if run_id == self._run_id and not approved:
            yield self._moved(step_id, StepState.FAILED)
        if (number := call_id(run_id, step_id)) in self._started:
            denied = None if approved else [tool_content(text_block("Not approved."))]
            yield update_tool_call(number, status="in_progress" if approved else "failed", content=denied)

    # ------------------------------------------------------------ the answer

    def _streamed(self, text: str, offset: int) -> Iterator[Update]:
        if offset < len(self._text):
            # The protocol cannot take text back: a new draft is set apart from the discarded one.
            self._text = ""
            yield update_agent_message_text("\n\n")
        self._text += text
        yield update_agent_message_text(text)

    def _answered(self, answer: Answer) -> Iterator[Update]:
        rest = answer.text.removeprefix(self._text)
        if self._text and rest == answer.text:
            rest = f"\n\n{rest}"
        changes = [f"- {effect_in_words(effect)}" for effect in answer.effects]
        notes = [f"\n\nNote: {note}" for note in answer.notes]
        changed = ["\n\nChanged:\n" + "\n".join(changes)] if changes else []
        if text := "".join([rest if answer.text != self._text else "", *notes, *changed]):
            yield update_agent_message_text(text)


def _status(state: StepState | None) -> schema.PlanEntryStatus:
    if state is None or state in {StepState.PENDING, StepState.READY}:
        return "pending"
    return "in_progress" if state is StepState.RUNNING else "completed"


def _line(step: PlanStep, state: StepState | None) -> str:
    """The protocol has no failed entries: the words say it."""
    marks = {StepState.FAILED, StepState.INVALID, StepState.SKIPPED, StepState.UNKNOWN}
    return title_of(step) + (f" ({state})" if state in marks else "")
