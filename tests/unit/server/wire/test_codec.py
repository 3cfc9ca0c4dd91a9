from dataclasses import dataclass, field

import pytest

from aeond.api.v1 import parts_pb2, tools_pb2
from aeond.domain.outcome import Problem
from aeond.domain.runs.run import Owner
from aeond.domain.tools import ToolCall
from aeond.errors import InvalidInputError
from aeond.server.wire import checks
from aeond.server.wire.codec import Encoder, Form, Shape, each


@dataclass(frozen=True)
class Envelope:
    problem: Problem
    uid: int = 7
    errors: tuple[str, ...] = field(default=())

    @property
    def pid(self) -> int:
        return 8


def test_fields_are_found_by_name_in_the_value_and_in_its_parts() -> None:
    """A field is read from the attribute or property of its name, or from a part that is named for it."""
    encoder = Encoder(
        (
            Shape(Envelope, parts_pb2.Owner),
            Shape(Problem, parts_pb2.Problem),
        )
    )
    value = Envelope(Problem("NO", "none", retryable=True))
    assert encoder.encode(value, parts_pb2.Owner) == parts_pb2.Owner(uid=7, pid=8)
    inside = Encoder((Shape(Envelope, parts_pb2.Problem, inside=("problem",)),))
    sent = inside.encode(value, parts_pb2.Problem)
    assert sent == parts_pb2.Problem(reason="NO", message="none", retryable=True)


def test_json_and_text_are_made_fit_for_the_wire() -> None:
    """A JSON value becomes text, also if it is null, and a lone surrogate becomes a question mark."""
    encoder = Encoder((Shape(ToolCall, tools_pb2.ToolCall),))
    sent = encoder.encode(ToolCall("a\ud800", {"n": 2**70}), tools_pb2.ToolCall)
    assert (sent.tool, sent.arguments_json) == ("a?", '{"n":1180591620717411303424}')


def test_a_field_without_a_source_is_seen_on_import() -> None:
    """A message that has outgrown its domain type cannot be put into the table."""
    with pytest.raises(TypeError, match="retryable"):
        Shape(Owner, parts_pb2.Problem, reason=lambda _: "", message=lambda _: "", path=lambda _: "")
    with pytest.raises(TypeError, match="gid"):
        Shape(Owner, parts_pb2.Owner, gid=lambda _: 0)


def test_a_value_goes_out_as_its_own_message_only() -> None:
    """A value that is sent as another message than the one asked for is a mistake of the program."""
    encoder = Encoder((Shape(Owner, parts_pb2.Owner),))
    with pytest.raises(AssertionError):
        encoder.encode(Owner(), parts_pb2.Problem)


def test_a_form_checks_each_field_under_its_path() -> None:
    """A field is checked under its path in the request, and a field that is not set keeps its default."""
    form = Form(
        ToolCall,
        tools_pb2.ToolCall,
        tool=checks.word,
        arguments_json=lambda text, path: {"raw": text, "path": path},
        call_id=checks.word,
    )
    call = form.read(tools_pb2.ToolCall(tool="t", arguments_json="x", call_id="c"), "steps[1].call")
    assert call == ToolCall("t", {"raw": "x", "path": "steps[1].call.arguments_json"}, "c")
    with pytest.raises(InvalidInputError) as raised:
        form.read(tools_pb2.ToolCall(tool="t"), "call")
    assert raised.value.field == "call.call_id"


def test_a_field_without_a_check_is_seen_on_import() -> None:
    """A request that has outgrown its form cannot be read."""
    with pytest.raises(TypeError, match="call_id"):
        Form(ToolCall, tools_pb2.ToolCall, tool=checks.word, arguments_json=checks.word)


def test_items_are_checked_one_by_one() -> None:
    """The path of an item has its position, and there are at most so many."""
    check = each(lambda text, path: f"{path}={text}", 2)
    assert check(["a", "b"], "names") == ("names[0]=a", "names[1]=b")
    with pytest.raises(InvalidInputError, match="names has 3 entries"):
        check(["a", "b", "c"], "names")
