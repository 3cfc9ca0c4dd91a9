"""Approvals of tool calls: display of exactly what would happen, and asking at the terminal."""

import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from aeon_cli.runs.questions import converse
from aeon_cli.text.calls import call_lines, previewed, untrusted_sentence
from aeon_cli.text.printable import one_line
from aeon_cli.text.titles import counted, duration_in_words
from aeond_client.records.judgements import ApprovalRequest

if TYPE_CHECKING:
    from aeond_client.client import Client
    from aeond_client.records.runs import Run

_YES = {"y": "once", "yes": "once", "once": "once", "run": "run", "folder": "folder", "host": "host"}


def lines_of(approval: ApprovalRequest, now: float, taint: Sequence[str]) -> list[str]:
    """The calls with their arguments and what they would do, and how they may be allowed. `taint` has the untrusted sources that
    the run has read.
    """
    several = counted(len(approval.calls), "call")
    needs = "needs" if len(approval.calls) == 1 else "need"
    why = f": {one_line(approval.message)}" if approval.message else ""
    lines = [f"! {several} {needs} your approval{why}"]
    lines += [f"  {read}" for read in [untrusted_sentence(taint)] if read]
    calls = zip(approval.step_ids, previewed(approval), strict=True)
    for number, (step_id, (call, preview)) in enumerate(calls, start=1):
        lines.append(f"  {number}) {one_line(call.tool)}, step {one_line(step_id)}")
        lines += call_lines(call, preview)
    lines += [f"  folder: {one_line(folder)}" for folder in approval.folders]
    lines += [f"  host: {one_line(host)}" for host in approval.hosts]
    if approval.expire_time:
        lines.append(f"  (within {duration_in_words(max(approval.expire_time - now, 0.0))}, else denied)")
    return lines


def lines_to_decide(run: "Run", approval: ApprovalRequest) -> list[str]:
    """The same, with the commands that decide it."""
    scope = f" [--scope {'|'.join(approval.scopes)}]" if len(approval.scopes) > 1 else ""
    return [
        *lines_of(approval, time.time(), run.taint),
        f"  allow:  aeonctl approvals allow {run.run_id} {approval.approval_id}{scope}",
        f"  deny:   aeonctl approvals deny {run.run_id} {approval.approval_id}",
    ]


def ask_approval(client: "Client", run: "Run", approval: ApprovalRequest, patience_seconds: float) -> bool:
    """Asks until the approval is decided, here or by another client; a plain Enter denies. Returns False if the
    user leaves it open (end of input). Input typed before the calls were shown is discarded.
    """
    print("\n".join(lines_of(approval, time.time(), run.taint)), file=sys.stderr)
    _discard_typed()

    def take(text: str) -> Any:
        word = text.lower()
        decide = partial(client.decide_approval, run.run_id, approval.approval_id, approval.digest)
        if word in {"", "n", "no"}:
            return partial(decide, False)
        return partial(decide, True, _YES[word]) if _YES.get(word) in approval.scopes else None

    more = "".join(f", {scope}" for scope in approval.scopes if scope != "once")
    return converse(
        client,
        run.run_id,
        shown=f"Allow? [yes{more} / NO] ",
        is_open=lambda run: any(one.approval_id == approval.approval_id for one in run.approvals),
        take=take,
        deadline_time=approval.expire_time,
        expired="closed: the time to decide is over, so it is denied",
        settled="already decided",
        patience_seconds=patience_seconds,
    )


def _discard_typed() -> None:
    """A line that was typed before the question was there is no answer to it."""
    import termios

    try:
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    except termios.error:
        return  # not a terminal
