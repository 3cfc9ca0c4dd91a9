"""Worked examples of plans, shown to the model as earlier turns.

Each shows one habit: answer directly, call one tool, feed one step into another, bring two results together,
ask the user, make a text before using it. An example is shown only if every tool in it is registered and takes its arguments, so that
the model never sees a call that it could not make. Their topics are far from everyday requests on
purpose: small models copy what they see.
"""

from collections.abc import Sequence
from typing import Final

from aeond.domain.tools import ToolCall, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.ports import Validator
from aeond.schemas.parts import as_object

_EXAMPLES: Final[tuple[tuple[str, tuple[JsonObject, ...]], ...]] = (
    ("Hi, how are you?", ({"agent": "llm"},)),
    ("Say 'sleep well' in Dutch.", ({"agent": "llm"},)),
    ("Where did I write about Paris?", ({"tool": "search_files", "arguments": {"text": "Paris"}},)),
    ("List everything that you keep for me.", ({"tool": "recall", "arguments": {}},)),
    (
        "Read motto.txt, then remember it as motto.",
        (
            {"tool": "read_file", "arguments": {"path": "motto.txt"}},
            {"tool": "remember", "arguments": {"key": "motto", "value": "$s1.text"}},
        ),
    ),
    (
        "What did I change here last?",
        (
            {"tool": "list_dir", "arguments": {"sort": "modified"}},
            {"agent": "llm", "task": "Which was changed last?"},
        ),
    ),
    ("Explain briefly how a kettle works.", ({"agent": "llm"},)),
    (
        "Which is the better speech, paul.md or rita.md?",
        (
            {"tool": "read_file", "arguments": {"path": "paul.md"}},
            {"tool": "read_file", "arguments": {"path": "rita.md"}},
            {"agent": "llm", "task": "Which speech is better?"},
        ),
    ),
    (
        "Ask me for a colour and make up a rhyme with it.",
        (
            {"tool": "request_user_input", "arguments": {"prompt": "Which colour do you want?"}},
            {"agent": "llm", "task": "Make up a rhyme with the colour $s1."},
        ),
    ),
    (
        "Is it morning in Lima?",
        (
            {"tool": "now", "arguments": {"zone": "America/Lima"}},
            {"agent": "llm", "task": "Is it morning?"},
        ),
    ),
    (
        "Make up a haiku about rain and save it to rain.txt",
        (
            {"agent": "llm", "task": "Make up a haiku about rain."},
            {"tool": "write_file", "arguments": {"path": "rain.txt", "content": "$s1"}},
        ),
    ),
    (
        "Read letter.md and tell me if it is polite.",
        (
            {"tool": "read_file", "arguments": {"path": "letter.md"}},
            {"agent": "llm", "task": "Is the letter polite?"},
        ),
    ),
    (
        "Put joke.txt into French and save that to blague.txt",
        (
            {"tool": "read_file", "arguments": {"path": "joke.txt"}},
            {"agent": "llm", "task": "Put the joke into French."},
            {"tool": "write_file", "arguments": {"path": "blague.txt", "content": "$s2"}},
        ),
    ),
    ("Who painted the Mona Lisa?", ({"agent": "llm"},)),
)


def examples_for(specs: Sequence[ToolSpec], validator: Validator) -> tuple[tuple[str, JsonObject], ...]:
    """The requests and plans that these tools can carry out."""
    by_name = {spec.name: spec for spec in specs}
    return tuple(
        (request, {"steps": steps})
        for request, steps in _EXAMPLES
        if all(_possible(step, by_name, validator) for step in steps)
    )


def _possible(step: JsonObject, by_name: dict[str, ToolSpec], validator: Validator) -> bool:
    tool = step.get("tool")
    return not isinstance(tool, str) or accepts_call(by_name.get(tool), step["arguments"], validator)


def accepts_call(spec: ToolSpec | None, arguments: JsonValue, validator: Validator) -> bool:
    """Whether the tool is registered and takes these arguments."""
    return spec is not None and not validator.validate_tool_call(
        ToolCall(spec.name, as_object(arguments)), spec
    )
