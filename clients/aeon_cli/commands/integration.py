"""`acp` and `completion`: aeonctl in editors and shells."""

import click

from aeon_cli.connection import chosen_socket


@click.command()
@click.option(
    "--patience",
    "patience_seconds",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for a daemon that has gone away.",
)
@click.pass_context
def acp(context: click.Context, /, patience_seconds: float) -> None:
    """Serve an editor on standard input and output, in the Agent Client Protocol.

    An editor starts this command; it ends with its standard input. Sessions work in the folder of the editor. Needs the
    library agent-client-protocol, which the extra acp installs.
    """
    import asyncio
    import os

    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # gRPC's own log lines would be mixed into ours
    from typing import cast

    try:
        from acp import Agent, run_agent
    except ImportError as error:
        raise click.ClickException(
            "The library agent-client-protocol is missing: pip install 'aeonctl[acp]' or 'aeond[cli,acp]'"
        ) from error

    from aeon_cli.editor.agent import EditorAgent

    async def serve() -> None:
        async with EditorAgent(chosen_socket(context), patience_seconds=patience_seconds) as agent:
            # It has the methods of the capabilities that it announces; the library refuses the others.
            await run_agent(cast("Agent", agent))

    asyncio.run(serve())


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


COMMANDS = {127: acp, 170: completion}
