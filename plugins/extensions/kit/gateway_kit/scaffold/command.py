"""The command ``plugins new``."""

from pathlib import Path

import click

from ..shell_quoting import quoted
from .description import DEFAULT_FORMAT, KINDS, BadDescription, PluginDescription


@click.command("new")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="The folder it is written into; the current one without it.",
)
@click.option(
    "--format", "wire", default=DEFAULT_FORMAT, show_default=True, help="A provider's format."
)
@click.option("--base-url", default="", help="A provider's, such as https://api.acme.example/v1.")
@click.option("--variable", default="", help="The process variable of a provider's key.")
@click.option("--file", "is_file", is_flag=True, help="One file for DATA_DIR/plugins.")
@click.option("--force", is_flag=True, help="Replace files that are there already.")
def new_command(
    kind: str,
    name: str,
    into: Path,
    wire: str,
    base_url: str,
    variable: str,
    is_file: bool,
    force: bool,
) -> None:
    """Write a plugin that works at once, as a package or as one file."""
    from .conflicts import check
    from .rendering import files_of
    from .writing import FilesExist, write

    try:
        order = PluginDescription(
            kind=kind, name=name, wire=wire, base_url=base_url, variable=variable, is_file=is_file
        )
        check(order)
        home = into if is_file else into / order.place
        written = write(home, files_of(order), force=force)
    except (FilesExist, BadDescription) as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from None
    click.echo("\n".join([*map(str, written), "", *_advice(order, into / order.place)]))


def _advice(order: PluginDescription, place: Path) -> list[str]:
    if order.is_file:
        return [
            f"Try it: model-gateway plugins dev {quoted(place)}",
            "Use it: put it into DATA_DIR/plugins and start the gateway again.",
        ]
    return [
        f"Check it: cd {quoted(place)} && pip install -e . --group dev && pytest",
        f"Try it: model-gateway plugins dev {quoted(place)}",
    ]
