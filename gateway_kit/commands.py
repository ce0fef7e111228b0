"""The sub-command ``mock-vendor``, which the command line finds as a plugin."""

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from gateway_core import hookimpl

if TYPE_CHECKING:
    from .mock_vendor import Dialect


@click.command("mock-vendor")
@click.option("--port", "-p", type=click.IntRange(0, 65535), default=0, help="0 takes any free.")
@click.option("--format", "wire", help="A wire format; without it the path of a request decides.")
@click.option("--fault", help="A fault of the menu, as NAME or NAME:NUMBER.")
@click.option("--says", default="text", show_default=True, help="What every answer says.")
@click.option("--menu", is_flag=True, help="Show the formats, the sayings and the faults.")
def mock_vendor(port: int, wire: str | None, fault: str | None, says: str, menu: bool) -> None:
    """Answer like a vendor on this machine, with a fault if one is wanted."""
    from .mock_vendor import SAYINGS, Answering
    from .mock_vendor.run import serve

    if menu:
        click.echo(_menu())
        return
    dialect = _dialect(wire) if wire else None
    _check_fault(fault)
    _known("--says", says, SAYINGS)
    answering = Answering(dialect=dialect, content=SAYINGS[says], fault=fault)
    try:
        asyncio.run(serve(answering, port, click.echo))
    except OSError as error:
        raise click.ClickException(f"Cannot listen on port {port}: {error.strerror}") from None
    except KeyboardInterrupt:
        return


def _dialect(wire: str) -> "Dialect":
    """One that the kit has words for, or that an installed format can speak."""
    from .installed import format_plugins, registry_of
    from .mock_vendor import DIALECTS
    from .mock_vendor.foreign import spoken_by

    if wire in DIALECTS:
        return DIALECTS[wire]
    formats = registry_of(format_plugins()).formats
    found = spoken_by(formats[wire]) if wire in formats else None
    if found is None:
        _known("--format", wire, [*DIALECTS, *formats])
        raise click.BadParameter(f"nothing installed can answer in {wire!r}", param_hint="--format")
    return found


def _check_fault(fault: str | None) -> None:
    from .mock_vendor import DIALECTS, Scene, UnknownFault, spoil

    try:
        if fault is not None:
            spoil(Scene(dialect=DIALECTS["openai"]), fault)
    except UnknownFault as error:
        raise click.BadParameter(str(error), param_hint="--fault") from None


def _known(option: str, given: str, names: Iterable[str]) -> None:
    if given not in names:
        raise click.BadParameter(f"{given!r} is none of {', '.join(names)}", param_hint=option)


def _menu() -> str:
    from .mock_vendor import DIALECTS, MENU, SAYINGS

    faults = [f"  {fault.name:<18}{fault.told}" for fault in MENU.values()]
    formats, sayings = ", ".join(DIALECTS), ", ".join(SAYINGS)
    return "\n".join([f"Formats: {formats}", f"Sayings: {sayings}", "Faults:", *faults])


@hookimpl
def register_commands(cli: click.Group) -> None:
    cli.add_command(mock_vendor)
