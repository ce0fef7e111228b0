"""The command line: ``model-gateway`` serves; its sub-commands look at an installation."""

import gc
import json
import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from gateway_core.config.data_dir import DataDir
from gateway_core.config.environment import (
    Environment,
    LogLevel,
    Mode,
    default_host,
    default_port,
    from_process,
)
from gateway_core.config.errors import ConfigError, StartRefused

from .database_commands import database_group
from .desktop import Desktop
from .event_loop import LOOPS
from .group import Commands
from .listening import INHERITED
from .plugins_group import plugins_group
from .signals import HANGUP

if TYPE_CHECKING:
    from .resets import Reset

DISTRIBUTION = "model-gateway"
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["--help"]},
)
@click.option("--port", "-p", type=click.IntRange(0, 65535), help="Port; 0 takes any free one.")
@click.option("--host", "-H", help="Address to listen on.")
@click.option(
    "--server",
    metavar="NAME",
    help="hypercorn, or a server that a plugin brings, such as fast.  [default: a plugin's]",
)
@click.option(
    "--loop",
    type=click.Choice(LOOPS),
    help="The event loop to serve on.  [default: uvloop, where it is installed]",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="How many processes serve on the port.",
)
@click.option("--tls-cert", metavar="FILE", help="Serve over TLS, with this certificate (PEM).")
@click.option("--tls-key", metavar="FILE", help="Its key, if that is in a file of its own.")
@click.option("--http2/--no-http2", default=None, help="Speak HTTP/2 over TLS.  [default: http2]")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Instead of DATA_DIR.")
@click.option("--tray", is_flag=True, help="Show an icon in the tray, where there is one.")
@click.option("--no-browser", is_flag=True, help="Do not open the dashboard in a browser.")
@click.option("--skip-update", is_flag=True, help="Do not look for a newer version.")
@click.option(INHERITED, "inherited", hidden=True, help="What a reload hands to a new generation.")
@click.pass_context
def cli(
    context: click.Context,
    port: int | None,
    host: str | None,
    server: str | None,
    loop: str | None,
    workers: int,
    tls_cert: str | None,
    tls_key: str | None,
    http2: bool | None,
    data_dir: Path | None,
    tray: bool,
    no_browser: bool,
    skip_update: bool,
    inherited: str | None,
) -> None:
    """Serve the model gateway. Without a command it starts and prints a first request to try."""
    try:
        environment = from_process()
    except ConfigError as error:
        raise click.ClickException(str(error)) from None
    options = {
        "data_dir": data_dir and str(data_dir),
        "tls_cert": tls_cert,
        "tls_key": tls_key,
        "http2": http2,
    }
    changes = {name: value for name, value in options.items() if value is not None}
    context.obj = environment = msgspec.structs.replace(environment, **changes)
    if context.invoked_subcommand is None:
        desktop = Desktop(browser=not no_browser, tray=tray)
        _serve(environment, host, port, server, loop, workers, inherited, desktop)


cli.add_command(plugins_group)
cli.add_command(database_group)


def main() -> None:
    """Run the command line."""
    cli()


def started_as(environment: Environment) -> Mode:
    """How this process was started: as configured, from an editable checkout, or installed."""
    if environment.mode is not None:
        return environment.mode
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        origin = distribution(DISTRIBUTION).read_text("direct_url.json")
    except PackageNotFoundError:
        return Mode.SOURCE
    editable = origin is not None and json.loads(origin).get("dir_info", {}).get("editable")
    if editable:
        production = environment.variables.get("NODE_ENV") == "production"
        return Mode.PRODUCTION if production else Mode.SOURCE
    return Mode.CLI


def place(environment: Environment, host: str | None, port: int | None) -> tuple[str, int]:
    """Where to listen: flags, then variables, then the defaults of the mode.

    HOSTNAME counts only where nothing sets it by itself: shells and container
    engines fill it with the machine's name, which is no address to listen on.
    """
    mode = started_as(environment)
    named = None if environment.hostname == socket.gethostname() else environment.hostname
    if port is None:
        port = default_port(mode) if environment.port is None else environment.port
    return host or named or default_host(mode), port


def _serve(
    environment: Environment,
    host: str | None,
    port: int | None,
    server: str | None,
    loop: str | None,
    workers: int,
    inherited: str | None,
    desktop: Desktop,
) -> None:
    # Nearly nothing made while starting is garbage, and looking for it takes a seventh of the
    # time: the collector rests until the gateway serves.
    gc.disable()
    from . import serving
    from .generations import Inherited
    from .logging import begin as begin_log

    begin_log("WARNING" if environment.log_level is LogLevel.WARN else environment.log_level.value)
    where = place(environment, host, port)
    try:
        serving.serve(
            *(environment, *where),
            server=server,
            loop=loop,
            workers=workers,
            inherited=Inherited.parse(inherited) if inherited else None,
            desktop=desktop,
        )
    except StartRefused as error:
        raise click.ClickException(str(error)) from None
    finally:
        gc.enable()


@cli.command("reload")
@click.pass_obj
def reload(environment: Environment) -> None:
    """Start the gateway anew without a pause, with the plugins that are installed now.

    A new generation of processes takes its place; the one before finishes what it answers.
    """
    try:
        process = DataDir(environment.data_path, look_only=True).holder()
    except StartRefused as error:
        raise click.ClickException(str(error)) from None
    if process is None:
        raise click.ClickException(
            f"No gateway runs with the data directory {environment.data_path}. Start it, or set "
            "DATA_DIR to the directory it uses."
        )
    if HANGUP is None:
        raise click.ClickException("This system cannot reload: stop the gateway and start it.")
    try:
        os.kill(process, HANGUP)
    except OSError as error:
        raise click.ClickException(f"Process {process} cannot be asked: {error}") from None
    click.echo(f"Process {process} reloads; its log says when the new generation serves.")


@cli.command("api")
@click.argument("method", type=click.Choice(_METHODS, case_sensitive=False))
@click.argument("path")
@click.argument("body", required=False)
@click.option("--url", help="Where the gateway is, if it cannot be found. The token goes there.")
@click.pass_obj
def api(
    environment: Environment, method: str, path: str, body: str | None, url: str | None
) -> None:
    """Make one management call, as the operator of this machine.

    PATH begins with /api/. BODY is JSON; - reads it from standard input.
    """
    from .api_client import NoGateway, ask

    if not path.startswith("/"):
        raise click.BadParameter(f"{path!r} does not begin with /api/.", param_hint="PATH")
    text = sys.stdin.read() if body == "-" else body
    try:
        response = ask(environment, url, method, path, text.encode() if text else None)
    except (NoGateway, StartRefused) as error:
        raise click.ClickException(str(error)) from None
    click.echo(response.body.decode("utf-8", "replace"))
    if response.status >= 400:
        sys.exit(1)


@cli.command("version")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def version_command(as_json: bool) -> None:
    """Say which version this is."""
    from importlib.metadata import version

    number = version(DISTRIBUTION)
    python = ".".join(map(str, sys.version_info[:3]))
    if as_json:
        click.echo(json.dumps({"version": number, "python": python}))
    else:
        click.echo(f"{DISTRIBUTION} {number} on Python {python}")


@cli.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def doctor(environment: Environment, as_json: bool) -> None:
    """Check what the gateway needs and say what to do about what is missing."""
    from .doctor import examine
    from .options import print_table

    host, port = place(environment, None, None)
    findings = examine(environment, host, port)
    if as_json:
        click.echo(json.dumps(findings, indent=2))
    else:
        print_table(("check", "state", "detail"), findings)
    if any(finding["state"] == "bad" for finding in findings):
        sys.exit(1)


@cli.command("upgrade")
@click.option("--plan", is_flag=True, required=True, help="Say what would be done, and do nothing.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def upgrade(environment: Environment, plan: bool, as_json: bool) -> None:
    """Try this version on a copy of the database, while an older one may go on serving.

    The upgrade itself is the next start, which applies the same steps. Exits with 1 if that would
    fail.
    """
    import anyio

    from .doctor import examine
    from .upgrade_plan import rehearse, show

    try:
        rehearsals = anyio.run(rehearse, environment)
    except (StartRefused, ConfigError) as error:
        raise click.ClickException(str(error)) from None
    findings = [
        each
        for each in examine(environment, *place(environment, None, None))
        if each["state"] == "bad"
    ]
    show(rehearsals, findings, as_json)
    if findings or any(each.problem for each in rehearsals):
        sys.exit(1)


@cli.command("reset-password")
@click.option("--url", help="Where the gateway is, if it cannot be found. The token goes there.")
@click.pass_obj
def reset_password(environment: Environment, url: str | None) -> None:
    """Take a forgotten dashboard password away; the initial one counts again."""
    from .resets import PASSWORD

    _reset(PASSWORD, environment, url)


@cli.command("reset-second-factor")
@click.option("--url", help="Where the gateway is, if it cannot be found. The token goes there.")
@click.pass_obj
def reset_second_factor(environment: Environment, url: str | None) -> None:
    """Switch the second factor off, when app and backup codes are lost; the password stays."""
    from .resets import SECOND_FACTOR

    _reset(SECOND_FACTOR, environment, url)


def _reset(reset: "Reset", environment: Environment, url: str | None) -> None:
    from .api_client import NoGateway
    from .resets import carry_out

    try:
        carry_out(reset, environment, url)
    except (NoGateway, StartRefused) as error:
        raise click.ClickException(str(error)) from None
    click.echo(reset.notice)
