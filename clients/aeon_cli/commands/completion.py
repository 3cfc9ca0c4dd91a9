"""`completion`: prints the completion script for a shell."""

import click


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


COMMANDS = {170: completion}
