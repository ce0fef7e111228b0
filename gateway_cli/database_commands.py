"""The command ``db``: the database of the running gateway, moving it to PostgreSQL and back."""

import json
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TextIO

import click

from gateway_core.config.environment import Environment
from gateway_core.config.errors import StartRefused

PATH = "/api/settings/database/"
PASSWORD = "x-gateway-password"
LOOK_EVERY = 0.5
"""Seconds between two looks at how far a change is."""
BAR = 24
"""Characters of a progress bar."""
PATIENCE = 24 * 3600.0
"""Seconds that a change may take."""
_LOG = ("at", "type", "ok", "durationMs", "rowsMigrated", "errorCode", "errorMessage")


class Operator:
    """Calls the routes of the database, with the dashboard password."""

    def __init__(self, environment: Environment, url: str | None, file: TextIO | None) -> None:
        self.environment = environment
        self.url = url
        self._file = file

    @cached_property
    def password(self) -> str:
        """Read or prompted for when it is first needed: a command's help needs none."""
        if self._file is not None:
            return self._file.readline().rstrip("\r\n")
        password: str = click.prompt("Dashboard password", hide_input=True, err=True)
        return password

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The status and the members of an answer. Raises ClickException."""
        from .api_client import NoGateway, ask

        sent = None if body is None else json.dumps(body).encode()
        headers = {PASSWORD: self.password}
        try:
            response = ask(self.environment, self.url, method, PATH + path, sent, headers, PATIENCE)
        except (NoGateway, StartRefused) as error:
            raise click.ClickException(str(error)) from None
        try:
            return response.status, json.loads(response.body)
        except ValueError:
            raise click.ClickException("What answers there is no gateway.") from None

    def get(self, method: str, path: str, body: Any = None) -> Any:
        """The members of an answer that is no error. Raises ClickException."""
        return _sound(*self.call(method, path, body))

    def watch(self, path: str, body: Any) -> tuple[int, Any]:
        """Ask for a change, and print how far it is until it has ended."""
        from concurrent.futures import ThreadPoolExecutor, wait

        line, _ = ProgressLine(sys.stderr), self.password  # A prompt belongs to this thread.
        with ThreadPoolExecutor(1) as pool:
            change = pool.submit(self.call, "POST", path, body)
            while wait([change], LOOK_EVERY).not_done:
                _, status = self.call("GET", "engine")
                line.show(status.get("progress") or {})
            line.end()
            return change.result()


class ProgressLine:
    """How far a change is: one line that changes on a terminal, a line for each step elsewhere."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._is_terminal = file, file.isatty()
        self._shown = ""

    def show(self, progress: Mapping[str, Any]) -> None:
        line = _bar(progress)
        if line in ("", self._shown):
            return
        self._shown = line
        # ECMA-48, section 8.3.41: "\x1b[K" erases what is left of a longer line.
        self._file.write(f"\r{line}\x1b[K" if self._is_terminal else f"{line}\n")
        self._file.flush()

    def end(self) -> None:
        if self._is_terminal and self._shown:
            self._file.write("\n")


@click.group("db")
@click.option("--url", help="Where the gateway is, if it cannot be found. The token goes there.")
@click.option(
    "--password-file", type=click.File(), help="Holds the dashboard password; - is stdin."
)
@click.pass_context
def database_group(context: click.Context, url: str | None, password_file: TextIO | None) -> None:
    """Look at the database of the running gateway; move it to PostgreSQL and back.

    Every command wants the dashboard password.
    """
    context.obj = Operator(context.obj, url, password_file)


@database_group.command("status")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def status(operator: Operator, as_json: bool) -> None:
    """Say which database is served, and why."""
    found = operator.get("GET", "engine")
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    rows = [
        {"": name, "is": value}
        for name, value in found.items()
        if isinstance(value, str | int) and value is not False
    ]
    rows += [{"": "snapshot", "is": path} for path in found["snapshots"]]
    _print_table(("", "is"), rows)


@database_group.command("cutover")
@click.argument("database")
@click.option("--sslmode", type=click.Choice(("disable", "require", "verify-full")))
@click.option("--details", is_flag=True, help="Copy the stored bodies of requests too.")
@click.option("--plan", is_flag=True, help="Say what would be done, and do nothing.")
@click.pass_obj
def cutover(
    operator: Operator, database: str, sslmode: str | None, details: bool, plan: bool
) -> None:
    """Move to PostgreSQL while the gateway serves.

    DATABASE is its URL; - reads it from standard input, where other users of the machine do not see
    its password.
    """
    _ = operator.password  # The first line, where both come from standard input.
    url = sys.stdin.readline().strip() if database == "-" else database
    body = {"url": url, "includeRequestDetails": details, "dryRun": plan}
    if sslmode is not None:
        body["sslmode"] = sslmode
    if plan:
        _show_plan(operator.get("POST", "cutover", body))
        return
    moved = _sound(*operator.watch("cutover", body))
    click.echo(
        f"PostgreSQL is served now: {moved['rowsMigrated']} rows of {moved['tablesMigrated']} "
        f"tables in {moved['durationMs']} ms. The snapshot of SQLite is {moved['snapshotPath']}."
    )


@database_group.command("rollback")
@click.option("--snapshot", help="The snapshot to go back to.  [default: the newest]")
@click.option("--force", is_flag=True, help="Discard what was written since the cutover.")
@click.pass_obj
def rollback(operator: Operator, snapshot: str | None, force: bool) -> None:
    """Go back to SQLite, to a snapshot of the cutover."""
    code, answer = operator.watch("rollback", {"snapshotPath": snapshot, "force": force})
    if code == 409 and answer.get("error") == "rollback_requires_force":
        raise click.ClickException(
            f"{answer['warning']} The cutover was at {answer['discardedSince']}. "
            "Say --force to go back all the same."
        )
    done = _sound(code, answer)
    click.echo(f"SQLite is served again, after {done['durationMs']} ms.")


@database_group.command("log")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def show_log(operator: Operator, as_json: bool) -> None:
    """List the newest changes and attempts."""
    rows = operator.get("GET", "log")
    if as_json:
        click.echo(json.dumps(rows, indent=2))
    else:
        _print_table(_LOG, [{name: _cell(row.get(name)) for name in _LOG} for row in rows])


def _show_plan(plan: Mapping[str, Any]) -> None:
    _print_table(("name", "rows"), plan["tables"])
    seconds = plan["estimatedMs"] / 1000
    version = plan["serverVersion"]
    click.echo(f"{plan['rows']} rows, in about {seconds:.1f} s, to PostgreSQL {version}")
    for line in plan.get("misfits", ()):
        click.echo(f"does not fit: {line}")
    if not plan["ok"]:
        sys.exit(1)


def _print_table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    from .options import print_table

    print_table(columns, rows)


def _bar(progress: Mapping[str, Any]) -> str:
    if "rows" not in progress:
        return str(progress.get("step", ""))
    done, tables = progress["tablesDone"], progress["tables"]
    filled = BAR * done // max(tables, 1)
    bar = "#" * filled + "-" * (BAR - filled)
    return f"{progress['step']} [{bar}] {done} of {tables} tables, {progress['rows']} rows"


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def _sound(code: int, answer: Any) -> Any:
    """An answer that is no error. Raises ClickException."""
    if code < 400:
        return answer
    error = answer.get("error") if isinstance(answer, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    raise click.ClickException(str(message or f"The gateway answered {code}."))
