"""An answer as chunks."""

import json
from collections.abc import AsyncGenerator, Sequence

import pytest

from aeond.capabilities.llm.adapters.chunks import begins_as_json, chunks_of
from aeond.capabilities.llm.http.responses import CallPiece, ChatPiece, read_piece
from aeond.domain.llm import FinishReason, LLMChunk, LLMRequest, TokenUsage
from aeond.domain.messages import Message, ModelToolCall, Role
from aeond.errors import LLMError

USAGE = TokenUsage(3, 2)
END = ChatPiece("", FinishReason.STOP, USAGE)
ASKED = LLMRequest((Message(Role.USER, "x"),))
UNDER = LLMRequest((Message(Role.USER, "x"),), schema={"type": "object"})


async def read_chunks(request: LLMRequest, *pieces: ChatPiece) -> Sequence[LLMChunk]:
    """The chunks of pieces that come one by one."""
    return await chunks_read(request, *([piece] for piece in pieces))


async def chunks_read(request: LLMRequest, *together: Sequence[ChatPiece]) -> Sequence[LLMChunk]:
    async def come() -> AsyncGenerator[Sequence[ChatPiece], None]:
        for pieces in together:
            yield pieces

    return [chunk async for chunk in chunks_of(request, come(), LLMError("no counts", reason="UNCOUNTED"))]


async def test_text_comes_first_and_counts_last() -> None:
    """Each piece of text is a chunk; how it ended and what it cost is the last one."""
    chunks = await read_chunks(ASKED, ChatPiece("a"), ChatPiece("b"), END)
    assert chunks == [LLMChunk("a"), LLMChunk("b"), LLMChunk("", FinishReason.STOP, USAGE)]


async def test_text_that_comes_together_is_one_chunk() -> None:
    """Pieces that were read at once are passed on at once with their number, also with the end of the answer among them."""
    chunks = await chunks_read(ASKED, [ChatPiece("a"), ChatPiece("b")], [ChatPiece("c"), END])
    assert chunks == [LLMChunk("ab", pieces=2), LLMChunk("c"), LLMChunk("", FinishReason.STOP, USAGE)]


async def test_an_answer_without_counts_is_none() -> None:
    """A stream that ends without finish reason and usage fails with the error of its engine for that."""
    with pytest.raises(LLMError, match="no counts"):
        await read_chunks(ASKED, ChatPiece("a"))


@pytest.mark.parametrize("texts", [("Well,",), ('{"a":', "1")])
async def test_an_answer_that_ignores_the_schema_is_an_error(texts: tuple[str, ...]) -> None:
    """Prose is seen at its first word, a broken value at its end."""
    with pytest.raises(LLMError) as raised:
        await read_chunks(UNDER, *(ChatPiece(text) for text in texts), END)
    assert raised.value.reason == "SCHEMA_NOT_ENFORCED"


async def test_a_cut_answer_under_a_schema_is_reported_as_cut() -> None:
    """Where the token limit came first, half a value is what was to be expected."""
    chunks = await read_chunks(UNDER, ChatPiece('{"a":'), ChatPiece("", FinishReason.LENGTH, USAGE))
    assert chunks[-1].finish_reason is FinishReason.LENGTH


@pytest.mark.parametrize(
    ("text", "may"), [(" ", True), ('\n{"', True), ("tr", True), ("-1", True), ("Yes", False)]
)
def test_how_json_begins(text: str, may: bool) -> None:
    """Spaces may come before a value; letters only where they begin one of JSON's words."""
    assert begins_as_json(text) is may


async def test_the_parts_of_calls_are_joined() -> None:
    """Each call has its name from its first part and its arguments from all of them, and comes with the last chunk."""
    chunks = await read_chunks(
        ASKED,
        ChatPiece("Let me look."),
        ChatPiece(calls=(CallPiece(0, "c1", "read_file", ""),)),
        ChatPiece(calls=(CallPiece(0, "", "", '{"path"'), CallPiece(1, "c2", "now", "{}"))),
        ChatPiece(calls=(CallPiece(0, "", "", ':"a"}'),)),
        END,
    )
    assert [chunk.text for chunk in chunks] == ["Let me look.", ""]
    assert chunks[-1].tool_calls == (
        ModelToolCall("read_file", '{"path":"a"}', "c1"),
        ModelToolCall("now", "{}", "c2"),
    )


def test_calls_are_read_from_events() -> None:
    """Arguments may come as text or, from some servers, as an object; an index beyond all bounds is refused."""

    def event(index: int, arguments: object) -> bytes:
        call = {"index": index, "id": "c", "function": {"name": "now", "arguments": arguments}}
        return json.dumps({"choices": [{"delta": {"tool_calls": [call]}}]}).encode()

    assert read_piece(event(0, '{"a":')).calls == (CallPiece(0, "c", "now", '{"a":'),)
    assert read_piece(event(0, {"a": 1})).calls == (CallPiece(0, "c", "now", '{"a": 1}'),)
    for index in (-1, 32):
        with pytest.raises(LLMError) as raised:
            read_piece(event(index, ""))
        assert raised.value.reason == "BAD_ANSWER"
