"""Commands that look at plugins: ``list``, ``info`` and ``doctor``."""

import json
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from gateway_core.config.environment import Environment

as_json_option = click.option("--json", "as_json", is_flag=True, help="As JSON.")
COLUMNS = ("name", "version", "origin", "state", "tier", "brings")
NARROWEST = 16
"""Letters that the last column has at least before it is folded."""


def show(value: Any) -> None:
    """Print a value as JSON."""
    import msgspec

    click.echo(json.dumps(msgspec.to_builtins(value), indent=2))


def show_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    """A table of plugins, and what is wrong with them below it, each thing once."""
    from rich.console import Console

    console = Console()
    for line in table_lines(rows, console.width if console.is_terminal else None):
        click.echo(line)
    wrong = {(row["name"], each["message"]): each for row in rows[::-1] for each in row["problems"]}
    for (name, message), problem in reversed(wrong.items()):
        click.echo(f"{name}: {message}\n    {problem['advice']}")


def table_lines(rows: Sequence[Mapping[str, Any]], width: int | None) -> Iterator[str]:
    """Plugins in columns; the last column continues on further lines.

    In a narrow terminal, and where there is none (``width`` is ``None``), every plugin has one
    line.
    """
    table = [COLUMNS, *([str(row[each] or "-") for each in COLUMNS[:-1]] for row in rows)]
    wide = [max(len(line[place]) for line in table) for place in range(len(COLUMNS) - 1)]
    last = [COLUMNS[-1], *(", ".join(row["brings"]) for row in rows)]
    room = (width or 0) - sum(wide) - 2 * len(wide)
    for line, more in zip(table, last, strict=True):
        start = "".join(f"{cell:<{size}}  " for cell, size in zip(line, wide, strict=False))
        if room < NARROWEST:
            yield f"{start}{more}".rstrip()
            continue
        # textwrap breaks at every space, so those within a name are hidden from it.
        unbroken = more.replace(", ", ",\n").replace(" ", "\xa0").replace("\n", " ")
        pieces = textwrap.wrap(unbroken, room, break_long_words=False, break_on_hyphens=False)
        for piece in pieces or [""]:
            yield f"{start}{piece}".replace("\xa0", " ").rstrip()
            start = " " * len(start)


@click.command("list")
@as_json_option
@click.pass_obj
def list_command(environment: Environment, as_json: bool) -> None:
    """List every plugin that was found and what became of it."""
    import msgspec

    from gateway_administration.plugins.about import others, rows, switched_off

    from .options import look

    installation = look(environment, quiet=True)
    listed = rows(installation.registry, installation.folder, switched_off(installation.folder))
    if as_json:
        show(listed)
    else:
        show_rows(msgspec.to_builtins(listed))
        for name, problem in others(installation.registry):
            click.echo(f"{name}: {problem.message}\n    {problem.advice}")


@click.command("info")
@click.argument("name")
@as_json_option
@click.pass_obj
def info_command(environment: Environment, name: str, as_json: bool) -> None:
    """Show everything about one plugin."""
    import msgspec

    from gateway_administration.plugins.about import nearest, sheet, switched_off

    from .options import look

    installation = look(environment, quiet=True)
    off = switched_off(installation.folder)
    known = sheet(installation.registry, installation.settings, installation.folder, name, off)
    if known is None:
        names = (plugin.name for plugin in installation.registry.plugins)
        raise click.ClickException(nearest(name, names))
    if as_json:
        show(known)
        return
    members = msgspec.to_builtins(known)
    facts = {**members, **members["package"]}
    for member in ("package", "settings", "problems", "brings"):
        del facts[member]
    for member, value in facts.items():
        if value not in (None, "", ()):
            shown = ", ".join(value) if isinstance(value, tuple) else value
            click.echo(f"{member + ':':<14}{shown}")
    for field in members["settings"]:
        about = f" {field['description']}" if field["description"] else ""
        default = "" if field["secret"] else f", {json.dumps(field['default'])} unless set"
        kind = f"{field['type']}{default}; {field['variable']}"
        click.echo(f"{'setting:':<14}{field['name']} ({kind}){about}")
    for problem in members["problems"]:
        click.echo(f"{'problem:':<14}{problem['message']}\n{'':<14}{problem['advice']}")


@click.command("doctor")
@as_json_option
@click.pass_obj
def doctor_command(environment: Environment, as_json: bool) -> None:
    """Say what is wrong with the plugins and what to do; exit with 1 when one does not work."""
    from .findings import findings
    from .options import look

    installation = look(environment, quiet=True)
    wrong = findings(installation.registry, installation.folder)
    if as_json:
        show(wrong)
    else:
        for each in wrong:
            click.echo(f"{'bad' if each.bad else 'note':<6}{each.plugin}: {each.detail}")
            click.echo(f"{'':<6}{each.advice}")
        seen = "1 finding" if len(wrong) == 1 else f"{len(wrong)} findings"
        click.echo(f"{len(installation.registry.plugins)} plugins, {seen}")
    if any(each.bad for each in wrong):
        sys.exit(1)


COMMANDS = (list_command, info_command, doctor_command)
