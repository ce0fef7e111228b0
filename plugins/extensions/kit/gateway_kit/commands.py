"""The kit's sub-commands, which the command line finds as a plugin."""

import asyncio

import click

from gateway_core import hookimpl

from .cassettes.command import cassette_command
from .check_command import check_command
from .dev.command import dev_command
from .mock_vendor_options import check_content, check_fault, resolve_dialect
from .scaffold.command import new_command


@click.command("mock-vendor")
@click.option("--port", "-p", type=click.IntRange(0, 65535), default=0, help="0 takes any free.")
@click.option("--format", "wire", help="A wire format; without it the path of a request decides.")
@click.option("--fault", help="A fault of the menu, as NAME or NAME:NUMBER.")
@click.option("--says", default="text", show_default=True, help="What every answer says.")
@click.option("--menu", is_flag=True, help="Show the formats, the sayings and the faults.")
def mock_vendor(port: int, wire: str | None, fault: str | None, says: str, menu: bool) -> None:
    """Answer like a vendor on this machine, with a fault if one is wanted."""
    from .mock_vendor import CONTENTS, DIALECTS, MENU, DialectScript
    from .mock_vendor.run import serve

    if menu:
        width = max(map(len, MENU)) + 2
        faults = [f"  {fault.name:<{width}}{fault.description}" for fault in MENU.values()]
        formats, contents = ", ".join(DIALECTS), ", ".join(CONTENTS)
        click.echo("\n".join([f"Formats: {formats}", f"Sayings: {contents}", "Faults:", *faults]))
        return
    dialect = resolve_dialect(wire) if wire else None
    check_fault(fault)
    check_content(says)
    answering = DialectScript(dialect=dialect, content=CONTENTS[says], fault=fault)
    try:
        asyncio.run(serve(answering, port, click.echo))
    except OSError as error:
        raise click.ClickException(f"Cannot listen on port {port}: {error.strerror}") from None
    except KeyboardInterrupt:
        return


@hookimpl
def register_commands(cli: click.Group) -> None:
    cli.add_command(cassette_command)
    cli.add_command(mock_vendor)
    plugins = cli.commands.get("plugins")
    if isinstance(plugins, click.Group):
        plugins.add_command(check_command)
        plugins.add_command(dev_command)
        plugins.add_command(new_command)
