"""The command ``plugins dev``."""

import asyncio
import signal
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING

import click

from gateway_core.config.environment import Environment

from ..mock_vendor_options import check_content, check_fault, resolve_dialect
from ..plugin_argument import find_plugin

if TYPE_CHECKING:
    from .messages import ChildOptions
    from .supervisor import ReadDigests, Supervisor


@click.command("dev")
@click.argument("plugin", metavar="NAME|PATH")
@click.option("--port", "-p", type=click.IntRange(0, 65535), default=0, help="0 takes any free.")
@click.option("--says", default="text", show_default=True, help="What every answer says.")
@click.option("--fault", help="The vendor's fault, as NAME or NAME:NUMBER.")
@click.option("--format", "wire", help="The vendor's format, instead of the declared one.")
@click.pass_obj
def dev_command(
    environment: Environment, plugin: str, port: int, says: str, fault: str | None, wire: str | None
) -> None:
    """Serve one plugin before a mock vendor, and again after each save.

    Nothing leaves this machine. The data is thrown away in the end; what a mock
    vendor can say and how it may fail is shown by mock-vendor --menu.
    """
    from gateway_core.plugins.files import PluginFolder, hashes_of, scratch

    from .messages import ChildOptions

    if wire is not None:
        resolve_dialect(wire)
    check_fault(fault)
    check_content(says)
    folder = PluginFolder.of(environment.data_path)
    read_digests = partial(hashes_of, find_plugin(plugin, folder))
    with scratch() as data_dir:
        options = ChildOptions(
            target=plugin,
            plugins=str(folder.path),
            data_dir=str(data_dir),
            port=_free(port),
            says=says,
            fault=fault,
            wire=wire,
        )
        _serve(options, read_digests)


def _serve(options: "ChildOptions", read_digests: "ReadDigests") -> None:
    """Serve until interrupted."""
    from .supervisor import Supervisor

    try:
        asyncio.run(_until_stopped(Supervisor(options, read_digests, click.echo)))
    except OSError as error:
        raise click.ClickException(str(error)) from None
    except (KeyboardInterrupt, asyncio.CancelledError):
        click.echo("Stopped.")


def _free(port: int) -> int:
    """The port, or any free one for 0, which every child then gets."""
    from gateway_cli.listening import ServerError, listen

    try:
        with closing(listen("127.0.0.1", port)) as listener:
            return int(listener.getsockname()[1])
    except ServerError as error:
        raise click.ClickException(str(error)) from None


async def _until_stopped(supervisor: "Supervisor") -> None:
    """A request to end, and a terminal that is closed, are as good as Ctrl-C."""
    running = asyncio.create_task(supervisor.run())
    with suppress(NotImplementedError, AttributeError):  # not every system has such requests
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, running.cancel)
    await running
