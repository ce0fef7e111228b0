"""Errors as bodies: in the client's format, or in the envelope of the completions style where an
endpoint has no format of its own."""

from typing import Any

import msgspec

from ..contracts.errors import INVALID, GatewayError, UpstreamError
from ..contracts.wire import WireFormat

_TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    429: "rate_limit_error",
}
_CODES = {
    400: "bad_request",
    401: "invalid_api_key",
    402: "payment_required",
    403: "insufficient_quota",
    404: "model_not_found",
    406: "model_not_supported",
    429: "rate_limit_exceeded",
    500: "internal_server_error",
    502: "bad_gateway",
    503: "service_unavailable",
    504: "gateway_timeout",
}


def write_error(wire: WireFormat, error: GatewayError, request_id: str) -> bytes:
    """The whole body; ``request_id`` is the gateway's own."""
    if wire.client is not None:
        return wire.client.write_error(error, request_id)
    return service_error(error, request_id)


def service_error(error: GatewayError, request_id: str) -> bytes:
    """An error in the envelope of the completions style."""
    members: dict[str, Any] = {"message": error.message, "type": error.type, "code": error.code}
    if error.param is not None:
        members["param"] = error.param
    if isinstance(error, UpstreamError):
        # What the vendor did not name is named after the status.
        usual = "server_error" if error.status >= 500 else INVALID
        members["type"] = error.kind or _TYPES.get(error.status, usual)
        if error.code == UpstreamError.code:
            members["code"] = _CODES.get(error.status)
        if error.request_id and error.request_id != request_id:
            members["upstream_request_id"] = error.request_id
    return msgspec.json.encode({"error": {**members, "request_id": request_id}})
