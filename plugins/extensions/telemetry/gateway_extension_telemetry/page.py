"""The route that Prometheus reads."""

import asyncio

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gateway_core import Access, Guarded, Host

PATH = "/metrics"


def metrics_route(host: Host, *, is_on: bool) -> Guarded:
    """The route; without anything to show it says so."""

    async def metrics(request: Request) -> Response:
        if not is_on:
            return PlainTextResponse("GATEWAY_METRICS=true switches this page on\n", 404)
        # Imported only here, because most gateways are not measured.
        from .exposition import write

        body, media_type = await asyncio.to_thread(
            write, host.folder, request.headers.get("accept", "")
        )
        return Response(body, headers={"content-type": media_type})

    return Guarded(Route(PATH, metrics, methods=["GET"]), Access.MANAGEMENT)
