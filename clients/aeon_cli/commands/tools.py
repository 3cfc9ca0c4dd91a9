"""`tools` and `call`: what a plan may use, used by hand."""

import sys
from pathlib import Path

import click

from aeon_cli.completing import complete_tool
from aeon_cli.connecting import connect, json_option, print_json


@click.command()
@click.argument("name", required=False, shell_complete=complete_tool)
@json_option
@click.pass_context
def tools(context: click.Context, /, name: str | None, as_json: bool) -> None:
    """List the tools, or show one.

    One is shown with what it takes, gives and does to the world. With --json one tool a line.
    """
    from aeon_cli.tables import print_table

    with connect(context) as client:
        found = (client.get_tool(name),) if name else client.list_tools()
    if as_json:
        for tool in found:
            print_json(tool)
    elif name:
        from aeon_cli.printable import json_line, one_line

        tool = found[0]
        print(f"{one_line(tool.name)}: {one_line(tool.description)}")
        print(f"effect   {tool.effect}{', idempotent' if tool.idempotent else ''}")
        print(f"at most  {tool.timeout_seconds:g} s")
        print(f"takes    {json_line(tool.input_schema)}")
        print(f"gives    {json_line(tool.output_schema)}")
        if tool.example is not None:
            print(f"example  {json_line(tool.example)}")
    else:
        print_table(
            ("TOOL", "EFFECT", "WHAT IT DOES"), [(tool.name, tool.effect, tool.description) for tool in found]
        )


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("tool", shell_complete=complete_tool)
@click.argument("arguments", nargs=-1, metavar="[JSON | KEY=VALUE...]")
@click.option(
    "--workspace",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    default=".",
    show_default="the current folder",
    help="The folder that file tools work in; '' for one of the daemon's own.",
)
@click.option(
    "--timeout",
    "timeout_seconds",
    type=click.FloatRange(min=0.1),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for it.",
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
    """Call one tool, under the same guard as a step of a run.

    Arguments are one JSON object, or words key=value, where a value that is JSON is that value and
    anything else a text. The result goes to standard output; a text as it is, anything else as JSON.

    \b
    aeonctl call calculator expression='2400 * 0.175'
    aeonctl call read_file path=README.md
    aeonctl call memory_write '{"key": "bonus", "value": 420}'
    """  # noqa: D301 - click's mark for lines that stay as they are
    from aeon_cli.exits import Exit
    from aeon_cli.plans import arguments_of
    from aeon_cli.printable import json_line, one_line, printable

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
    return Exit.ANSWERED if result.success else Exit.FAILED
