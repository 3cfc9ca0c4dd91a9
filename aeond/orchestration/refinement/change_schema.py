"""Changes to a plan as models write them: their schema, and what they mean for the plan.

`{"changes": [{"change": "add", "step"}, {"change": "replace", "id", "step"}, {"change": "remove", "id"}]}`
where a step is `{"tool", "arguments"}` or `{"agent", "task"}` as in a plan. To replace a step that failed
means to add another in its place: what waited for the one that failed waits for the new one. To add a call of
the tool that failed means the same: models say "add" and mean "instead".
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.plans.evaluations import RefinementAction, RefinementOperation
from aeond.domain.plans.plan import PlanStep
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.frozen import frozen
from aeond.orchestration.planning.plan_parsing import derive_dependencies, plan_from_model
from aeond.orchestration.planning.plan_schema import compile_step
from aeond.orchestration.planning.step_references import renamed_step
from aeond.schemas.parts import as_object, closed_object, is_list

MAX_CHANGES: Final = 4


def changes_schema(run: RunSnapshot, specs: Sequence[ToolSpec]) -> JsonObject:
    """What may be changed now, with the tools that there are."""
    step = compile_step(specs)
    removable: list[JsonValue] = [s.step_id for s in run.steps.values() if not s.executed]
    lost = [s.step_id for s in run.steps.values() if s.executed and s.lost]
    kinds = [closed_object({"change": {"const": "add"}, "step": step})]
    if removable or lost:
        ids: JsonObject = {"enum": [*removable, *lost]}
        kinds.append(closed_object({"change": {"const": "replace"}, "id": ids, "step": step}))
    if removable:
        kinds.append(closed_object({"change": {"const": "remove"}, "id": {"enum": removable}}))
    changes: JsonObject = {
        "type": "array",
        "items": {"anyOf": [*kinds]},
        "minItems": 0,
        "maxItems": MAX_CHANGES,
    }
    return closed_object({"changes": changes})


def actions_from_model(
    value: JsonValue, run: RunSnapshot, specs: Sequence[ToolSpec]
) -> tuple[RefinementAction, ...]:
    """The actions that these changes stand for; what makes no sense is left out."""
    return tuple(_Reading(run, specs).actions(value))


@frozen
class _Reading:
    run: RunSnapshot
    specs: Sequence[ToolSpec]

    def actions(self, value: JsonValue) -> Iterator[RefinementAction]:
        said = as_object(value).get("changes")
        number = self._next_number()
        entries = [as_object(change) for change in said] if is_list(said) else []
        removed = {entry.get("id") for entry in entries if entry.get("change") == "remove"}
        for entry in entries:
            kind, step_id = entry.get("change"), str(entry.get("id", ""))
            current = self.run.steps.get(step_id)
            if kind == "remove":
                yield RefinementAction(RefinementOperation.REMOVE, step_id)
                continue
            step = self._step(entry.get("step"))
            if step is None:
                continue
            if kind == "replace" and (current is None or not current.executed):
                operation = _operation(current, step)
                placed = self._placed(replace(step, step_id=step_id), step_id)
                yield RefinementAction(operation, step_id, self._reworded(placed, current, removed))
                continue
            new_id = f"s{number}"
            number += 1
            lost_id = step_id if kind == "replace" else self._failed_like(step)
            added = self._placed(replace(step, step_id=new_id), new_id, self._after(lost_id))
            yield RefinementAction(RefinementOperation.ADD, new_id, added)
            if lost_id:
                yield from self._handed_on(lost_id, new_id)

    def _step(self, value: JsonValue) -> PlanStep | None:
        read = plan_from_model({"steps": [value]}, self.specs)
        return read.value.steps[0] if read.value else None

    def _after(self, step_id: str) -> Collection[str]:
        """The steps that wait for that one, through others or not."""
        after = {step_id}
        waiting = [other.step for other in self.run.steps.values()]
        while more := {
            s.step_id for s in waiting if s.step_id not in after and not after.isdisjoint(s.depends_on)
        }:
            after |= more
        return after

    def _placed(self, step: PlanStep, step_id: str, after: Collection[str] = ()) -> PlanStep:
        """The step with what it waits for: of those before it, what gave a result or may still do so, and
        does not come after it."""
        before: list[PlanStep] = []
        for other in self.run.steps.values():
            if other.step_id == step_id:
                break
            if not other.lost and other.step_id not in after:
                before.append(other.step)
        return derive_dependencies([*before, step], self.specs)[-1]

    def _reworded(self, step: PlanStep, was: StepSnapshot | None, removed: Collection[JsonValue]) -> PlanStep:
        """A task in the place of another: it waits for what that one waited for, too, since no change can say so."""
        if step.agent is None or was is None or was.step.agent is None:
            return step
        waited = {
            name for name in was.step.depends_on if name not in removed and not self.run.steps[name].lost
        }
        names = (name for name in self.run.steps if name in waited or name in step.depends_on)
        return replace(step, depends_on=tuple(names))

    def _failed_like(self, step: PlanStep) -> str:
        """The failed call of the same tool that something still waits for; "" without one."""
        awaited = {name for s in self.run.steps.values() if not s.executed for name in s.step.depends_on}
        for other in self.run.steps.values():
            lost = other.executed and other.lost and other.step_id in awaited
            if lost and step.tool_call and other.tool == step.tool_call.tool:
                return other.step_id
        return ""

    def _handed_on(self, lost_id: str, new_id: str) -> Iterator[RefinementAction]:
        """What waited for a step that failed waits for the one in its place."""
        for other in self.run.steps.values():
            if not other.executed and lost_id in other.step.depends_on:
                moved = renamed_step(other.step, {lost_id: new_id})
                yield RefinementAction(RefinementOperation.REPLACE, other.step_id, moved)

    def _next_number(self) -> int:
        numbers = [int(i[1:]) for i in self.run.steps if i[1:].isdecimal() and i[1:].isascii()]
        return max(numbers, default=0) + 1


def _operation(current: StepSnapshot | None, step: PlanStep) -> RefinementOperation:
    """The same tool with other arguments is the same step; anything else is another one in its place."""
    was = None if current is None else current.step.tool_call
    same = was is not None and step.tool_call is not None and was.tool == step.tool_call.tool
    return RefinementOperation.MODIFY if same else RefinementOperation.REPLACE
