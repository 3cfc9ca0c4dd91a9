"""Click groups with a fixed order of commands."""

import click


class InOrder(click.Group):
    """Lists commands in the order of definition instead of alphabetically."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)
