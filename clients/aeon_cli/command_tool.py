"""A command as a tool: arguments go into its words and its standard input, its standard output is the result."""

import json
import os
import re
import signal
import subprocess
import tempfile
from contextlib import suppress
from typing import Any

from aeond_client.records.tools import ToolSpec
from aeond_client.serving.client_tool import CallContext, ClientTool, ToolFailure

MAX_OUTPUT_BYTES = 1 << 20
MAX_ERROR_BYTES = 500
CALL_ID = "AEOND_CALL_ID"

_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def command_tool(
    name: str,
    words: tuple[str, ...],
    *,
    description: str,
    effect: str,
    timeout_seconds: float,
    schema: dict[str, Any] | None = None,
) -> ClientTool:
    """The tool. Without a schema its arguments are the texts named in braces in the words."""
    places = dict.fromkeys(place for word in words for place in _PLACE.findall(word))
    derived = {
        "type": "object",
        "properties": {place: {"type": "string", "maxLength": 10_000} for place in places},
        "required": list(places),
    }
    spec = ToolSpec(
        name=name,
        description=description or f"Runs {words[0]}.",
        effect=effect,
        input_schema=derived if schema is None else schema,
        output_schema={},
        timeout_seconds=timeout_seconds,
    )

    def call(arguments: dict[str, Any], context: CallContext) -> Any:
        return _run([filled(word, arguments) for word in words], arguments, context)

    return ClientTool(spec, call)


def filled(word: str, arguments: dict[str, Any]) -> str:
    """The word with the values of the arguments that it names in braces: texts as they are, others as JSON, "" for those
    that are not given. It stays one word, whatever the values contain."""

    def value(place: re.Match[str]) -> str:
        given = arguments.get(place[1], "")
        return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)

    return _PLACE.sub(value, word)


def _run(words: list[str], arguments: dict[str, Any], context: CallContext) -> Any:
    """The standard output, as JSON if it is JSON, else as text. ToolFailure if the command fails."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
        given.write(json.dumps(arguments).encode())
        given.seek(0)
        try:
            process = subprocess.Popen(
                words,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=said,
                start_new_session=True,
                env={**os.environ, CALL_ID: context.call_id},
            )
        except (OSError, ValueError) as error:
            raise ToolFailure(f"{words[0]} cannot be started: {error}", "COMMAND_NOT_STARTED") from error
        context.on_cancel(lambda: _kill(process))
        with process:
            assert process.stdout is not None
            output = process.stdout.read(MAX_OUTPUT_BYTES + 1)
            if len(output) > MAX_OUTPUT_BYTES:
                _kill(process)
                raise ToolFailure(f"more than {MAX_OUTPUT_BYTES} bytes of output", "OUTPUT_TOO_LARGE")
        said.seek(max(0, said.seek(0, os.SEEK_END) - MAX_ERROR_BYTES))
        errors = said.read().decode(errors="replace").strip()
    if process.returncode:
        shown = f": {errors}" if errors else ""
        raise ToolFailure(f"exit status {process.returncode}{shown}", "COMMAND_FAILED")
    text = output.decode(errors="replace").removesuffix("\n")
    with suppress(ValueError):
        return json.loads(text)
    return text


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
