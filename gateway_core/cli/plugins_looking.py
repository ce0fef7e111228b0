"""Commands that look at plugins: ``list``, ``info`` and ``doctor``."""

import json
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from ..config.environment import Environment

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
    for line in table_lines(rows, _width()):
        click.echo(line)
    wrong = {(row["name"], each["message"]): each for row in rows[::-1] for each in row["problems"]}
    for (name, message), problem in reversed(wrong.items()):
        click.echo(f"{name}: {message}\n    {problem['advice']}")


def _width() -> int | None:
    """Of the terminal; ``None`` where there is none."""
    from rich.console import Console

    console = Console()
    return console.width if console.is_terminal else None


def table_lines(rows: Sequence[Mapping[str, Any]], width: int | None) -> Iterator[str]:
    """Plugins in columns. What does not fit the width goes on in its last column.

    In a narrow terminal, and where there is none, every plugin has one line.
    """
    table = [COLUMNS, *([str(row[each] or "-") for each in COLUMNS[:-1]] for row in rows)]
    wide = [max(len(line[place]) for line in table) for place in range(len(COLUMNS) - 1)]
    last = [COLUMNS[-1], *(", ".join(row["brings"]) for row in rows)]
    room = (width or 0) - sum(wide) - 2 * len(wide)
    for line, more in zip(table, last, strict=True):
        start = "".join(f"{cell:<{size}}  " for cell, size in zip(line, wide, strict=False))
        pieces = _folded(more, room) if room >= NARROWEST else [more]
        yield f"{start}{pieces[0]}".rstrip()
        yield from (" " * len(start) + piece for piece in pieces[1:])


def _folded(text: str, room: int) -> list[str]:
    """Text in lines, which end between the things that it lists."""
    joined = text.replace(", ", ",\n").replace(" ", "\xa0").replace("\n", " ")
    lines = textwrap.wrap(joined, room, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in lines] or [""]


@click.command("list")
@as_json_option
@click.pass_obj
def list_command(environment: Environment, as_json: bool) -> None:
    """List every plugin that was found and what became of it."""
    import msgspec

    from ..plugins.about import others, rows, switched_off
    from .options import look

    found = look(environment, quiet=True)
    listed = rows(found.registry, found.folder, switched_off(found.folder))
    if as_json:
        show(listed)
    else:
        show_rows(msgspec.to_builtins(listed))
        for name, problem in others(found.registry):
            click.echo(f"{name}: {problem.message}\n    {problem.advice}")


@click.command("info")
@click.argument("name")
@as_json_option
@click.pass_obj
def info_command(environment: Environment, name: str, as_json: bool) -> None:
    """Show everything about one plugin."""
    import msgspec

    from ..plugins.about import nearest, sheet, switched_off
    from .options import look

    found = look(environment, quiet=True)
    off = switched_off(found.folder)
    known = sheet(found.registry, found.settings, found.folder, name, off)
    if known is None:
        names = (plugin.name for plugin in found.registry.plugins)
        raise click.ClickException(nearest(name, names))
    if as_json:
        show(known)
        return
    for line in _lines(msgspec.to_builtins(known)):
        click.echo(line)


def _lines(sheet: Mapping[str, Any]) -> Iterator[str]:
    """The sheet for people: what is not known or empty is left out."""
    facts = {**sheet, **sheet["package"]}
    for member in ("package", "settings", "problems", "brings"):
        del facts[member]
    for member, value in facts.items():
        if value not in (None, "", ()):
            shown = ", ".join(value) if isinstance(value, tuple) else value
            yield f"{member + ':':<14}{shown}"
    yield from map(_setting, sheet["settings"])
    for problem in sheet["problems"]:
        yield f"{'problem:':<14}{problem['message']}\n{'':<14}{problem['advice']}"


def _setting(field: Mapping[str, Any]) -> str:
    about = f" {field['description']}" if field["description"] else ""
    default = "" if field["secret"] else f", {json.dumps(field['default'])} unless set"
    return f"{'setting:':<14}{field['name']} ({field['type']}{default}; {field['variable']}){about}"


@click.command("doctor")
@as_json_option
@click.pass_obj
def doctor_command(environment: Environment, as_json: bool) -> None:
    """Say what is wrong with the plugins and what to do; exit with 1 when one does not work."""
    from ..plugins.findings import findings
    from .options import look

    found = look(environment, quiet=True)
    wrong = findings(found.registry, found.folder)
    if as_json:
        show(wrong)
    else:
        for each in wrong:
            click.echo(f"{'bad' if each.bad else 'note':<6}{each.plugin}: {each.detail}")
            click.echo(f"{'':<6}{each.advice}")
        seen = "1 finding" if len(wrong) == 1 else f"{len(wrong)} findings"
        click.echo(f"{len(found.registry.plugins)} plugins, {seen}")
    if any(each.bad for each in wrong):
        sys.exit(1)


COMMANDS = (list_command, info_command, doctor_command)
