"""What the sub-commands show."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from . import plugins, registry
from .config.environment import Environment, from_process
from .config.errors import ConfigError
from .plugins import Loaded, Problem
from .registry import Registry


def load(environment: Environment) -> tuple[Loaded, Registry]:
    """The installed plugins, asked once."""
    loaded = plugins.load(
        allowed=frozenset(environment.load_plugins),
        blocked=frozenset(environment.block_plugins),
        limit=environment.plugin_timeout_ms / 1000,
    )
    return loaded, registry.build(loaded)


def plugin_rows(environment: Environment) -> list[dict[str, Any]]:
    """One row for each plugin that was found."""
    _, found = load(environment)
    return [
        {
            "plugin": plugin.name,
            "distribution": plugin.distribution,
            "version": plugin.version or "",
            "state": plugin.state.value,
            "brings": ", ".join(_brought(found, plugin.name)),
            "seconds": round(plugin.seconds, 3),
            "problem": plugin.error or "; ".join(_told(found.problems, plugin.name)),
        }
        for plugin in found.plugins
    ]


def _brought(found: Registry, plugin: str) -> list[str]:
    formats = [f"format {name}" for name, owner in found.format_plugins.items() if owner == plugin]
    return formats + [name for name, owner in found.provider_plugins.items() if owner == plugin]


def _told(problems: Sequence[Problem], plugin: str) -> list[str]:
    return [problem.message for problem in problems if problem.plugin == plugin]


def print_table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """A table that fits the terminal; plain text where there is none."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns)
    for row in rows:
        table.add_row(*(str(row.get(column, "")) for column in columns))
    Console().print(table)


def add_plugin_commands(cli: click.Group) -> None:
    """Let plugins add their commands; a wrong environment only leaves them out."""
    try:
        environment = from_process()
    except ConfigError:
        return
    loaded, _ = load(environment)
    problems: list[Problem] = []
    plugins.replies(loaded.manager.hook.register_commands, problems, {"cli": cli})
