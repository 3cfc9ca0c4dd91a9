"""Which change of a run is worth a notification while the window is hidden, and with which actions."""

from dataclasses import dataclass

from aeon_cli.text.calls import approval_heading, effect_sentences, untrusted_sentence
from aeon_cli.text.printable import json_line, one_line, shortened
from aeon_cli.text.titles import effect_in_words
from aeon_popup.state.happenings import Approval, HotkeySet
from aeon_popup.state.run_view import RunView, Stage
from aeon_popup.state.wording import about_hotkey
from aeond_client.records.runs import RunState

_SUMMARY, _BODY = 80, 300
# Desktops show about three actions.
_OPTIONS = 3
_CHANGES = 3
# The key of the notice about the hotkey, which is that of no run.
HOTKEY = "hotkey"


@dataclass(frozen=True, slots=True)
class Notice:
    """A notification: `key` names the run, or is HOTKEY, `actions` are pairs of an action's name and its label."""

    key: str
    summary: str
    body: str = ""
    actions: tuple[tuple[str, str], ...] = ()
    urgent: bool = False


def notice_of(before: RunView | None, after: RunView) -> Notice | None:
    """The notification for this change of a run; None if it needs none."""
    if after.is_past:
        return None
    noted = None if before is None or before.is_past else _noted(before)
    if noted == _noted(after):
        return None
    match after.stage:
        case Stage.QUESTION:
            return _question(after)
        case Stage.APPROVAL:
            return _approval(after, after.approvals[0])
        case Stage.DECISION:
            return Notice(
                after.key, f"Needs your decision: {_title(after)}", after.steps.suspended, urgent=True
            )
        case Stage.DONE:
            stopped = after.steps.state is RunState.EXPIRED
            text = after.steps.answer.text if after.steps.answer else ""
            return _ended(after, "Stopped at a limit" if stopped else "Done", text)
        case Stage.FAILED:
            return _ended(after, "Failed", after.steps.problem.message if after.steps.problem else "")
        case _:
            return None


def hotkey_notice(hotkey: HotkeySet) -> Notice | None:
    """The notification that the hotkey does not work; None if it needs none."""
    summary, problem = about_hotkey(hotkey)
    return Notice(HOTKEY, summary.removesuffix("."), problem) if summary else None


def choice_of(action: str, run: RunView) -> bool | str | None:
    """The decision about an approval, or the answer to a question, that an action of a notification means. None for any
    other action, and if the run waits for something else by now: a person decides only about what was shown. Two runs below
    the same one may ask under the same id, so an action names the subject.
    """
    word, _, shown = action.partition(":")
    if shown != run.subject:
        return None
    if word in {"approve", "deny"} and run.stage is Stage.APPROVAL:
        return word == "approve"
    if word.isdecimal() and run.stage is Stage.QUESTION:
        options = run.questions[0].question.options
        return options[int(word)] if int(word) < len(options) else None
    return None


def _noted(run: RunView) -> tuple[Stage, str, tuple[str, ...]]:
    """What a notification shows that may change. A source that the run has read since is part of what a person decides about."""
    return run.stage, run.subject, run.taint


def _ended(run: RunView, how: str, text: str) -> Notice:
    changed = [effect_in_words(effect) for effect in run.changes[:_CHANGES]]
    return Notice(run.key, f"{how}: {_title(run)}", "\n".join([shortened(one_line(text), _BODY), *changed]))


def _question(run: RunView) -> Notice:
    """With the options as actions if there are few; "Answer" opens the window with the card of the question."""
    question = run.questions[0].question
    actions = tuple(
        (f"{index}:{run.subject}", one_line(option))
        for index, option in enumerate(question.options[:_OPTIONS])
    )
    if not 0 < len(question.options) <= _OPTIONS:
        actions = (("answer", "Answer"),)
    return Notice(run.key, shortened(one_line(question.prompt), _SUMMARY), _title(run), actions, urgent=True)


def _approval(run: RunView, approval: Approval) -> Notice:
    """Approving is offered only where the notification shows the exact arguments of all calls, and no file is changed."""
    asked = approval.request
    calls = [f"{one_line(call.tool)} {json_line(call.arguments)}" for call in asked.calls]
    sentences = effect_sentences(asked) if len(calls) != 1 else []
    exact = [line for pair in zip(sentences, calls, strict=True) for line in pair] if sentences else calls
    changing = any(preview.diff or preview.source for preview in asked.previews)
    whole = len("\n".join(exact)) <= _BODY and not changing
    effects = [shortened("\n".join(sentences), _BODY)] if sentences else []
    lines = exact if whole else [*effects, "Open the window to see what would happen."]
    if asked.message:
        lines = [*lines, shortened(f"Why this is asked: {one_line(asked.message)}", _BODY)]
    if read := untrusted_sentence(run.taint):
        lines = [*lines, shortened(read, _BODY)]
    deny, approve = (f"deny:{approval.subject}", "Deny"), (f"approve:{approval.subject}", "Approve")
    actions = (deny, approve) if whole else (deny,)
    summary = shortened(approval_heading(asked), _SUMMARY)
    return Notice(run.key, summary, "\n".join(lines), actions, urgent=True)


def _title(run: RunView) -> str:
    return shortened(one_line(run.text), _SUMMARY)
