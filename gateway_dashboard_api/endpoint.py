"""From a function to a route: one place where what goes wrong becomes a flat answer."""

import logging
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway_core.contracts.errors import GatewayError
from gateway_core.inference.client import ClientGone
from gateway_core.surfaces.answers import flat_error
from gateway_core.surfaces.requests import request_id_of

from .desk import Desk

Handler = Callable[[Desk, Request], Awaitable[Response]]
CLIENT_GONE = 499

log = logging.getLogger(__name__)


def endpoint(desk: Desk, method: str, path: str, handler: Handler, purpose: str) -> Route:
    """A route. ``purpose`` completes "Failed to …" for what nobody foresaw."""

    async def answer(request: Request) -> Response:
        response = await _answer(desk, handler, purpose, request)
        response.headers["x-request-id"] = request_id_of(request)
        if request.method == "HEAD":
            response.body = b""
        return response

    return Route(path, answer, methods=[method])


async def _answer(desk: Desk, handler: Handler, purpose: str, request: Request) -> Response:
    request_id = request_id_of(request)
    try:
        return await handler(desk, request)
    except GatewayError as error:
        return flat_error(error.message, error.status, request_id, code=error.code)
    except ClientGone:
        return Response(status_code=CLIENT_GONE)
    except Exception:
        log.exception("request %s failed", request_id)
        return flat_error(f"Failed to {purpose}", 500, request_id)
