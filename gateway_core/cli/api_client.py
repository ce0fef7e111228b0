"""The command line as a client of its own gateway: one management call with the CLI token.

Whoever has the token is the operator, so it goes to the gateway that listens
with the same data directory, and else only where the operator says.
"""

import asyncio

from msgspec import Struct

from ..config.data_dir import DataDir
from ..config.environment import Environment
from ..config.whereabouts import where
from ..contracts.errors import TransportError
from ..contracts.exchange import UpstreamRequest
from ..identity.credentials import CLI_HEADER, cli_token

LARGEST = 64 * 1024 * 1024
"""Bytes of an answer that are read."""


class Told(Struct, frozen=True):
    """What the gateway answered."""

    status: int
    body: bytes


class NoGateway(Exception):
    """Nothing answers at the address."""


def ask(
    environment: Environment, url: str | None, method: str, path: str, body: bytes | None = None
) -> Told:
    """Make one call. ``url`` is scheme, host and port, if the operator says where.

    Raises NoGateway, StartRefused.
    """
    base = (url or _own_address(environment)).rstrip("/")
    owned = DataDir(environment.data_path)
    headers = {CLI_HEADER: cli_token(owned.raw_machine_id(), owned.cli_secret())}
    if method != "GET":
        headers["content-type"] = "application/json"
    request = UpstreamRequest(method=method, url=base + path, headers=headers, body=body or b"")
    try:
        return asyncio.run(_asked(request))
    except TransportError as error:
        message = f"No gateway answers at {base}: {_of_gateway(error.message)}."
        raise NoGateway(f"{message} Start it, or say with --url where it is.") from None


def _own_address(environment: Environment) -> str:
    found = where(environment.data_path)
    if found is None:
        raise NoGateway(
            f"No gateway listens with the data directory {environment.data_path}. Start it, set "
            "DATA_DIR to the directory it uses, or say with --url where it is."
        )
    return found


def _of_gateway(message: str) -> str:
    """What is told of a provider, told of the gateway, as a part of a sentence."""
    why = message.replace("provider", "gateway").rstrip(".")
    return why[:1].lower() + why[1:]


async def _asked(request: UpstreamRequest) -> Told:
    from ..upstream.transport import Network, read_all

    network = Network()
    try:
        answer = await network.transport().send(request)
        try:
            return Told(answer.status, await read_all(answer, LARGEST))
        finally:
            await answer.aclose()
    finally:
        await network.aclose()
