"""Tests a proxy by fetching a fixed page through it."""

import asyncio
import time
from http import HTTPStatus

from msgspec import Struct

from gateway_core.contracts.errors import TransportError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.pipeline.context import Collaborators
from gateway_core.upstream.redaction import redact

LIMIT = 10.0
"""Seconds."""
PHRASES = {status.value: status.phrase for status in HTTPStatus}


class Reached(Struct, frozen=True, kw_only=True):
    """The result of a test. ``status`` is the page's."""

    ok: bool = False
    status: int | None = None
    status_text: str = ""
    error: str | None = None
    elapsed_ms: int = 0


async def try_proxy(core: Collaborators, proxy: str) -> Reached:
    """Fetch GATEWAY_PROXY_TEST_URL through this proxy. Never raises."""
    began = time.monotonic()
    request = UpstreamRequest(
        method="GET", url=core.environment.proxy_test_url, headers={"accept": "*/*"}
    )
    status: int | None = None
    error: str | None = None
    try:
        async with asyncio.timeout(LIMIT):
            response = await core.network.transport(proxy).send(request)
            await response.aclose()
            status = response.status
    except TimeoutError:
        error = f"The proxy did not answer in {LIMIT:g} s"
    except TransportError as caught:
        error = redact(caught.message)
    took = round((time.monotonic() - began) * 1000)
    if status is None:
        return Reached(error=error, elapsed_ms=took)
    ok = 200 <= status < 400
    return Reached(
        ok=ok,
        status=status,
        status_text=PHRASES.get(status, ""),
        error=None if ok else f"The test page answered {status}",
        elapsed_ms=took,
    )
