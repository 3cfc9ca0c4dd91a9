"""What models are told when a request is routed, and after each result of a DIRECT run: one conversation.

It begins with what is the same for every request (tools, rules, examples), so that an engine finds all of
it in its prefix cache; each further question only adds a turn.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from aeond.domain.messages import Message, Role
from aeond.domain.plans import StepState
from aeond.domain.runs import RunSnapshot
from aeond.domain.steps import StepSnapshot
from aeond.domain.tools import ToolCall, ToolSpec
from aeond.domain.values import JsonObject, JsonValue, compact_json
from aeond.orchestration.prompts import in_session, tools_text
from aeond.orchestration.route_examples import NoResult, RouteExample
from aeond.orchestration.schema_parts import is_list
from aeond.orchestration.shortening import share, shorten

_RULES: Final = """\
Decide how to fulfil each request. Reply with JSON.
{"route":"reply"} when you can answer by yourself: to talk, explain, translate, write, tell facts of the \
world. Without a tool you cannot calculate, remember anything or look into files.
{"route":"direct","tool":...,"arguments":...} when one call of a tool does it, or begins it. You then see \
its result. What only the user knows and neither said nor had you remember, ask with request_user_input.
{"route":"plan"} when several files or things must be worked through and brought together, or a long text \
is to be written into a file.
After a result: the next call if something is still to be done, else {"answer":"..."} with all that this \
request asks for; {"done":true} only if the user asked to see just this result. Names, numbers and texts are \
copied letter by letter."""

_OF_WHOLENESS: Final = ("truncated", "next_offset", "left_out")
_MIN_COLUMNS, _MIN_ROWS = 3, 2  # of a list that is told as a table


def routing_opening(
    specs: Sequence[ToolSpec], examples: Sequence[RouteExample], instructions: str = ""
) -> tuple[Message, ...]:
    """What all questions of a routing begin with, whatever the request."""
    rules = f"{_RULES}\n\n{instructions}" if instructions else _RULES
    messages = [Message(Role.SYSTEM, f"{tools_text(specs)}\n\n{rules}")]
    for example in examples:
        messages.append(Message(Role.USER, example.request))
        for index, turn in enumerate(example.turns):
            messages.append(Message(Role.AGENT, compact_json(turn)))
            if index < len(example.results):
                messages.append(Message(Role.USER, _told(_shown(example.results[index]))))
    return tuple(messages)


def routing_messages(run: RunSnapshot, opening: Sequence[Message]) -> tuple[Message, ...]:
    """Asks which way the run's request takes; what the session brought comes before it."""
    return (*opening, Message(Role.USER, in_session(run)))


def call_turns(run: RunSnapshot, result_chars: int) -> Iterator[Message]:
    """What was called and what came of it, as the turns that follow the routing; long results shortened."""
    steps = [step for step in run.steps.values() if step.executed]
    results = [_result_of(step) for step in steps]
    for step, result, room in zip(
        steps, results, share([len(r) for r in results], result_chars), strict=True
    ):
        call = step.step.tool_call or ToolCall("")
        said: JsonObject = {"route": "direct", "tool": call.tool, "arguments": call.arguments}
        yield Message(Role.AGENT, compact_json(said))
        yield Message(Role.USER, _told(shorten(result, room)))


def results_length(run: RunSnapshot) -> int:
    """How many characters all results have."""
    return sum(len(_result_of(step)) for step in run.steps.values() if step.executed)


def _result_of(step: StepSnapshot) -> str:
    if step.state is StepState.SUCCEEDED:
        return compact_json(_telling(step.output))
    return _no_result(step.state, step.error or step.reason)


def _shown(result: JsonValue | NoResult) -> str:
    if isinstance(result, NoResult):
        return _no_result(StepState.FAILED, result.error)
    return compact_json(_telling(result))


def _telling(output: JsonValue) -> JsonValue:
    """A result in fewer words: without the parts that say no more than that it is whole, and lists of things
    with the same parts as tables, whose first row names the columns."""
    if not isinstance(output, Mapping):
        return output
    whole = output.get("truncated") is False and not output.get("left_out")
    parts = {name: _table(part) for name, part in output.items()}
    return {name: part for name, part in parts.items() if not (whole and name in _OF_WHOLENESS)}


def _table(part: JsonValue) -> JsonValue:
    rows = [row for row in part if isinstance(row, Mapping)] if is_list(part) else []
    alike = len({tuple(row) for row in rows}) == 1 and rows == part
    if not alike or len(rows) < _MIN_ROWS or len(rows[0]) < _MIN_COLUMNS:
        return part
    return [[*rows[0]], *([*row.values()] for row in rows)]


def _no_result(state: StepState, why: str) -> str:
    return f"no result, {state}: {why}"


def _told(result: str) -> str:
    return f"Result: {result}"
