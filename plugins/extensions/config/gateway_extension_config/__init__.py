"""The configuration of a gateway as a file: ``model-gateway config``. See ``docs/config-files.md``.

Everything goes through the management API of a gateway that runs, so it works from anywhere and
follows the same rules as the dashboard.
"""

import click

from gateway_core import hookimpl

GATEWAY_PROTOCOL = 1


@hookimpl
def register_commands(cli: click.Group) -> None:
    # A gateway that serves loads this module too, and needs nothing of what is behind it.
    from .commands import config_group

    cli.add_command(config_group)
