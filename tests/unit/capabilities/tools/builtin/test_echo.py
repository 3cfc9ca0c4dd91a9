"""The echo tool."""

from aeond.capabilities.tools.builtin.echo import echo_tool
from tests.support.tools import CONTEXT, call, invoker_of


async def test_text_comes_back_unchanged() -> None:
    """Whatever text goes in comes out, byte for byte."""
    for text in ("", "plain", " \t\n\u0000\u202e", "\u00fc\U0001f600", '{"json": "inside"}'):
        result = await invoker_of(echo_tool()).invoke(call("echo", text=text), CONTEXT)
        assert result.data == {"text": text}
