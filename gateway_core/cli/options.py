"""What the sub-commands show and do."""

import logging
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from typing import Any

import click
from msgspec import Struct
from msgspec.structs import replace

from .. import plugins
from ..config.environment import Environment, from_process
from ..config.errors import ConfigError
from ..plugins import Loaded, PluginFolder, PluginSettings, Problem, registry
from ..plugins.registry import Registry


class Look(Struct, frozen=True):
    """The plugins as this process finds them, without the database: settings from the
    environment count, stored ones do not."""

    loaded: Loaded
    settings: PluginSettings
    registry: Registry
    folder: PluginFolder


def look(environment: Environment, *, quiet: bool = False) -> Look:
    """Load every plugin and ask it once. What a plugin prints goes to the error output.

    ``quiet`` keeps the log off it, for whoever shows the problems anyway.
    """
    folder = folder_of(environment)
    with redirect_stdout(sys.stderr), _unlogged() if quiet else nullcontext():
        loaded = plugins.load(
            allowed=frozenset(environment.load_plugins),
            blocked=frozenset(environment.block_plugins),
            folder=folder,
            limit=environment.plugin_timeout_ms / 1000,
        )
        settings = plugins.settings_of(loaded, environment.variables)
        trusted = frozenset(environment.trust_plugins)
        return Look(loaded, settings, registry.build(loaded, settings, trusted=trusted), folder)


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep warnings from the error output where nothing else takes them up."""
    log, nowhere = logging.getLogger("gateway_core"), logging.NullHandler()
    log.addHandler(nowhere)
    try:
        yield
    finally:
        log.removeHandler(nowhere)


def load(environment: Environment) -> tuple[Loaded, Registry]:
    """The installed plugins, asked once."""
    found = look(environment)
    return found.loaded, found.registry


def folder_of(environment: Environment) -> PluginFolder:
    """The folder of the operator's own plugins."""
    return PluginFolder.of(environment.data_path)


def print_table(
    columns: Sequence[str], rows: Sequence[Mapping[str, Any]], whole: Collection[str] = ()
) -> None:
    """A table that fits the terminal; plain text where there is none.

    Columns that are to stay ``whole`` are as wide as what they hold. Brackets and colons
    in the cells mean nothing.
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
    wanted = replace(environment, data_dir=str(data_dir)) if data_dir else environment
    found = look(wanted, quiet=True)
    failed = [plugin.name for plugin in found.registry.plugins if plugin.error]
    if failed:
        message = (
            f"Plugins with a problem: {', '.join(failed)}; see `model-gateway plugins doctor`."
        )
        click.echo(message, err=True)
    problems: list[Problem] = []

    def given(plugin: str) -> Mapping[str, object]:
        return {"cli": cli, **found.settings.given(plugin)}

    plugins.replies(found.loaded.manager.hook.register_commands, problems, given)
