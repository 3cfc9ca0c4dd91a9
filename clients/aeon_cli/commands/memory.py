"""`memory`: what aeond was asked to remember."""

import sys

import click

from aeon_cli.completing import complete_key
from aeon_cli.connecting import connect, json_option, print_json
from aeon_cli.grouping import InOrder


@click.group(cls=InOrder)
def memory() -> None:
    """What aeond was asked to remember: keys and JSON values."""


@memory.command("list")
@click.argument("prefix", default="")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    default=1_000,
    show_default=True,
    help="How many at most.",
)
@json_option
@click.pass_context
def list_keys(context: click.Context, /, prefix: str, limit: int, as_json: bool) -> None:
    """List the keys that start with PREFIX, with their values. With --json one a line."""
    from aeon_cli.printable import shown_value
    from aeon_cli.tables import print_table

    with connect(context) as client:
        found = client.search_memory(prefix, limit)
    if as_json:
        for key, value in found:
            print_json({"key": key, "value": value})
    else:
        rows = [(key, shown_value(value)) for key, value in found]
        print_table(("KEY", "VALUE"), rows, nothing="Nothing is remembered under such a key.")


@memory.command("get")
@click.argument("key", shell_complete=complete_key)
@json_option
@click.pass_context
def get(context: click.Context, /, key: str, as_json: bool) -> None:
    """Print the value of KEY: a text as it is, anything else as JSON."""
    from aeon_cli.printable import json_line, printable

    with connect(context) as client:
        value = client.read_memory(key)
    print(printable(value) if isinstance(value, str) and not as_json else json_line(value))


@memory.command("set")
@click.argument("key", shell_complete=complete_key)
@click.argument("value")
@click.option("--text", is_flag=True, help="VALUE is a text even where it looks like JSON.")
@click.pass_context
def set_value(context: click.Context, /, key: str, value: str, text: bool) -> None:
    """Set KEY to VALUE: JSON where it is JSON, else the text. A VALUE of - is read from standard input."""
    from aeon_cli.plans import json_value
    from aeon_cli.standard_input import read_text

    if value == "-":
        value = read_text("The value")
    with connect(context) as client:
        client.write_memory(key, value if text else json_value(value))


@memory.command("delete")
@click.argument("key", shell_complete=complete_key)
@click.pass_context
def delete(context: click.Context, /, key: str) -> int:
    """Delete KEY. Exits with 1 when there was none."""
    from aeon_cli.exits import Exit
    from aeon_cli.printable import one_line

    with connect(context) as client:
        existed = client.delete_memory(key)
    if not existed:
        print(f"There is no key {one_line(key)}.", file=sys.stderr)
    return Exit.ANSWERED if existed else Exit.FAILED
