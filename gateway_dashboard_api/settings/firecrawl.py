"""Finding a Firecrawl server (4.13)."""

import asyncio

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import TransportError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.upstream.redaction import redact

from ..admin_context import AdminContext
from ..destinations import permit
from ..endpoint import endpoint
from ..requests import read_json, strip

LIMIT = 3.0
"""Seconds for one address."""
USUAL = ("http://127.0.0.1:3002",)
"""Where a self-hosted server listens by default."""


class DetectBody(Struct, frozen=True, kw_only=True, rename="camel"):
    base_url: str | None = None
    """Looked at first."""


class Crawler(Struct, frozen=True, kw_only=True, rename="camel"):
    base_url: str
    reachable: bool
    status: int | None = None
    error: str | None = None


class Detected(Struct, frozen=True, kw_only=True, rename="camel"):
    """``baseUrl`` is the first that answered; ``null`` when none did."""

    ok: bool
    base_url: str | None
    endpoints: tuple[Crawler, ...]


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "POST",
            "/api/settings/firecrawl/detect",
            detect,
            "look for a crawler",
            access=Access.SESSION,
            body=DetectBody,
            answer=Detected,
            example={},
        )
    ]


async def detect(admin: AdminContext, request: Request) -> Response:
    """Try the address of the body, the one in the settings, and the usual ones."""
    named = strip((await read_json(request, DetectBody)).base_url)
    urls = (named, admin.snapshot.settings.firecrawl_base_url, *USUAL)
    candidates = tuple(dict.fromkeys(url.rstrip("/") for url in urls if url))
    for url in candidates:
        await permit(admin.core.network, url)
    crawlers = tuple(await asyncio.gather(*(_look(admin, url) for url in candidates)))
    first = next((each.base_url for each in crawlers if each.reachable), None)
    return json_answer(Detected(ok=first is not None, base_url=first, endpoints=crawlers))


async def _look(admin: AdminContext, url: str) -> Crawler:
    request = UpstreamRequest(method="GET", url=f"{url}/", headers={"accept": "*/*"})
    try:
        async with asyncio.timeout(LIMIT):
            response = await admin.core.network.transport().send(request)
        await response.aclose()
    except TimeoutError:
        return Crawler(base_url=url, reachable=False, error=f"No answer in {LIMIT:g} s")
    except TransportError as error:
        return Crawler(base_url=url, reachable=False, error=redact(error.message))
    return Crawler(base_url=url, reachable=response.status < 500, status=response.status)
