"""Commands that look at plugins: ``list``, ``info`` and ``doctor``."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from ..config.environment import Environment

as_json_option = click.option("--json", "as_json", is_flag=True, help="As JSON.")
COLUMNS = ("name", "version", "origin", "state", "tier", "brings")


def show(value: Any) -> None:
    """Print a value as JSON."""
    import msgspec

    click.echo(json.dumps(msgspec.to_builtins(value), indent=2))


def show_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    """A table of plugins, and what is wrong with them below it."""
    from ..commands import print_table

    table = [{**row, "brings": ", ".join(row["brings"])} for row in rows]
    print_table(COLUMNS, table, whole=COLUMNS[:-1])
    for row in rows:
        for problem in row["problems"]:
            click.echo(f"{row['name']}: {problem['message']}\n    {problem['advice']}")


@click.command("list")
@as_json_option
@click.pass_obj
def list_command(environment: Environment, as_json: bool) -> None:
    """List every plugin that was found and what became of it."""
    import msgspec

    from ..commands import look
    from ..plugins.about import rows

    found = look(environment, quiet=True)
    listed = rows(found.registry, found.folder)
    if as_json:
        show(listed)
    else:
        show_rows(msgspec.to_builtins(listed))


@click.command("info")
@click.argument("name")
@as_json_option
@click.pass_obj
def info_command(environment: Environment, name: str, as_json: bool) -> None:
    """Show everything about one plugin."""
    import msgspec

    from ..commands import look
    from ..plugins.about import nearest, sheet

    found = look(environment)
    known = sheet(found.registry, found.settings, found.folder, name)
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
    from ..commands import look
    from ..plugins.findings import findings

    found = look(environment, quiet=True)
    wrong = findings(found.registry, found.folder)
    if as_json:
        show(wrong)
    else:
        for each in wrong:
            click.echo(f"{'bad' if each.bad else 'note':<6}{each.plugin}: {each.detail}")
            click.echo(f"{'':<6}{each.advice}")
        click.echo(f"{len(found.registry.plugins)} plugins, {len(wrong)} findings")
    if any(each.bad for each in wrong):
        sys.exit(1)


COMMANDS = (list_command, info_command, doctor_command)
