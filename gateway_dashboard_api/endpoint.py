"""Turns handlers into routes, and every error into a flat JSON response."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway_core.contracts.errors import GatewayError
from gateway_core.http.operations import JSON, Guarded, RouteOperation
from gateway_core.http.requests import request_id_of
from gateway_core.http.responses import flat_error
from gateway_core.identity.access import Access
from gateway_core.pipeline.client_response import ClientGone

from .admin_context import AdminContext
from .large_answers import shrink
from .requests import check_parameters

Handler = Callable[[AdminContext, Request], Awaitable[Response]]
CLIENT_GONE = 499
log = logging.getLogger(__name__)


def endpoint(
    admin: AdminContext,
    method: str,
    path: str,
    handler: Handler,
    purpose: str,
    *,
    access: Access = Access.MANAGEMENT,
    query: type[Struct] | None = None,
    body: Any = None,
    answer: Any = None,
    status: int = 200,
    media: str = JSON,
    example: Any = None,
    headers: Mapping[str, str] = {},
) -> Guarded:
    """Build a route. ``purpose`` completes "Failed to …" for unforeseen errors.

    ``query``, ``body`` and ``answer`` are the types that the handler reads and
    gives; the OpenAPI document shows them, with ``example`` as a body that works.
    """
    operation = RouteOperation(
        method=method,
        path=path,
        access=access,
        purpose=purpose,
        query=query,
        body=body,
        answer=answer,
        status=status,
        media=media,
        example=example,
        headers=headers,
    )

    async def checked(admin: AdminContext, request: Request) -> Response:
        # Probes and identity providers add parameters of their own to public paths.
        if access not in (Access.PUBLIC, Access.ISOLATED):
            check_parameters(request, query)
        return await handler(admin, request)

    async def respond(request: Request) -> Response:
        response = await shrink(request, await _answer(admin, checked, purpose, request))
        response.headers["x-request-id"] = request_id_of(request)
        if request.method == "HEAD":
            response.body = b""
        return response

    return Guarded(Route(path, respond, methods=[method]), access, (operation,))


async def _answer(
    admin: AdminContext, handler: Handler, purpose: str, request: Request
) -> Response:
    request_id = request_id_of(request)
    try:
        return await handler(admin, request)
    except GatewayError as error:
        return flat_error(error.message, error.status, request_id, code=error.code)
    except ClientGone:
        return Response(status_code=CLIENT_GONE)
    except (Exception, SystemExit, KeyboardInterrupt):  # a plugin's code may raise any of them
        log.exception("request %s failed", request_id)
        return flat_error(f"Failed to {purpose}", 500, request_id)
