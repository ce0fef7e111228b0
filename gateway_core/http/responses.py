"""Small answers of the routes that are not inference."""

from typing import Any

import msgspec
from starlette.responses import Response

from ..contracts.asgi import Receive, Scope, Send
from ..contracts.errors import GatewayError
from ..pipeline.error_bodies import service_error
from .requests import REQUEST_ID

NO_STORE = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


def json_answer(value: Any, status: int = 200, headers: dict[str, str] = NO_STORE) -> Response:
    return Response(msgspec.json.encode(value), status, dict(headers), "application/json")


def error_answer(error: GatewayError, request_id: str) -> Response:
    """An error in the envelope of the completions style, for client routes."""
    headers = {**NO_STORE, "x-request-id": request_id}
    return Response(service_error(error, request_id), error.status, headers, "application/json")


def flat_error(message: str, status: int, request_id: str, **members: Any) -> Response:
    """A flat error, for management routes and the network gate."""
    body = {"error": message, **members, "request_id": request_id}
    return json_answer(body, status, {**NO_STORE, "x-request-id": request_id})


async def deny_socket(scope: Scope, receive: Receive, send: Send, error: GatewayError) -> None:
    """Answer a WebSocket's handshake with an error, or with 403 where the server knows no more.

    https://asgi.readthedocs.io/en/latest/extensions.html#websocket-denial-response
    """
    if "websocket.http.response" in scope.get("extensions", {}):
        await flat_error(error.message, error.status, scope[REQUEST_ID])(scope, receive, send)
    else:
        await send({"type": "websocket.close"})
