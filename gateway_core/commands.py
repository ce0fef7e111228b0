"""What the sub-commands show and do."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import click

from . import plugins, registry
from .config.data_dir import DataDir
from .config.environment import Environment, from_process
from .config.errors import ConfigError, DataDirInUse
from .own_desk import NoGateway, ask
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


RESET_ROUTE = "/api/auth/reset-password"


def reset_password(environment: Environment, base: str) -> str:
    """Take the dashboard password away and say what counts now.

    ``base`` is where a gateway answers that uses the data directory, if one
    does. Raises StartRefused, NoGateway.
    """
    try:
        with DataDir(environment.data_path) as data_dir:
            asyncio.run(_reset_here(data_dir))
    except DataDirInUse:
        told = ask(environment, base, "POST", RESET_ROUTE)
        if told.status != 200:
            raise NoGateway(
                f"What answers at {base} is not the gateway that uses {environment.data_path}."
            ) from None
    return (
        "The dashboard password is taken away and every session has ended; a second factor stays. "
        "Sign in with INITIAL_PASSWORD, or from this machine with the built-in password."
    )


async def _reset_here(data_dir: DataDir) -> None:
    from .identity.passwords import RESET, forgotten
    from .storage.stores import open_stores

    stores = await open_stores(data_dir)
    try:
        await stores.audit.write("cli", "local", RESET)
        await stores.settings.patch(forgotten())
    finally:
        await stores.close()
