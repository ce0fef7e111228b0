"""The sub-command ``mock-vendor``, which the command line finds as a plugin."""

import asyncio

import click

from gateway_core import hookimpl


@click.command("mock-vendor")
@click.option("--port", "-p", type=click.IntRange(0, 65535), default=0, help="0 takes any free.")
@click.option("--format", "wire", help="A wire format; without it the path of a request decides.")
@click.option("--fault", help="A fault of the menu, as NAME or NAME:NUMBER.")
@click.option("--says", default="text", show_default=True, help="What every answer says.")
@click.option("--menu", is_flag=True, help="Show the formats, the sayings and the faults.")
def mock_vendor(port: int, wire: str | None, fault: str | None, says: str, menu: bool) -> None:
    """Answer like a vendor on this machine, with a fault if one is wanted."""
    from .mock_vendor import DIALECTS, MENU, SAYINGS, Answering
    from .mock_vendor.run import serve

    if menu:
        click.echo(_menu())
        return
    _known("--format", wire, DIALECTS)
    _known("--fault", fault and fault.partition(":")[0], MENU)
    _known("--says", says, SAYINGS)
    answering = Answering(
        dialect=DIALECTS[wire] if wire else None, content=SAYINGS[says], fault=fault
    )
    try:
        asyncio.run(serve(answering, port, click.echo))
    except OSError as error:
        raise click.ClickException(f"Cannot listen on port {port}: {error.strerror}") from None
    except KeyboardInterrupt:
        return


def _known(option: str, given: str | None, there_are: object) -> None:
    names = list(there_are) if isinstance(there_are, dict) else []
    if given and given not in names:
        raise click.BadParameter(f"{given!r} is none of {', '.join(names)}", param_hint=option)


def _menu() -> str:
    from .mock_vendor import DIALECTS, MENU, SAYINGS

    faults = [f"  {fault.name:<18}{fault.told}" for fault in MENU.values()]
    formats, sayings = ", ".join(DIALECTS), ", ".join(SAYINGS)
    return "\n".join([f"Formats: {formats}", f"Sayings: {sayings}", "Faults:", *faults])


@hookimpl
def register_commands(cli: click.Group) -> None:
    cli.add_command(mock_vendor)
