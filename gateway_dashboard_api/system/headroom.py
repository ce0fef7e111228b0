"""The prompt compressor Headroom: whether one answers, which this gateway sends nothing to (4.13).

It is a program of its own; the gateway neither starts nor stops it.
"""

import asyncio

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import TransportError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.upstream.redaction import redact

from ..admin_context import AdminContext
from ..destinations import origin
from ..endpoint import endpoint

LIMIT = 3.0
"""Seconds."""
NO_EFFECT = "The gateway compresses no prompts; nothing was saved by it"


class HeadroomStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    enabled: bool
    """The setting, which has no effect yet."""
    url: str
    """Scheme, host and port of the setting."""
    running: bool
    """Something answers there."""
    status: int | None = None
    """Of its answer."""
    error: str | None = None
    managed_pid: int | None = None
    """Always ``null``: the gateway starts no compressor."""
    circuit: str = "closed"


class HeadroomStats(Struct, frozen=True, kw_only=True, rename="camel"):
    available: bool = False
    requests: int = 0
    tokens_saved: int = 0
    message: str = NO_EFFECT


def routes(admin: AdminContext) -> list[Guarded]:
    path = "/api/headroom"
    return [
        endpoint(
            admin,
            "GET",
            f"{path}/status",
            show_status,
            "read the compressor's state",
            answer=HeadroomStatus,
        ),
        endpoint(
            admin,
            "GET",
            f"{path}/stats",
            show_stats,
            "read what the compressor saved",
            answer=HeadroomStats,
        ),
    ]


async def show_status(admin: AdminContext, request: Request) -> Response:
    settings = admin.snapshot.settings
    url = settings.headroom_url
    status, error = await _look(admin, f"{url.rstrip('/')}/health")
    return json_answer(
        HeadroomStatus(
            enabled=settings.headroom_enabled,
            url=origin(url),
            running=status is not None,
            status=status,
            error=error,
        )
    )


async def show_stats(admin: AdminContext, request: Request) -> Response:
    return json_answer(HeadroomStats())


async def _look(admin: AdminContext, url: str) -> tuple[int | None, str | None]:
    try:
        async with asyncio.timeout(LIMIT):
            asked = UpstreamRequest(method="GET", url=url, headers={"accept": "*/*"})
            answer = await admin.core.network.transport().send(asked)
        await answer.aclose()
    except TimeoutError:
        return None, f"No answer in {LIMIT:g} s"
    except TransportError as error:
        return None, redact(error.message)
    return answer.status, None
