"""``model-gateway cassette``: one exchange of the request history as a test."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
import msgspec

from gateway_core.config.environment import Environment
from gateway_core.config.errors import StartRefused


@click.command("cassette")
@click.argument("request_id", metavar="REQUEST_ID|FILE")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Where to write it.")
@click.option("--url", help="Where the gateway is. The token goes there.")
@click.option("--replay", is_flag=True, help="Replay a cassette's FILE instead, without a network.")
@click.pass_obj
def cassette_command(
    environment: Environment, request_id: str, out: Path | None, url: str | None, replay: bool
) -> None:
    """Write one recorded exchange as a file that says nothing of what was said, and replays.

    Every text in it is blanked out, headers and addresses are left out. What does not replay to
    the same answer is not written.
    """
    # Imported only here: they run a whole gateway, and one that serves loads this module too.
    from gateway_cli.api_client import NoGateway

    from .cassette import BadCassette, make_cassette, read_cassette, write_cassette
    from .replay import replay_cassette

    try:
        if replay:
            replay_cassette(read_cassette(request_id))
            click.echo("It replays.")
            return
        rows = _read(environment, url, "/api/usage/history", request_id)
        details = _read(environment, url, "/api/usage/request-details", request_id)
        cassette = make_cassette(rows, details)
        replay_cassette(cassette)
    except (BadCassette, OSError) as error:
        raise click.ClickException(str(error)) from None
    except AssertionError as error:
        raise click.ClickException(f"It does not replay: {error}") from None
    except (NoGateway, StartRefused) as error:
        raise click.ClickException(str(error)) from None
    content = write_cassette(cassette)
    if out is None:
        click.echo(content.decode(), nl=False)
        return
    try:
        out.write_bytes(content)
    except OSError as error:
        raise click.ClickException(f"{out} cannot be written: {error.strerror}") from None
    click.echo(f"{out} is written, and replays.")


def _read(environment: Environment, url: str | None, path: str, request_id: str) -> Any:
    from gateway_cli.api_client import ask

    answer = ask(environment, url, "GET", f"{path}?requestId={quote(request_id, safe='')}")
    if answer.status != 200:
        raise click.ClickException(f"The gateway answered with status {answer.status}.")
    found = msgspec.json.decode(answer.body)
    rows = next((each for each in found.values() if isinstance(each, list)), [])
    if not rows:
        raise click.ClickException(f"There is no request {request_id}.")
    return rows[0]
