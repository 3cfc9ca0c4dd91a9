"""The chain of causes of a run or of one of its steps, from the journal: request, route, plan, decisions, evidence,
effects and answer."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aeon_cli.observing.overview import work_of
from aeon_cli.text.printable import one_line, shown_value
from aeon_cli.text.titles import (
    arguments_in_short,
    counted,
    duration_in_words,
    effect_in_words,
    title_of,
)
from aeond_client import events
from aeond_client.events import Event
from aeond_client.records.runs import Plan, PlanStep, Run, RunState

_MOST_CHARS = 160
_VERDICTS = {"allow": "allowed", "ask": "a person must allow it", "deny": "refused"}


@dataclass(frozen=True, slots=True)
class Link:
    """One link: its kind, the event that it comes from, and what happened in words. `step_id` is "" for the run."""

    kind: str
    seq: int
    time: float
    words: str
    step_id: str = ""
    details: tuple[str, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)


def chain_of(recorded: Sequence[Event]) -> list[Link]:
    """The links of a run in the order of the journal."""
    return list(_Chain().links(recorded))


def now_of(run: Run) -> list[Link]:
    """The last link of an unfinished run: what it does now, or which command lets it go on."""
    if run.state.ended:
        return []
    todo = []
    if run.questions:
        todo.append(f"answer with: aeonctl answer {run.run_id}")
    if run.approvals:
        todo.append("decide with: aeonctl approvals")
    if run.state is RunState.SUSPENDED and not run.approvals and run.suspend_reason != "disk_full":
        todo.append(f"decide with: aeonctl decide {run.run_id}")
    words = "; ".join(work_of(run)) or str(run.state).replace("_", " ")
    return [Link("now", run.last_seq, run.changed_time, _short(words), "", tuple(todo))]


def chain_of_step(links: Iterable[Link], step_id: str) -> list[Link]:
    """The links that lead to a step and follow from it, without those of other steps."""
    return [link for link in links if link.step_id in ("", step_id)]


class _Chain:
    """What later links refer to."""

    def __init__(self) -> None:
        self._plan = Plan()
        self._outputs: dict[str, Any] = {}
        self._answered: dict[str, str] = {}  # the step of each question
        self._reasons: dict[str, str] = {}  # why a person must allow a step
        self._executed = False

    def links(self, recorded: Iterable[Event]) -> Iterator[Link]:
        for event in recorded:
            for link in self._of(event.kind):
                yield replace(link, seq=event.seq, time=event.time)

    def _of(self, kind: events.EventKind) -> Iterator[Link]:
        match kind:
            case events.RunCreated():
                yield _link("request", _created(kind), data={"uid": kind.uid, "text": kind.text})
                if kind.plan is not None:
                    yield self._planned(kind.plan, "client", ())
            case events.ReferencesResolved(original=original, resolved=resolved, note=note):
                if resolved != original:
                    why = (f"because {one_line(note)}",) if note else ()
                    yield _link("request", f"understood as: {_short(resolved)}", details=why)
            case events.RouteChosen(route=route, tool=tool):
                words = {"direct": f"call {one_line(tool)} at once", "reply": "reply without tools"}
                yield _link("route", words.get(route, route), data={"route": route, "tool": tool})
            case events.ProfileInferred(profile=profile, fallback=fallback):
                said = "the estimate failed, so the default is used" if fallback else profile.raw_inference
                depth = f"difficulty {profile.reasoning_depth} of 5"
                yield _link("profile", depth, details=[_short(said)] if said else ())
            case events.PlanAdopted(plan=plan, source=source, repairs=repairs):
                yield self._planned(plan, source, [f"repaired: {one_line(repair)}" for repair in repairs])
            case events.PlanningFailed(problem=problem):
                yield _link("plan", f"no plan: {one_line(problem.message)} ({one_line(problem.reason)})")
            case events.PlanRefined(plan=plan, applied=applied) if applied:
                self._plan = plan
                changes = [
                    f"{one_line(one.operation)} {one_line(one.step_id)}: {_short(one.rationale)}"
                    for one in applied
                ]
                yield _link("refinement", f"{counted(len(applied), 'change')} to the plan", details=changes)
            case events.PassEvaluated(converged=converged, reasons=reasons, issues=issues):
                found = [f"{one_line(one.step_id) or 'the plan'}: {_short(one.message)}" for one in issues]
                because = f" ({', '.join(map(one_line, reasons))})" if reasons else ""
                done = "the work is done" if converged else "the work is not done"
                if not self._executed:
                    done = "the plan can be executed" if converged else "the plan must be changed"
                yield _link("evaluation", f"{done}{because}", details=found, data={"reasons": list(reasons)})
            case events.BudgetExhausted(dimension=dimension):
                yield _link("budget", f"no {one_line(dimension)} is left")
            case events.CancelRequested(reason=reason):
                yield _link(
                    "cancel", f"cancelled by {_who(kind.uid)}" + (f": {_short(reason)}" if reason else "")
                )
            case events.AnswerComposed(answer=answer):
                by = "written by the model" if answer.synthesized else "the output of the steps"
                from_steps = f", from {', '.join(map(one_line, answer.step_ids))}" if answer.step_ids else ""
                origin = f"{by}{from_steps}: " if answer.synthesized or answer.step_ids else ""
                notes = [f"note: {one_line(note)}" for note in answer.notes if note not in answer.text]
                data = {"step_ids": list(answer.step_ids), "synthesized": answer.synthesized}
                yield _link("answer", f"{origin}{_short(answer.text)}", details=notes, data=data)
            case events.RunSuspended(reason=reason, message=message):
                yield _link("suspended", one_line(message or reason.replace("_", " ")))
            case events.RunEnded(state=state, problem=problem):
                cause = f": {one_line(problem.message)} ({one_line(problem.reason)})" if problem else ""
                yield _link("end", f"{state}{cause}", data={"state": str(state)})
            case _:
                yield from self._of_step(kind)

    def _of_step(self, kind: events.EventKind) -> Iterator[Link]:
        match kind:
            case events.StepStarted(step=step, attempt=attempt, mode=mode):
                self._executed = True
                again = f", attempt {attempt}" if attempt > 1 else ""
                how = "" if mode in ("tool", "agent", "") else f", {mode}"
                data = {"tool": step.tool, "arguments": step.arguments, "attempt": attempt, "mode": mode}
                yield _link("step", f"{title_of(step)}{again}{how}", step.step_id, self._purpose(step), data)
                if used := [one for one in step.depends_on if one in self._outputs]:
                    shown = [f"{one_line(one)}: {_short(shown_value(self._outputs[one]))}" for one in used]
                    words = f"the results of {', '.join(map(one_line, used))}"
                    yield _link("evidence", words, step.step_id, shown, {"step_ids": used})
            case events.PolicyDecided():
                self._reasons[kind.step_id] = kind.reason
                yield _decision(kind)
            case events.StepRepaired(step=step, problem=problem):
                yield _link(
                    "repair", f"now {title_of(step)}", step.step_id, [f"because {_short(problem.message)}"]
                )
            case events.ApprovalRequested(approval=approval, step_id=step_id):
                asking = step_id or approval.step_ids[0]
                calls = [
                    _short(f"{call.tool} {arguments_in_short(call.arguments)}") for call in approval.calls
                ]
                if approval.message and approval.message != self._reasons.get(asking):
                    calls.append(f"because {_short(approval.message)}")
                words = f"asked a person about {counted(len(approval.calls), 'call')}"
                yield _link("approval", words, asking, calls)
                self._answered[approval.approval_id] = asking
            case events.ApprovalDecided(
                approval_id=approval_id, approved=approved, expired=expired, scope=scope
            ):
                by = (
                    "no decision in time"
                    if expired
                    else f"{'allowed' if approved else 'denied'} by {_who(kind.uid)}"
                )
                covers = f", scope {one_line(scope)}" if approved and scope else ""
                step_id = self._answered.get(approval_id, "")
                yield _link(
                    "approval", f"{by}{covers}", step_id, data={"approved": approved, "expired": expired}
                )
            case events.InputRequested(question=question):
                self._answered[question.question_id] = question.step_id
                options = (
                    [f"options: {', '.join(map(one_line, question.options))}"] if question.options else []
                )
                yield _link("question", _short(question.prompt), question.step_id, options)
            case events.InputAnswered(question_id=question_id, answer=answer):
                step_id = self._answered.get(question_id, "")
                self._outputs[step_id] = answer
                by = _who(kind.uid) if kind.uid >= 0 else "default"
                yield _link("question", f"answered by {by}: {_short(shown_value(answer))}", step_id)
            case events.ChildRunStarted(step_id=step_id, child_run_id=child, template=template):
                words = f"run {one_line(child)} by the template {one_line(template)}"
                yield _link("child run", words, step_id, [_short(kind.description)], {"run_id": child})
            case events.StepResolved(resolution=resolution, step_id=step_id):
                yield _link("decision", f"{_who(kind.uid)} decided: {resolution}", step_id)
            case events.StepEnded():
                yield from self._ended(kind)
            case _:
                pass

    def _ended(self, kind: events.StepEnded) -> Iterator[Link]:
        if kind.policy_version:
            yield _decision(
                events.PolicyDecided(
                    kind.step_id, "allow", effect="pure", rule=kind.rule, policy_version=kind.policy_version
                )
            )
        for effect in kind.effects:
            data = {"kind": effect.kind, "target": effect.target}
            yield _link("effect", effect_in_words(effect), kind.step_id, data=data)
        if kind.taint:
            words = f"it read untrusted data from {', '.join(map(one_line, kind.taint))}"
            yield _link("taint", words, kind.step_id, data={"sources": list(kind.taint)})
        if kind.output is not None:
            self._outputs[kind.step_id] = kind.output
        error = f": {_short(kind.error)} ({one_line(kind.reason)})" if kind.error else ""
        output = "" if kind.output is None else f": {_short(shown_value(kind.output))}"
        words = f"{kind.state} after {duration_in_words(kind.duration_seconds)}{error or output}"
        data = {"state": str(kind.state), "reason": kind.reason}
        candidates = (
            [f"existing values: {', '.join(map(one_line, kind.candidates))}"] if kind.candidates else ()
        )
        yield _link("result", words, kind.step_id, candidates, data)

    def _planned(self, plan: Plan, source: str, details: Sequence[str]) -> Link:
        self._plan = plan
        by = {"client": "given by the client", "model": "made by the model"}.get(source, one_line(source))
        steps = [f"{one_line(step.step_id)}  {title_of(step)}{_after(step)}" for step in plan.steps]
        return _link(
            "plan",
            f"{counted(len(plan.steps), 'step')}, {by}",
            details=[*steps, *details],
            data={"source": source},
        )

    def _purpose(self, step: PlanStep) -> list[str]:
        planned = next((one for one in self._plan.steps if one.step_id == step.step_id), step)
        says_more = (
            planned.description and planned.tool and not planned.description.startswith(f"{planned.tool}: ")
        )
        return [f"to {_short(planned.description)}"] if says_more else []


def _link(
    kind: str,
    words: str,
    step_id: str = "",
    details: Sequence[str] = (),
    data: dict[str, Any] | None = None,
) -> Link:
    """A link whose event is not known yet."""
    return Link(kind, 0, 0.0, words, step_id, tuple(details), data or {})


def _created(kind: events.RunCreated) -> str:
    origin = f"user {kind.uid}" if kind.uid >= 0 else "a client"
    if kind.parent_run_id:
        origin = f"step {one_line(kind.parent_step_id)} of run {one_line(kind.parent_run_id)}"
    fork = f", a fork of {one_line(kind.forked_run_id)}" if kind.forked_run_id else ""
    return f"{origin} asked{fork}: {_short(kind.text)}"


def _decision(kind: events.PolicyDecided) -> Link:
    rule = f"rule {one_line(kind.rule)}" if kind.rule else "no rule matched"
    why = kind.reason or ("it only computes" if kind.effect == "pure" else "")
    details = [_short(why)] if why else []
    if kind.tainted:
        details.append(
            f"the run had read {', '.join(map(one_line, kind.facts.get('taint', []))) or 'untrusted data'}"
        )
    data = {"verdict": kind.verdict, "rule": kind.rule, "reason": kind.reason, "policy": kind.policy_version}
    words = f"{_VERDICTS.get(kind.verdict, one_line(kind.verdict))}, {rule}"
    return _link("policy", words, kind.step_id, details, data)


def _after(step: PlanStep) -> str:
    return f", after {', '.join(map(one_line, step.depends_on))}" if step.depends_on else ""


def _who(uid: int) -> str:
    return f"user {uid}" if uid >= 0 else "a person"


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _MOST_CHARS else f"{line[: _MOST_CHARS - 1]}…"
