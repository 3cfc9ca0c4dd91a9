"""Groups of commands."""

import click


class InOrder(click.Group):
    """Lists its commands in the order in which a user meets them, not in that of the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)
