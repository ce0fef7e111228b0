"""What the sub-commands show and do."""

import logging
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, redirect_stdout
from typing import Any

import click
from msgspec import Struct
from msgspec.structs import replace

from gateway_core import plugins
from gateway_core.config.environment import Environment, from_process
from gateway_core.config.errors import ConfigError
from gateway_core.plugins import Loaded, PluginFolder, PluginSettings, Problem, registry
from gateway_core.plugins.registry import Registry


class Look(Struct, frozen=True):
    """The plugins as this process finds them, without the database: settings from the
    environment count, stored ones do not."""

    loaded: Loaded
    settings: PluginSettings
    registry: Registry
    folder: PluginFolder


def look(environment: Environment, *, quiet: bool = False) -> Look:
    """Load every plugin and call its hooks once. What a plugin prints goes to the error output.

    ``quiet`` keeps the log off it, for commands that print the problems themselves.
    """
    folder = folder_of(environment)
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(sys.stderr))
        if quiet:
            # A logger without any handler writes warnings to the error output by itself.
            log, handler = logging.getLogger("gateway_core"), logging.NullHandler()
            log.addHandler(handler)
            stack.callback(log.removeHandler, handler)
        loaded = plugins.load(
            allowed=frozenset(environment.load_plugins),
            blocked=frozenset(environment.block_plugins),
            folder=folder,
            limit=environment.plugin_timeout_ms / 1000,
        )
        settings = plugins.settings_of(loaded, environment.variables)
        trusted = frozenset(environment.trust_plugins)
        return Look(loaded, settings, registry.build(loaded, settings, trusted=trusted), folder)


def load(environment: Environment) -> tuple[Loaded, Registry]:
    """The installed plugins, and the registry of what their hooks returned."""
    installation = look(environment)
    return installation.loaded, installation.registry


def folder_of(environment: Environment) -> PluginFolder:
    """The folder of the operator's own plugins."""
    return PluginFolder.of(environment.data_path)


def print_table(
    columns: Sequence[str], rows: Sequence[Mapping[str, Any]], whole: Collection[str] = ()
) -> None:
    """A table that fits the terminal; plain text where there is none.

    ``whole`` names the columns that are never folded. Brackets and colons in the cells are
    text, not markup.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in columns:
        table.add_column(column, no_wrap=column in whole, overflow="fold")
    for row in rows:
        table.add_row(*(str(row.get(column, "")) for column in columns))
    Console(markup=False, emoji=False).print(table)


def add_plugin_commands(cli: click.Group) -> None:
    """Let plugins add their commands; a wrong environment only leaves them out."""
    try:
        environment = from_process()
    except ConfigError:
        return
    context = click.get_current_context(silent=True)
    data_dir = context.find_root().params.get("data_dir") if context else None
    if data_dir:
        environment = replace(environment, data_dir=str(data_dir))
    installation = look(environment, quiet=True)
    failed = [plugin.name for plugin in installation.registry.plugins if plugin.error]
    if failed:
        message = (
            f"Plugins with a problem: {', '.join(failed)}; see `model-gateway plugins doctor`."
        )
        click.echo(message, err=True)
    problems: list[Problem] = []

    def arguments(plugin: str) -> Mapping[str, object]:
        return {"cli": cli, **installation.settings.given(plugin)}

    hook = installation.loaded.manager.hook.register_commands
    plugins.replies(hook, problems, arguments, in_turn=True)
