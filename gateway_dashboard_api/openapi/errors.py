"""What an operation may answer when it fails, as the OpenAPI document says it."""

from collections.abc import Callable, Mapping
from typing import Any

from gateway_core.contracts.errors import (
    BadRequest,
    BodyTooLarge,
    Conflict,
    Forbidden,
    GatewayError,
    LimitExceeded,
    NotFound,
    Unauthorized,
    UnsupportedMedia,
)
from gateway_core.http.operations import JSON, RouteOperation
from gateway_core.identity.access import CLIENT as CLIENT_ROUTES
from gateway_core.identity.access import SAFE_METHODS, Access

Node = dict[str, Any]
Applies = Callable[[RouteOperation], bool]

FLAT: Node = {
    "title": "Error",
    "description": "What is wrong, for people; some errors have members of their own beside it.",
    "type": "object",
    "properties": {
        "error": {"type": "string"},
        "code": {"type": ["string", "null"]},
        "request_id": {"type": "string"},
    },
    "required": ["error", "request_id"],
}
CLIENT: Node = {
    "title": "ClientError",
    "description": "An error in the client's own format; flat when the caller is turned away.",
    "type": "object",
}
REFUSED, FAILED = "ClientRefused", "ClientFailed"


def _takes_input(operation: RouteOperation) -> bool:
    return operation.query is not None or _has_body(operation) or "{" in operation.path


def _has_body(operation: RouteOperation) -> bool:
    return operation.body is not None


def _is_closed(operation: RouteOperation) -> bool:
    """Not open to everybody, or a way to sign in."""
    return operation.access is not Access.PUBLIC or _takes_input(operation)


_WHEN: tuple[tuple[type[GatewayError], Applies], ...] = (
    (BadRequest, _is_closed),
    (Unauthorized, _is_closed),
    (Forbidden, _is_closed),
    (NotFound, _is_closed),
    (Conflict, lambda operation: operation.method not in SAFE_METHODS),
    (BodyTooLarge, _has_body),
    (UnsupportedMedia, _has_body),
    (LimitExceeded, _is_closed),
)
_ALWAYS: Mapping[str, tuple[str, str]] = {
    "500": ("Unforeseen", "Something nobody foresaw; the log has it under the request's id."),
    "5XX": ("Failed", "The database, the disk or a vendor failed."),
}


def _response(about: str, schema: str) -> Node:
    shown = {"$ref": f"#/components/schemas/{schema}"}
    return {"description": about, "content": {JSON: {"schema": shown}}}


RESPONSES: Mapping[str, Node] = {
    **{
        error.__name__: _response(
            (error.__doc__ or error.__name__).partition("\n")[0].replace("``", "`"), "Error"
        )
        for error, _ in _WHEN
    },
    **{name: _response(about, "Error") for name, about in _ALWAYS.values()},
    REFUSED: _response("The gateway or the vendor refuses the request.", "ClientError"),
    FAILED: _response("The gateway or every vendor failed.", "ClientError"),
}
SCHEMAS: Mapping[str, Node] = {"Error": FLAT, "ClientError": CLIENT}


def responses_of(operation: RouteOperation | None) -> dict[str, Node]:
    """The failures of a management route; of a client's route, for it or for ``None``."""
    if operation is None or operation.access in {*CLIENT_ROUTES, Access.CONTROL}:
        return {"4XX": _to(REFUSED), "5XX": _to(FAILED)}
    declared = {str(error.status): error.__name__ for error, applies in _WHEN if applies(operation)}
    always = {status: name for status, (name, _) in _ALWAYS.items()}
    return {status: _to(name) for status, name in {**declared, **always}.items()}


def _to(name: str) -> Node:
    return {"$ref": f"#/components/responses/{name}"}
