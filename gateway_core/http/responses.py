"""Small answers of the routes that are not inference."""

from typing import Any

import msgspec
from starlette.responses import Response

from ..contracts.errors import GatewayError
from ..pipeline.error_bodies import service_error

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
