"""Commands that change which plugins there are, and which of them are switched on."""

import json
import subprocess
import sys
from operator import itemgetter
from typing import TYPE_CHECKING

import click

from gateway_core.config.environment import Environment

from .plugins_looking import as_json_option, show, show_rows

if TYPE_CHECKING:
    from gateway_core.plugins import Found, PluginFolder

LONGEST_LOOK = 300
"""Seconds another process may take to load every plugin."""


@click.command("install", context_settings={"ignore_unknown_options": True})
@click.argument("words", metavar="PACKAGE... [-- OPTIONS]", nargs=-1, required=True)
@click.option(
    "--into",
    type=click.Choice(["environment", "data"]),
    default="environment",
    show_default=True,
    help="Where the gateway is installed, or the data directory.",
)
@as_json_option
@click.pass_obj
def install_command(
    environment: Environment, words: tuple[str, ...], into: str, as_json: bool
) -> None:
    """Install plugins with pip, and say whether they load.

    What the gateway itself needs keeps its versions. OPTIONS go to pip as they
    are. A plugin counts from the next start of the gateway.
    """
    from .installing import install
    from .options import folder_of
    from .pip import InstallFailed, installer, run

    folder = folder_of(environment)
    begin = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    before = {
        (each.name, each.distribution, each.version, each.origin) for each in _installed(folder)
    }
    try:
        place = folder if into == "data" else None
        install(words[:begin], words[begin:], place, run=run, tool=installer())
    except (InstallFailed, OSError) as error:
        raise click.ClickException(str(error)) from None
    # Another process lists them: this one may have imported what pip replaced.
    data_dir = ("--data-dir", str(environment.data_path))
    command = [sys.executable, "-m", "gateway_core", *data_dir, "plugins", "list", "--json"]
    try:
        output = subprocess.run(command, stdout=subprocess.PIPE, timeout=LONGEST_LOOK, check=True)
    except subprocess.SubprocessError as error:
        raise click.ClickException(f"The plugins cannot be listed: {error}") from None
    identity = itemgetter("name", "distribution", "version", "origin")
    new = [row for row in json.loads(output.stdout) if identity(row) not in before]
    has_failed = any(row["state"] != "loaded" for row in new)
    if as_json:
        show({"new": new})
    elif new:
        show_rows(new)
        if any(row["state"] == "loaded" for row in new):
            click.echo("What is loaded counts from the next start of the gateway.")
    else:
        click.echo("Nothing that was installed brings a plugin that was not there before.")
    if has_failed:
        sys.exit(1)


@click.command("uninstall")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Delete the file of a plugin that is one.")
@as_json_option
@click.pass_obj
def uninstall_command(environment: Environment, name: str, yes: bool, as_json: bool) -> None:
    """Remove the package that brings a plugin."""
    from gateway_core.plugins.files import FileDamaged
    from gateway_core.plugins.switches import switch

    from .installing import uninstall
    from .options import folder_of
    from .pip import InstallFailed, installer, run

    folder = folder_of(environment)
    plugins = _installed(folder)
    gone = next((plugin for plugin in plugins if plugin.name == name), None)
    if gone is None:
        raise click.ClickException(_unknown(name, plugins))
    # A package brings all of its plugins together, and so does a file.
    if gone.distribution is not None:
        source = (gone.distribution, gone.origin)
        names = [each.name for each in plugins if (each.distribution, each.origin) == source]
    elif yes:
        names = [each.name for each in plugins if each.path == gone.path]
    else:
        raise click.ClickException(f"Delete {gone.path}, or say --yes.")
    try:
        uninstall(gone, folder, run=run, tool=installer)
        for each in names:
            switch(folder, each, on=True)
    except (InstallFailed, FileDamaged, OSError) as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        show({"removed": names, "distribution": gone.distribution})
    else:
        click.echo(f"Removed {gone.distribution or gone.path}, which brought {', '.join(names)}.")


def _installed(folder: "PluginFolder") -> "list[Found]":
    from gateway_core.plugins.sources import find

    return find(lambda name, problem: None, folder=folder)


def _unknown(name: str, plugins: "list[Found]") -> str:
    from gateway_administration.plugins.about import nearest

    return nearest(name, (plugin.name for plugin in plugins))


@click.command("enable")
@click.argument("name")
@as_json_option
@click.pass_obj
def enable_command(environment: Environment, name: str, as_json: bool) -> None:
    """Load a plugin again that was switched off, from the next start on."""
    _switch(environment, name, as_json, on=True)


@click.command("disable")
@click.argument("name")
@as_json_option
@click.pass_obj
def disable_command(environment: Environment, name: str, as_json: bool) -> None:
    """Leave a plugin out, from the next start on."""
    _switch(environment, name, as_json, on=False)


def _switch(environment: Environment, name: str, as_json: bool, *, on: bool) -> None:
    from gateway_core.plugins.files import FileDamaged
    from gateway_core.plugins.switches import disabled, reservation, switch

    from .options import folder_of

    folder = folder_of(environment)
    try:
        plugins = _installed(folder)
        if name not in {plugin.name for plugin in plugins} | disabled(folder):
            raise click.ClickException(_unknown(name, plugins))
        changed = switch(folder, name, on=on)
    except (FileDamaged, OSError) as error:
        raise click.ClickException(str(error)) from None
    note = reservation(
        name, on=on, allowed=environment.load_plugins, blocked=environment.block_plugins
    )
    if as_json:
        show({"name": name, "enabled": on, "changed": changed, "note": note})
        return
    word = "on" if on else "off"
    click.echo(
        f"{name} is switched {word} from the next start."
        if changed
        else f"{name} is switched {word} already."
    )
    if note:
        click.echo(note)


COMMANDS = (install_command, uninstall_command, enable_command, disable_command)
