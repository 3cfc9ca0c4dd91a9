"""A tool call as lines of text: its arguments, and what it would do."""

from collections.abc import Iterator

from aeon_cli.text.printable import json_line, one_line, printable
from aeon_cli.text.titles import counted
from aeond_client.records.judgements import CallPreview
from aeond_client.records.tools import ToolCall

# Every line of what a model or a file wrote begins with this, so that none can pass for a line of ours.
QUOTED = "     | "
_SHORT_CHARS = 200


def call_lines(call: ToolCall, preview: CallPreview) -> Iterator[str]:
    """What a person approves; quoted texts of models and files are marked as such."""
    in_diff = bool(preview.diff) and not preview.problem
    for name, value in sorted(call.arguments.items()):
        shown = json_line(value)
        if in_diff and len(shown) > _SHORT_CHARS:
            shown = f"{counted(len(shown), 'character')}, see the diff"
        yield f"{QUOTED}{one_line(name)}: {shown}"
    if preview.command:
        yield f"     runs: {json_line(list(preview.command))}"
    if preview.host:
        yield f"     contacts: {one_line(preview.host)}"
    if preview.source and preview.target:
        yield f"     moves: {one_line(preview.source)}"
        yield f"     to: {one_line(preview.target)}"
    elif preview.source:
        yield f"     deletes: {one_line(preview.source)}"
    elif preview.target:
        yield f"     writes: {one_line(preview.target)}"
    for line in preview.diff.removesuffix("\n").split("\n") if preview.diff else ():
        yield f"{QUOTED}{printable(line)}"
    if preview.problem:
        yield f"     (not shown in full: {one_line(preview.problem)})"
