"""The command ``plugins`` and what stands below it."""

import click

from . import plugins_changing, plugins_locking, plugins_looking
from .group import Commands


@click.group("plugins", cls=Commands)
def plugins_group() -> None:
    """Look at plugins, install and remove them, switch them on and off."""


for command in (*plugins_looking.COMMANDS, *plugins_changing.COMMANDS, *plugins_locking.COMMANDS):
    plugins_group.add_command(command)
