"""The plugin that an argument of a command names."""

import click

from gateway_core.plugins import Found, PluginFolder


def find_plugin(name: str, folder: PluginFolder) -> Found:
    """Raises ClickException."""
    from .results import NotFound, find

    try:
        return find(name, folder)
    except NotFound as error:
        raise click.ClickException(str(error)) from None
