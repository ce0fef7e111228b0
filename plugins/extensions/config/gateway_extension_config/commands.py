"""``model-gateway config``: export, diff, plan, apply, import.

Exit codes are for scripts: 0 where there is nothing to do (or all was done), 2 where changes are
pending, 1 for an error.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path as FilePath
from typing import IO, Any, TypeVar

import click

from gateway_cli.api_client import NoGateway, ask
from gateway_core.config.environment import Environment
from gateway_core.config.errors import StartRefused

from .applying import Made, apply
from .documents import Document, FileRefused, read_document, read_json
from .exporting import export
from .litellm import import_litellm
from .ninerouter import import_9router
from .plan import Change, Plan, make_plan
from .references import Resolved, resolve
from .sections import SECTIONS
from .showing import (
    change_lines,
    drift_lines,
    made_json,
    made_lines,
    plan_json,
    plan_lines,
)
from .world import CallRefused, World

KEY_VARIABLE = "MODEL_GATEWAY_KEY"
PENDING = 2

Command = TypeVar("Command", bound=Callable[..., Any])


@click.group("config")
def config_group() -> None:
    """A gateway's configuration as a file: export it, compare it, apply it.

    Exit codes: 0 nothing to do, 2 changes are pending, 1 error.
    """


def _gateway_options(command: Command) -> Command:
    about = f"Where the gateway is. With {KEY_VARIABLE} set, that key goes there; else the token."
    return click.option("--url", help=about)(command)


def _file_options(command: Command) -> Command:
    argument = click.argument("file", type=click.File("rb"))
    as_json = click.option("--json", "as_json", is_flag=True, help="As JSON.")
    return argument(as_json(_gateway_options(command)))


def _prune(command: Command) -> Command:
    about = "Count what the gateway has in the file's sections and the file has not as deleted."
    return click.option("--prune", is_flag=True, help=about)(command)


def _secrets(command: Command) -> Command:
    about = "Write secrets again; a stored one cannot be compared with the file's."
    return click.option("--secrets", is_flag=True, help=about)(command)


def _errors(command: Callable[..., None]) -> Callable[..., None]:
    """Report what may go wrong with exit code 1."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except (FileRefused, CallRefused, NoGateway, StartRefused) as error:
            raise click.ClickException(str(error)) from None

    return run


def _world(environment: Environment, url: str | None) -> World:
    key = environment.variables.get(KEY_VARIABLE) if url else None

    def send(method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        response = ask(environment, url, method, path, body, key=key)
        return response.status, response.body

    return World(send, SECTIONS)


def _read(environment: Environment, file: IO[bytes]) -> tuple[Document, Resolved]:
    document = read_document(file)
    folder = FilePath(document.name).parent if os.path.isfile(document.name) else FilePath()
    return document, resolve(document, environment.variables, folder)


@config_group.command("export")
@click.option("--section", "only", multiple=True, type=click.Choice(list(SECTIONS)))
@click.option("--output", "-o", type=click.File("w", lazy=True), help="A file, not the output.")
@_gateway_options
@click.pass_obj
@_errors
def export_command(
    environment: Environment, only: tuple[str, ...], output: IO[str] | None, url: str | None
) -> None:
    """Print the whole configuration as YAML, with references in the place of secrets."""
    exported = export(_world(environment, url), only)
    click.echo(exported.text, nl=False, file=output)
    if output is not None and exported.variables:
        click.echo("Set before it is applied: " + ", ".join(exported.variables), err=True)


@config_group.command("plan")
@_file_options
@_prune
@_secrets
@click.pass_obj
@_errors
def plan_command(
    environment: Environment,
    file: IO[bytes],
    url: str | None,
    as_json: bool,
    prune: bool,
    secrets: bool,
) -> None:
    """Show what applying FILE would change."""
    document, resolved = _read(environment, file)
    world = _world(environment, url)
    plan = make_plan(world, document, resolved, prune=prune, write_secrets=secrets)
    _print(plan_json(plan), plan_lines(plan), as_json=as_json)
    _exit_pending(plan)


@config_group.command("diff")
@_file_options
@_prune
@click.pass_obj
@_errors
def diff_command(
    environment: Environment, file: IO[bytes], url: str | None, as_json: bool, prune: bool
) -> None:
    """Show where the gateway differs from FILE."""
    document, resolved = _read(environment, file)
    plan = make_plan(_world(environment, url), document, resolved, prune=prune)
    _print(plan_json(plan), drift_lines(plan), as_json=as_json)
    _exit_pending(plan)


@config_group.command("apply")
@_file_options
@_prune
@_secrets
@click.option(
    "--new-keys",
    type=click.Path(path_type=FilePath, dir_okay=False),
    help="A file for the texts of new gateway keys, as JSON; only its owner may read it.",
)
@click.pass_obj
@_errors
def apply_command(
    environment: Environment,
    file: IO[bytes],
    url: str | None,
    as_json: bool,
    prune: bool,
    secrets: bool,
    new_keys: FilePath | None,
) -> None:
    """Change the gateway to what FILE says; what FILE does not name stays."""
    document, resolved = _read(environment, file)
    if resolved.missing:
        raise _missing(document, resolved)
    world = _world(environment, url)
    plan = make_plan(world, document, resolved, prune=prune, write_secrets=secrets)

    def report(change: Change) -> None:
        if not as_json:
            click.echo("\n".join(change_lines(change)))

    keys = _open_keys(plan, new_keys)
    made = apply(world, plan, report)
    _keep_keys(made, keys)
    _print(made_json(made), made_lines(made), as_json=as_json)
    if made.failed is not None:
        sys.exit(1)
    _check_taken(world, document, resolved, made)


def _missing(document: Document, resolved: Resolved) -> FileRefused:
    lines = [
        str(document.fault(path, text))
        for path, texts in resolved.missing.items()
        for text in texts
    ]
    return FileRefused("\n".join([*lines, "Nothing was changed."]))


def _check_taken(world: World, document: Document, resolved: Resolved, made: Made) -> None:
    """Compare once more: what the gateway understood otherwise would change at every run."""
    if not made.done:
        return
    world.forget()
    rest = make_plan(world, document, resolved)
    if rest.changes:
        lines = "\n".join(line for change in rest.changes for line in change_lines(change))
        raise click.ClickException(f"The gateway took these otherwise than the file says:\n{lines}")


def _open_keys(plan: Plan, path: FilePath | None) -> IO[str] | None:
    """Open the file for new keys before there are any, so that none is lost."""
    if path is None or not any(
        change.section.name == "keys" and change.action == "create" for change in plan.changes
    ):
        return None
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be made: {error.strerror}") from None
    return open(descriptor, "w", encoding="utf-8")


def _keep_keys(made: Made, stream: IO[str] | None) -> None:
    """Write the texts of new keys where the operator wants them."""
    if stream is not None:
        with stream:
            json.dump(dict(made.keys), stream, indent=2)
            stream.write("\n")
    elif made.keys:
        names = ", ".join(made.keys)
        click.echo(f"The dashboard shows the texts of new keys: {names}", err=True)


def _print(value: Any, lines: Iterable[str], *, as_json: bool) -> None:
    click.echo(json.dumps(value, indent=2) if as_json else "\n".join(lines))


def _exit_pending(plan: Plan) -> None:
    if plan.changes:
        sys.exit(PENDING)


@config_group.group("import")
def import_group() -> None:
    """Print the configuration of another gateway in this gateway's form."""


@import_group.command("litellm")
@click.argument("file", type=click.File("rb"))
@_gateway_options
@click.pass_obj
@_errors
def litellm_command(environment: Environment, file: IO[bytes], url: str | None) -> None:
    """Read LiteLLM's config.yaml. What cannot be carried over is listed as comments."""
    click.echo(import_litellm(_world(environment, url), read_document(file)), nl=False)


@import_group.command("9router")
@click.argument("file", type=click.File("rb"))
@_gateway_options
@click.pass_obj
@_errors
def ninerouter_command(environment: Environment, file: IO[bytes], url: str | None) -> None:
    """Read a database export of 9router. What cannot be carried over is listed as comments."""
    click.echo(import_9router(_world(environment, url), read_json(file)), nl=False)
