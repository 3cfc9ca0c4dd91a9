"""`memory`: reads and writes the long-term memory."""

import sys

import click

from aeon_cli.completion import complete_key
from aeon_cli.connection import connect, print_json
from aeon_cli.exits import Exit
from aeon_cli.options import InOrder, json_option, limit_option
from aeon_cli.text.printable import json_line, one_line, printable, shown_value
from aeon_cli.text.tables import print_table
from aeond_client.records.memory import MemoryEntry


@click.group(cls=InOrder)
@click.option(
    "--user",
    metavar="NAME",
    help="User whose memory to use, by name or uid; administrators only. Default: you.",
)
@click.pass_context
def memory(context: click.Context, /, user: str | None) -> None:
    """Read and write the long-term memory: keys with JSON values."""
    context.obj = None if user is None else _uid_of(user)


def _uid_of(user: str) -> int:
    import pwd

    try:
        return int(user) if user.isdecimal() else pwd.getpwnam(user).pw_uid
    except KeyError:
        raise click.UsageError(f"This machine has no user {user!r}.") from None


@memory.command("list")
@click.argument("prefix", default="")
@limit_option(1_000)
@json_option
@click.pass_context
def list_keys(context: click.Context, /, prefix: str, limit: int, as_json: bool) -> None:
    """List keys that start with PREFIX and their values. With --json, one per line.

    For a fact that a run wrote, the run is shown, and the untrusted sources that it had read.
    """
    with connect(context, administers=context.obj is not None) as client:
        found = client.search_facts(prefix, limit, uid=context.obj)
    if as_json:
        print_json(*found)
        return
    rows = [(fact.key, shown_value(fact.value), _source(fact)) for fact in found]
    if any(source for _, _, source in rows):
        print_table(("KEY", "VALUE", "FROM"), rows)
    else:
        print_table(("KEY", "VALUE"), [row[:2] for row in rows], nothing="No key matches.")


@memory.command("get")
@click.argument("key", shell_complete=complete_key)
@json_option
@click.pass_context
def get(context: click.Context, /, key: str, as_json: bool) -> None:
    """Print the value of KEY: text as it is, any other value as JSON.

    If it comes from a run that had read untrusted data, standard error says so.
    """
    with connect(context, administers=context.obj is not None) as client:
        fact = client.read_fact(key, uid=context.obj)
    value = fact.value
    if fact.taint:
        print(_source(fact), file=sys.stderr)
    print(printable(value) if isinstance(value, str) and not as_json else json_line(value))


@memory.command("set")
@click.argument("key", shell_complete=complete_key)
@click.argument("value")
@click.option("--text", is_flag=True, help="Treat VALUE as text even if it is valid JSON.")
@click.pass_context
def set_value(context: click.Context, /, key: str, value: str, text: bool) -> None:
    """Set KEY to VALUE. VALUE is parsed as JSON if possible, otherwise it is text; `-` reads standard
    input.
    """
    from aeon_cli.plans import json_value
    from aeon_cli.standard_input import read_text

    if value == "-":
        value = read_text("The value")
    with connect(context, administers=context.obj is not None) as client:
        client.write_memory(key, value if text else json_value(value), uid=context.obj)


@memory.command("delete")
@click.argument("key", shell_complete=complete_key)
@click.pass_context
def delete(context: click.Context, /, key: str) -> int:
    """Delete KEY. Exits with 1 if the key does not exist."""
    with connect(context, administers=context.obj is not None) as client:
        existed = client.delete_memory(key, uid=context.obj)
    if not existed:
        print(f"Key {one_line(key)} does not exist.", file=sys.stderr)
    return Exit.ANSWERED if existed else Exit.FAILED


def _source(fact: MemoryEntry) -> str:
    """Where the fact comes from; "" for a client."""
    if not fact.run_id and not fact.taint:
        return ""
    run = f"run {one_line(fact.run_id)}" if fact.run_id else "unknown run"
    return f"{run}, untrusted: {', '.join(map(one_line, fact.taint))}" if fact.taint else run


COMMANDS = {130: memory}
