"""A tool call as text: its effect as a sentence, and lines with its arguments and what it would do."""

from collections.abc import Iterator, Sequence

from aeon_cli.text.printable import json_line, one_line, printable, shortened
from aeon_cli.text.titles import counted
from aeond_client.records.judgements import ApprovalRequest, CallPreview
from aeond_client.records.tools import ToolCall

# Every line of what a model or a file wrote begins with this, so that none can pass for a line of ours.
QUOTED = "     | "
_SHORT_CHARS = 200
_COMMAND_CHARS = 120
_SOURCE_CHARS = 100


def previewed(approval: ApprovalRequest) -> list[tuple[ToolCall, CallPreview]]:
    """The calls of an approval, each with its preview: an empty one if the daemon sent none."""
    previews = approval.previews or (CallPreview(),) * len(approval.calls)
    return list(zip(approval.calls, previews, strict=True))


def effect_sentences(approval: ApprovalRequest) -> list[str]:
    """The effect of each call as a sentence; the same as on the web page (`effectSentence` of its cards.js)."""
    return [_effect_sentence(call, preview) for call, preview in previewed(approval)]


def approval_heading(approval: ApprovalRequest) -> str:
    """What a person decides about: the effect of the call, or the number of the calls."""
    sentences = effect_sentences(approval)
    return f"{sentences[0]}?" if len(sentences) == 1 else f"Allow {counted(len(sentences), 'call')}?"


def untrusted_sentence(taint: Sequence[str]) -> str:
    """The untrusted sources that a run has read or is about to read, as a sentence on one line; "" if there are none."""
    if not taint:
        return ""
    sources = ", ".join(shortened(one_line(source), _SOURCE_CHARS) for source in taint)
    return f"Untrusted sources of this run: {sources}."


def _effect_sentence(call: ToolCall, preview: CallPreview) -> str:
    """By the tool's own preview; without one, only the name of the tool is known."""
    source, target = one_line(preview.source), one_line(preview.target)
    if preview.command:
        return f"Run {shortened(one_line(' '.join(preview.command)), _COMMAND_CHARS)}"
    if source:
        return f"Move {source} to {target}" if target else f"Delete {source}"
    if target and preview.diff:
        before, after = [*preview.diff.split("\n", 2), ""][:2]
        if not preview.target.endswith(after[after.find("/") :].rstrip()):
            return f"Change files in {target}"
        return f"{'Create' if before.startswith('--- /dev/null') else 'Change'} {target}"
    if target:
        return f"Write {target}"
    return f"Contact {one_line(preview.host)}" if preview.host else f"Use the tool {one_line(call.tool)}"


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
