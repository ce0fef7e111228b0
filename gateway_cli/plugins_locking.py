"""Commands of the plugin lock: ``lock`` and ``unlock``."""

import sys
from typing import TYPE_CHECKING

import click

from gateway_core.config.environment import Environment

from .plugins_looking import as_json_option, show

if TYPE_CHECKING:
    from gateway_core.plugins import Found, PluginFolder


@click.command("lock")
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 when something differs.")
@as_json_option
@click.pass_obj
def lock_command(environment: Environment, check: bool, as_json: bool) -> None:
    """Write down every plugin's files; from then on one that differs is refused at start."""
    from gateway_core.plugins.drift import ADVICE, watch
    from gateway_core.plugins.files import FileDamaged
    from gateway_core.plugins.lock import FILE, taken

    from .options import folder_of

    folder = folder_of(environment)
    try:
        if check:
            watched = watch(folder, _installed(folder))
            if watched is None:
                advice = "model-gateway plugins lock makes one."
                raise click.ClickException(f"There is no plugin lock; {advice}")
            drifts = watched.drifts()
            if as_json:
                show(drifts)
            else:
                for drift in drifts:
                    click.echo(f"{drift.plugin}: {drift.detail}")
                click.echo(ADVICE if drifts else "Everything is as the plugin lock has it.")
            if drifts:
                sys.exit(1)
            return
        lock = taken(_installed(folder), folder)
        folder.write_json(FILE, lock)
    except (FileDamaged, OSError) as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        show(lock)
        return
    files = sum(len(plugin.files) for plugin in lock.plugins)
    startup = len(lock.startup_files)
    click.echo(f"{len(lock.plugins)} plugins, {files} files and {startup} .pth files are locked.")
    click.echo("From the next start on the gateway refuses what differs.")


@click.command("unlock")
@as_json_option
@click.pass_obj
def unlock_command(environment: Environment, as_json: bool) -> None:
    """Take the lock away, so that plugins may change."""
    from gateway_core.plugins.lock import FILE, is_on

    from .options import folder_of

    folder = folder_of(environment)
    was_on = is_on(folder)
    try:
        folder.remove(FILE)
    except OSError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        show({"changed": was_on})
    else:
        click.echo("The plugin lock is off." if was_on else "There was no plugin lock.")


def _installed(folder: "PluginFolder") -> "list[Found]":
    from gateway_core.plugins.sources import find

    return find(lambda name, problem: None, folder=folder)


COMMANDS = (lock_command, unlock_command)
