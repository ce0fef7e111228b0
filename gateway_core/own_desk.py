"""The command line as a client of its own gateway: one management call with the CLI token."""

import asyncio

from msgspec import Struct

from .config.data_dir import DataDir
from .config.environment import Environment
from .contracts.errors import TransportError
from .contracts.exchange import UpstreamRequest
from .identity.credentials import CLI_HEADER, cli_token

LARGEST = 64 * 1024 * 1024
"""Bytes of an answer that are read."""


class Told(Struct, frozen=True):
    """What the gateway answered."""

    status: int
    body: bytes


class NoGateway(Exception):
    """Nothing answers at the address."""


def ask(
    environment: Environment, base: str, method: str, path: str, body: bytes | None = None
) -> Told:
    """Make one call. ``base`` is scheme, host and port. Raises NoGateway, StartRefused."""
    owned = DataDir(environment.data_path)
    headers = {CLI_HEADER: cli_token(owned.raw_machine_id(), owned.cli_secret())}
    if body is not None:
        headers["content-type"] = "application/json"
    request = UpstreamRequest(method=method, url=base + path, headers=headers, body=body or b"")
    try:
        return asyncio.run(_asked(request))
    except TransportError as error:
        raise NoGateway(f"No gateway answers at {base}: {error.message}. Is it running?") from None


async def _asked(request: UpstreamRequest) -> Told:
    from .inference.transport import Network, read_all

    network = Network()
    try:
        answer = await network.transport().send(request)
        try:
            return Told(answer.status, await read_all(answer, LARGEST))
        finally:
            await answer.aclose()
    finally:
        await network.aclose()
