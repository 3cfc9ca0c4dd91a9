"""Commands as tools: their words, standard input, results and failures."""

import sys
import threading
from typing import Any

import pytest

from aeon_cli.command_tool import command_tool
from aeond_client.serving.client_tool import CallContext, ClientTool, ToolFailure


def made(*words: str) -> ClientTool:
    return command_tool("t", words, description="Tests.", effect="read", timeout_seconds=5.0)


def called(tool: ClientTool, **arguments: Any) -> Any:
    return tool.call(arguments, CallContext("c", "", "", 5.0))


def test_the_words_in_braces_are_the_arguments() -> None:
    """Each is a required text; its value fills one word, without a shell."""
    tool = made("printf", "%s|", "{a}", "x{b}", "{a}")
    assert tool.spec.input_schema["required"] == ["a", "b"]
    assert called(tool, a="$(id) 'q'; ls", b="2") == "$(id) 'q'; ls|x2|$(id) 'q'; ls|"


def test_the_arguments_are_on_standard_input_and_json_comes_back() -> None:
    """A command that reads and writes JSON needs no words."""
    assert called(made("cat"), n=1, deep={"x": [True]}) == {"n": 1, "deep": {"x": [True]}}


def test_output_that_is_no_json_is_text() -> None:
    """The last line break is not part of the text."""
    assert called(made("echo", "plain words")) == "plain words"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("/nowhere/at/all",), "COMMAND_NOT_STARTED"),
        (("sh", "-c", "echo trouble >&2; exit 3"), "COMMAND_FAILED"),
        ((sys.executable, "-c", "print('x' * (1 << 20))"), "OUTPUT_TOO_LARGE"),
    ],
)
def test_a_command_that_fails_has_a_reason(words: tuple[str, ...], reason: str) -> None:
    """The error has the exit status and the last words of standard error."""
    with pytest.raises(ToolFailure) as raised:
        called(made(*words))
    assert raised.value.reason == reason
    assert reason != "COMMAND_FAILED" or str(raised.value) == "exit status 3: trouble"


def test_a_cancelled_command_is_killed_with_its_children() -> None:
    """A command ends when its call does, even if it started other programs."""
    context = CallContext("c", "", "", 5.0)
    tool = made("sh", "-c", "sleep 600 & sleep 600")
    failures: list[BaseException] = []

    def call() -> None:
        try:
            tool.call({}, context)
        except ToolFailure as error:
            failures.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    context.cancel()
    thread.join(30)
    assert [str(error) for error in failures] == ["exit status -9"]
