"""The command line as a client of its own gateway: one management call with the CLI token.

Whoever has the token is the operator, so it goes to the gateway that listens
with the same data directory, and else only where the operator says.
"""

import asyncio
from collections.abc import Mapping

from msgspec import Struct

from gateway_core.config.data_dir import DataDir
from gateway_core.config.environment import Environment
from gateway_core.contracts.errors import TransportError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.identity.credentials import CLI_HEADER, cli_token

from .whereabouts import where

LARGEST = 64 * 1024 * 1024
"""Bytes of an answer that are read."""


class ApiResponse(Struct, frozen=True):
    """What the gateway answered."""

    status: int
    body: bytes


class NoGateway(Exception):
    """Nothing answers at the address."""


def _credential(environment: Environment, key: str | None) -> dict[str, str]:
    if key is not None:
        return {"authorization": f"Bearer {key}"}
    data_dir = DataDir(environment.data_path)
    return {CLI_HEADER: cli_token(data_dir.raw_machine_id(), data_dir.cli_secret())}


def ask(
    environment: Environment,
    url: str | None,
    method: str,
    path: str,
    body: bytes | None = None,
    more: Mapping[str, str] = {},
    patience: float = 200.0,
    key: str | None = None,
) -> ApiResponse:
    """Make one call. ``url`` is scheme, host and port, if the operator says where.

    ``more`` are headers, and ``patience`` is how many seconds the answer may take. ``key`` is a
    gateway key to call with, in the place of the token.

    Raises NoGateway, StartRefused.
    """
    base = url or where(environment.data_path)
    if base is None:
        raise NoGateway(
            f"No gateway listens with the data directory {environment.data_path}. Start it, set "
            "DATA_DIR to the directory it uses, or say with --url where it is."
        )
    base = base.rstrip("/")
    headers = {**_credential(environment, key), **more}
    if method != "GET":
        headers["content-type"] = "application/json"
    request = UpstreamRequest(method=method, url=base + path, headers=headers, body=body or b"")

    async def send() -> ApiResponse:
        from gateway_core.upstream.transport import Network, TransportLimits, read_all

        network = Network(TransportLimits(first_byte=patience, whole=max(600.0, patience)))
        try:
            response = await network.transport().send(request)
            try:
                return ApiResponse(response.status, await read_all(response, LARGEST))
            finally:
                await response.aclose()
        finally:
            await network.aclose()

    try:
        return asyncio.run(send())
    except TransportError as error:
        # The transport speaks of providers, in a sentence of its own.
        reason = error.message.replace("provider", "gateway").rstrip(".")
        message = f"No gateway answers at {base}: {reason[:1].lower()}{reason[1:]}."
        raise NoGateway(f"{message} Start it, or say with --url where it is.") from None
