"""The command ``plugins`` and what stands below it."""

import json

import click

from .command_group import Commands
from .config.environment import Environment


@click.group("plugins", cls=Commands)
def plugins_group() -> None:
    """Look at the installed plugins."""


@plugins_group.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def plugins_list(environment: Environment, as_json: bool) -> None:
    """List every plugin that was found and what became of it."""
    from .commands import plugin_rows, print_table

    rows = plugin_rows(environment)
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    print_table(("plugin", "version", "state", "brings", "seconds", "problem"), rows)
