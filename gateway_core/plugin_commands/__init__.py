"""The command ``plugins`` and what stands below it."""

import click

from ..command_group import Commands
from . import changing, locking, looking


@click.group("plugins", cls=Commands)
def plugins_group() -> None:
    """Look at plugins, install and remove them, switch them on and off."""


for command in (*looking.COMMANDS, *changing.COMMANDS, *locking.COMMANDS):
    plugins_group.add_command(command)
