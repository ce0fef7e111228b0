"""Calls of management routes from inside: what a caller may not do there, no tool does for it."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.types import Message

from gateway_core.contracts.errors import BadRequest, Forbidden, NotFound
from gateway_core.http.operations import Guarded
from gateway_core.identity.access import permit
from gateway_core.identity.caller import Caller
from gateway_core.identity.credentials import CALLER

ANSWERED = 400
"""A lower status is a success."""


class ManagementCall(Struct, frozen=True):
    """A request of a management route."""

    method: str
    path: str
    """As it is routed: ``/api/combos/{id}``."""
    parameters: Mapping[str, str] = {}
    """Of the path."""
    query: Mapping[str, str] = {}
    body: Any = None


class ManagementRoutes:
    """The management API, for a caller who was let in already."""

    def __init__(self, routes: Iterable[Guarded]) -> None:
        self._routes = {
            (operation.method, operation.path): (guarded, operation)
            for guarded in routes
            for operation in guarded.operations
        }

    async def call(self, outer: Request, call: ManagementCall) -> Any:
        """The answer's JSON. Raises NotFound, BadRequest, Forbidden, Unauthorized, LocalOnly."""
        guarded, operation = self._routes[call.method, call.path]
        caller: Caller = outer.scope[CALLER]
        if caller.is_cli or caller.session is not None or caller.key is not None:
            permit(operation.access, caller, call.method)
        elif not caller.is_open and call.path == "/api/settings" and call.method != "GET":
            raise Forbidden("Settings are changed with a credential only")
        answer = await guarded.route.endpoint(_request(outer, call))  # type: ignore[attr-defined]
        body = msgspec.json.decode(answer.body)
        if answer.status_code >= ANSWERED:
            raise (NotFound if answer.status_code == 404 else BadRequest)(body["error"])
        return body


def _request(outer: Request, call: ManagementCall) -> Request:
    body = b"" if call.body is None else msgspec.json.encode(call.body)
    path = call.path
    for name, value in call.parameters.items():
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    # What says where the caller's page is; its body and its wishes for the answer were the tool's.
    headers += [each for each in outer.scope["headers"] if each[0] in (b"host", b"origin")]
    scope = {
        **outer.scope,
        "method": call.method,
        "path": path,
        "raw_path": path.encode(),
        "path_params": dict(call.parameters),
        "query_string": urlencode(call.query).encode(),
        "headers": headers,
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return Request(scope, receive)
