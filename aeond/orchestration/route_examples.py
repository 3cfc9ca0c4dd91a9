"""Worked examples of routing, shown to the model as earlier turns: a decision, and what came of it.

Each shows one habit: answer without a tool, call one, go on from its result, tell the result in words or
let it speak for itself, leave what is more to a plan. An example is shown only if every tool in it is
offered and takes its arguments. Their topics are far from everyday requests on purpose: small models copy
what they see.
"""

from collections.abc import Sequence
from typing import Final

from aeond.domain.tools import ToolCall, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.frozen import frozen
from aeond.orchestration.schema_parts import as_object
from aeond.ports import Validator


@frozen
class NoResult:
    """What a call came to that failed."""

    error: str


@frozen
class RouteExample:
    """A request, what is said to it, and for each result what is said next."""

    request: str
    turns: tuple[JsonObject, ...]
    results: tuple[JsonValue | NoResult, ...] = ()


_REPLY: Final[JsonObject] = {"route": "reply"}
_PLAN: Final[JsonObject] = {"route": "plan"}
_DONE: Final[JsonObject] = {"done": True}


def _call(tool: str, **arguments: str) -> JsonObject:
    return {"route": "direct", "tool": tool, "arguments": arguments}


def _text(path: str, text: str) -> JsonObject:
    return {
        "path": path,
        "text": text,
        "line_count": 1,
        "size_bytes": len(text.encode()),
        "truncated": False,
        "next_offset": len(text.encode()),
    }


def _entry(name: str, size_bytes: int, day: str) -> JsonObject:
    return {"name": name, "kind": "file", "size_bytes": size_bytes, "modified_time": f"{day}T10:00:00Z"}


EXAMPLES: Final = (
    RouteExample("Hi, how are you?", (_REPLY,)),
    RouteExample("Who painted the Mona Lisa?", (_REPLY,)),
    RouteExample(
        "Where did I write about Paris?",
        (
            _call("search_files", text="Paris"),
            {"answer": 'You wrote about Paris in trip.md: "Paris in May".'},
        ),
        (
            {
                "matches": [{"path": "trip.md", "line": 3, "text": "Paris in May"}],
                "files_seen": 9,
                "left_out": [],
                "truncated": False,
            },
        ),
    ),
    RouteExample("Say 'sleep well' in Dutch.", (_REPLY,)),
    RouteExample(
        "Make up a haiku about rain and save it to rain.txt",
        (
            _call(
                "write_file",
                path="rain.txt",
                content="Soft rain on the roof,\nthe garden drinks in silence.\nMorning smells of earth.",
            ),
            {"answer": "A haiku about rain is in rain.txt."},
        ),
        ({"path": "rain.txt", "size_bytes": 76},),
    ),
    RouteExample("Is a whale a fish?", (_REPLY,)),
    RouteExample(
        "Read motto.txt, then remember it as motto.",
        (
            _call("read_file", path="motto.txt"),
            _call("memory_write", key="motto", value="Dare to know."),
            {"answer": 'motto.txt says "Dare to know."; I remember it as motto.'},
        ),
        (_text("motto.txt", "Dare to know."), {"key": "motto", "value": "Dare to know."}),
    ),
    RouteExample("Make up a riddle about a candle.", (_REPLY,)),
    RouteExample(
        "Keep in mind: my gate is B7 and my seat is 14C.",
        (
            _call("memory_write", key="gate", value="B7"),
            _call("memory_write", key="seat", value="14C"),
            {"answer": "I remember both: gate B7 and seat 14C."},
        ),
        ({"key": "gate", "value": "B7"}, {"key": "seat", "value": "14C"}),
    ),
    RouteExample("Which is the better speech, paul.md or rita.md?", (_PLAN,)),
    RouteExample(
        "Show me moss.txt", (_call("read_file", path="moss.txt"), _DONE), (_text("moss.txt", "Soft."),)
    ),
    RouteExample(
        "Note my blood group.",
        (
            _call("request_user_input", prompt="What is your blood group?"),
            _call("memory_write", key="blood_group", value="0 negative"),
            {"answer": "I remember that your blood group is 0 negative."},
        ),
        ("0 negative", {"key": "blood_group", "value": "0 negative"}),
    ),
    RouteExample("Explain briefly how a kettle works.", (_REPLY,)),
    RouteExample(
        "How many hours are 5 days and 7 hours?",
        (_call("calculator", expression="5 * 24 + 7"), {"answer": "They are 127 hours."}),
        ({"result": 127},),
    ),
    RouteExample(
        "Is it morning in Lima?",
        (_call("now", zone="America/Lima"), {"answer": "No, it is 21:14 in Lima: evening."}),
        (
            {
                "date": "2024-03-05",
                "time": "21:14:02",
                "weekday": "Tuesday",
                "zone": "America/Lima",
                "iso": "2024-03-05T21:14:02-05:00",
            },
        ),
    ),
    RouteExample(
        "Is the week over yet?",
        (_call("now"), {"answer": "No, it is Tuesday."}),
        (
            {
                "date": "2024-03-05",
                "time": "21:14:02",
                "weekday": "Tuesday",
                "zone": "UTC",
                "iso": "2024-03-05T21:14:02+00:00",
            },
        ),
    ),
    RouteExample("Which is the highest mountain of Africa?", (_REPLY,)),
    RouteExample(
        "Spell this word backwards.",
        (_call("request_user_input", prompt="Which word is it?"), {"answer": "pmal"}),
        ("lamp",),
    ),
    RouteExample(
        "Put the text of shout.txt into small letters and save that as calm.txt",
        (
            _call("read_file", path="shout.txt"),
            _call("write_file", path="calm.txt", content="stop that noise!"),
            {"answer": 'The text is in calm.txt: "stop that noise!"'},
        ),
        (_text("shout.txt", "STOP THAT NOISE!"), {"path": "calm.txt", "size_bytes": 16}),
    ),
    RouteExample(
        "Print the words of song.txt",
        (_call("read_file", path="song.txt"), {"answer": "There is no file song.txt here."}),
        (NoResult("'song.txt' does not exist: list the folder to see what is there"),),
    ),
    RouteExample("Ask me for a colour and make up a rhyme with it.", (_PLAN,)),
    RouteExample("Make up two lines about an owl.", (_REPLY,)),
    RouteExample("Is a tomato a fruit?", (_REPLY,)),
    RouteExample(
        "Put my hat size into hat.txt",
        (
            _call("request_user_input", prompt="What is your hat size?"),
            _call("write_file", path="hat.txt", content="58 cm"),
            {"answer": "Your hat size, 58 cm, is in hat.txt."},
        ),
        ("58 cm", {"path": "hat.txt", "size_bytes": 5}),
    ),
    RouteExample(
        "Who is greeted in card.txt?",
        (_call("read_file", path="card.txt"), {"answer": "Uncle Bo is greeted."}),
        (_text("card.txt", "Hello Uncle Bo, greetings from the lake!"),),
    ),
    RouteExample(
        "What is in here, and which of it is the newest?",
        (
            _call("list_dir"),
            {"answer": "Here are waltz.mp3, tango.mp3 and polka.mp3. The newest is tango.mp3."},
        ),
        (
            {
                "largest_file": "waltz.mp3",
                "largest_size_bytes": 900,
                "newest_file": "tango.mp3",
                "total": 3,
                "truncated": False,
                "entries": [
                    _entry("waltz.mp3", 900, "2024-03-01"),
                    _entry("tango.mp3", 700, "2024-03-05"),
                    _entry("polka.mp3", 600, "2024-02-11"),
                ],
            },
        ),
    ),
    RouteExample(
        "What is my seat?",
        (_call("memory_read", key="seat"), {"answer": "Your seat is 14C."}),
        ({"key": "seat", "found": True, "value": "14C"},),
    ),
    RouteExample(
        "What have I told you to keep in mind?",
        (
            _call("memory_search"),
            {"answer": "You told me two things: sister is Mia, tea is green."},
        ),
        (
            {
                "entries": [{"key": "sister", "value": "Mia"}, {"key": "tea", "value": "green"}],
                "truncated": False,
            },
        ),
    ),
)


def examples_for(specs: Sequence[ToolSpec], validator: Validator) -> tuple[RouteExample, ...]:
    """The examples that these tools can carry out."""
    by_name = {spec.name: spec for spec in specs}
    return tuple(
        example for example in EXAMPLES if all(_possible(turn, by_name, validator) for turn in example.turns)
    )


def _possible(turn: JsonObject, by_name: dict[str, ToolSpec], validator: Validator) -> bool:
    tool = turn.get("tool")
    if not isinstance(tool, str):
        return True
    spec = by_name.get(tool)
    if spec is None:
        return False
    return not validator.validate_tool_call(ToolCall(tool, as_object(turn["arguments"])), spec)
