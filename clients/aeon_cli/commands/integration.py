"""`acp`, `aider` and `completion`: aeonctl with editors and shells."""

from pathlib import Path

import click

from aeon_cli.connection import chosen_socket, connect, session_named
from aeon_cli.options import patience_option, session_option, workspace_option


@click.command()
@patience_option
@click.pass_context
def acp(context: click.Context, /, patience_seconds: float) -> None:
    """Serve an editor on standard input and output, in the Agent Client Protocol.

    An editor starts this command; it ends with its standard input. Sessions work in the folder of the editor. Needs the
    library agent-client-protocol, which the extra acp installs.
    """
    import asyncio
    import os

    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # gRPC's own log lines would be mixed into ours

    try:
        import acp as _library  # noqa: F401 - whether it is there
    except ImportError as error:
        raise click.ClickException(
            "The library agent-client-protocol is missing: pip install 'aeonctl[acp]' or 'aeond[cli,acp]'"
        ) from error

    from aeon_cli.editor.agent import EditorAgent
    from aeon_cli.editor.transport import serve

    async def agent() -> None:
        async with EditorAgent(chosen_socket(context), patience_seconds=patience_seconds) as one:
            await serve(one)

    asyncio.run(agent())


@click.command()
@click.argument("task", nargs=-1, metavar="[TASK]...")
@click.option(
    "--file",
    "files",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="A file to change, below the folder; may be given several times. Default: the daemon finds them.",
)
@click.option("--test", default="", metavar="COMMAND", help="A test that Aider runs after each change.")
@workspace_option("The folder to work on.")
@session_option("Session that the work belongs to: an id, or last. Default: $AEOND_SESSION, else a new one.")
@patience_option
@click.pass_context
def aider(
    context: click.Context,
    /,
    task: tuple[str, ...],
    files: tuple[str, ...],
    test: str,
    workspace: str,
    session_id: str,
    patience_seconds: float,
) -> int:
    """Work with Aider at this terminal, on a copy of the folder.

    The words of TASK are the first request. Aider runs in the daemon's sandbox with the daemon's model. When it ends,
    the session gets what was asked and changed, and you are asked whether your files get the changes, as the policy says.

    \b
    aeonctl aider Let add return the sum
    aeonctl aider --file calc.py --test 'python3 -m unittest -q'
    """  # noqa: D301 - click's mark for lines that stay as they are
    import shlex

    from aeon_cli.terminal.handover import has_terminal

    if not has_terminal():
        raise click.UsageError("Aider needs a terminal: use aeonctl call aider, or aeonctl ask --plan.")
    try:
        words = shlex.split(test)
    except ValueError as error:
        raise click.UsageError(f"--test is not a valid command: {error}") from error
    folder = Path(workspace).absolute()
    names = tuple(_below(folder, file) for file in files)
    from aeon_cli.commands.asking import begun_session
    from aeon_cli.terminal.pairing import Pairing, pair

    with connect(context) as client:
        session = session_named(client, session_id) or begun_session(client)
        return pair(
            client, Pairing(" ".join(task), names, tuple(words), str(folder), session, patience_seconds)
        )


def _below(folder: Path, file: str) -> str:
    """The path of a file below the folder."""
    path = Path(file).absolute()
    if not path.is_relative_to(folder):
        raise click.UsageError(f"--file {file}: it is not below {folder}.")
    return str(path.relative_to(folder))


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, /, shell: str) -> None:
    """Print the script that completes aeonctl in a shell.

    \b
    bash  eval "$(aeonctl completion bash)"          in ~/.bashrc
    zsh   eval "$(aeonctl completion zsh)"           in ~/.zshrc
    fish  aeonctl completion fish | source           in config.fish
    """  # noqa: D301 - click's mark for lines that stay as they are
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None  # click.Choice above allows only shells that click supports
    print(kind(context.find_root().command, {}, "aeonctl", "_AEONCTL_COMPLETE").source())


COMMANDS = {126: aider, 127: acp, 170: completion}
