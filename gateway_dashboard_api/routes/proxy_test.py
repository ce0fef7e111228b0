"""Trying the general outbound proxy, or one that is not saved yet (A.10)."""

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest, Forbidden
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer

from ..bodies import said
from ..desk import AdminContext
from ..destinations import permit_proxy
from ..endpoint import endpoint
from ..probes.proxies import try_proxy
from ..requests import read


class ProxyTestBody(Struct, frozen=True, kw_only=True, rename="camel"):
    proxy_url: str | None = None
    """The stored proxy when it is left out."""


class ProxyTest(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """``status`` is what answered through the proxy."""

    ok: bool
    status: int | None
    elapsed_ms: int
    error: str | None = None


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "POST",
            "/api/settings/proxy-test",
            test,
            "test the proxy",
            body=ProxyTestBody,
            answer=ProxyTest,
            example={"proxyUrl": "http://127.0.0.1:3128"},
        )
    ]


async def test(admin: AdminContext, request: Request) -> Response:
    """Ask for a fixed page through a proxy."""
    given = said((await read(request, ProxyTestBody)).proxy_url)
    if given and not admin.caller(request).is_operator:
        raise Forbidden("An API key may not set a proxy")
    proxy = given or admin.tables.settings.outbound_proxy_url
    if not proxy:
        raise BadRequest("No proxy is configured")
    await permit_proxy(admin.core.network, proxy)
    reached = await try_proxy(admin.core, proxy)
    return json_answer(
        ProxyTest(
            ok=reached.ok,
            status=reached.status,
            elapsed_ms=reached.elapsed_ms,
            error=reached.error,
        )
    )
