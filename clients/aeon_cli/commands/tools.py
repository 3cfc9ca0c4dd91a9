"""`tools` and `call`: lists the tools and calls one directly."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aeon_cli.completion import complete_tool
from aeon_cli.connection import connect, print_json
from aeon_cli.exits import Exit
from aeon_cli.options import json_option, tool_call_arguments
from aeon_cli.text.printable import json_line, one_line, printable
from aeon_cli.text.tables import print_table

if TYPE_CHECKING:
    from aeond_client.records.tools import ToolSpec


@click.command()
@click.argument("name", required=False, shell_complete=complete_tool)
@json_option
@click.pass_context
def tools(context: click.Context, /, name: str | None, as_json: bool) -> None:
    """List the tools, or describe one.

    The description of one tool includes its arguments, result and effects, and for a third-party tool its source
    and the digest to accept. With --json, one tool per line.
    """
    with connect(context) as client:
        found = (client.get_tool(name),) if name else client.list_tools()
    if as_json:
        print_json(*found)
    elif name:
        tool = found[0]
        print(f"{one_line(tool.name)}: {one_line(tool.description)}")
        print(f"effect   {tool.effect}{', idempotent' if tool.idempotent else ''}")
        if tool.source:
            print(f"source   {one_line(tool.source)}")
            print(f"digest   {one_line(tool.digest)}")
            print(f"state    {one_line(_state(tool))}")
        print(f"timeout  {tool.timeout_seconds:g} s")
        print(f"input    {json_line(tool.input_schema)}")
        print(f"output   {json_line(tool.output_schema)}")
        if tool.example is not None:
            print(f"example  {json_line(tool.example)}")
    else:
        foreign = any(tool.source for tool in found)
        print_table(
            ("TOOL", "EFFECT", *(("SOURCE", "STATE") if foreign else ()), "DESCRIPTION"),
            [
                (tool.name, tool.effect, *((tool.source, _state(tool)) if foreign else ()), tool.description)
                for tool in found
            ],
        )


def _state(tool: "ToolSpec") -> str:
    """Whether a tool of another author can be called, and whether models see it."""
    if tool.unavailable:
        return f"unavailable: {tool.unavailable}"
    return "" if tool.offered or not tool.source else "not accepted"


@click.command(context_settings={"ignore_unknown_options": True})
@tool_call_arguments
@click.option(
    "--timeout",
    "timeout_seconds",
    type=click.FloatRange(min=0.1),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="Timeout for the call.",
)
@json_option
@click.pass_context
def call(
    context: click.Context,
    /,
    tool: str,
    arguments: tuple[str, ...],
    workspace: str,
    timeout_seconds: float,
    as_json: bool,
) -> int:
    """Call one tool under the same checks as a step of a run.

    The arguments are one JSON object, or words key=value. A value is parsed as JSON if possible, otherwise it
    is text. The result goes to standard output: text as it is, any other value as JSON.

    \b
    aeonctl call calculator expression='2400 * 0.175'
    aeonctl call read_file path=README.md
    aeonctl call remember '{"key": "bonus", "value": 420}'
    """  # noqa: D301 - click's mark for lines that stay as they are
    from aeon_cli.plans import arguments_of
    from aeon_cli.text.titles import effect_in_words

    given = arguments_of(arguments)
    folder = str(Path(workspace).absolute()) if workspace else ""
    with connect(context) as client:
        result = client.call_tool(tool, given, workspace=folder, timeout_seconds=timeout_seconds)
    if as_json:
        print_json(result)
    elif not result.success:
        print(
            f"{one_line(tool)} failed: {printable(result.error)} ({one_line(result.reason)})", file=sys.stderr
        )
    elif isinstance(result.data, str):
        print(printable(result.data).removesuffix("\n"))
    else:
        print(json_line(result.data))
    if not as_json:
        for effect in result.effects:
            print(effect_in_words(effect), file=sys.stderr)
    return Exit.ANSWERED if result.success else Exit.FAILED


@click.command("serve-tool")
@click.argument("name")
@click.argument("words", nargs=-1, required=True, metavar="-- COMMAND...")
@click.option(
    "--description", default="", metavar="TEXT", help="Description by which models choose the tool."
)
@click.option(
    "--effect",
    default="undeclared",
    show_default=True,
    metavar="CLASS",
    help="Effect class for the policy, such as read, net or exec_host.",
)
@click.option(
    "--schema",
    metavar="JSON",
    help="JSON Schema of the arguments. Default: the texts that COMMAND names in braces.",
)
@click.option(
    "--timeout",
    "timeout_seconds",
    type=click.FloatRange(min=0.1, max=3600),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of one call; then the command is killed.",
)
@click.option(
    "--max-calls",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    metavar="NUMBER",
    help="Calls at a time; more wait for one that ends.",
)
@click.pass_context
def serve_tool(
    context: click.Context,
    /,
    name: str,
    words: tuple[str, ...],
    description: str,
    effect: str,
    schema: str | None,
    timeout_seconds: float,
    max_calls: int,
) -> None:
    """Serve COMMAND as the tool NAME to your own runs, until Ctrl-C.

    A word {x} of COMMAND becomes the argument x of the call; no shell is involved. All arguments together are a JSON
    object on its standard input, and AEOND_CALL_ID is the id of the call. Its standard output is the result: JSON if it is JSON, else text. An exit status other
    than 0 is a failure, with the last words of its standard error.

    \b
    aeonctl serve-tool disk_usage --effect read --description 'Shows the size of a folder.' -- du -sh -- '{folder}'
    """  # noqa: D301 - click's mark for lines that stay as they are
    import json
    from contextlib import suppress

    from aeon_cli.command_tool import command_tool
    from aeond_client.serving.served_tools import ServedTools

    try:
        given = None if schema is None else json.loads(schema)
    except ValueError as error:
        raise click.UsageError(f"--schema is not valid JSON: {error}") from error
    made = command_tool(
        name, words, description=description, effect=effect, timeout_seconds=timeout_seconds, schema=given
    )
    with connect(context) as client:
        socket = client.socket.path
    with (
        suppress(KeyboardInterrupt),
        ServedTools([made], source="aeonctl serve-tool", socket=socket, max_calls=max_calls) as served,
    ):
        print(f"serving {name}", file=sys.stderr, flush=True)
        served.wait()


COMMANDS = {110: tools, 120: call, 125: serve_tool}
