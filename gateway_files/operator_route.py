"""Routes of the management API for what clients keep here: whoever owns it, the operator sees it.

Errors are flat, and a parameter that a route does not have is refused, as everywhere below
``/api``.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from math import ceil
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from gateway_core.contracts.errors import BadRequest, GatewayError, Unavailable
from gateway_core.http.operations import Guarded, guarded
from gateway_core.http.requests import request_id_of
from gateway_core.http.responses import flat_error
from gateway_core.identity.access import Access
from gateway_core.identity.caller import Caller
from gateway_core.identity.credentials import CALLER
from gateway_core.pipeline.context import Collaborators

from .ranges import Unsatisfiable

Handler = Callable[[Request], Awaitable[Response]]
ALWAYS = frozenset({"_", "t", "key"})
"""Parameters that stand beside any query: against caches, and the gateway key."""
log = logging.getLogger(__name__)
Q = TypeVar("Q", bound=Struct)


class NoQuery(Struct, frozen=True):
    """No parameter."""


def operator_route(
    path: str, handler: Handler, purpose: str, method: str = "GET", **more: Any
) -> Guarded:
    """A route for the operator, never for a key. ``purpose`` is as in ``guarded``."""

    async def respond(request: Request) -> Response:
        request_id = request_id_of(request)
        try:
            read_query(request, more.get("query", NoQuery))
            response = await handler(request)
        except GatewayError as error:
            response = _refusal(error, request_id)
        except OSError:
            log.exception("request %s failed to %s", request_id, purpose)
            response = _refusal(Unavailable("The files cannot be read or written now"), request_id)
        except Exception:
            log.exception("request %s failed", request_id)
            response = flat_error(f"Failed to {purpose}", 500, request_id)
        response.headers["x-request-id"] = request_id
        if request.method == "HEAD" and not isinstance(response, StreamingResponse):
            response.body = b""
        return response

    return guarded(path, respond, Access.OPERATOR, purpose, (method,), **more)


def _refusal(error: GatewayError, request_id: str) -> Response:
    response = flat_error(error.message, error.status, request_id, code=error.code)
    if isinstance(error, Unsatisfiable):
        # RFC 9110, section 15.5.17.
        response.headers["content-range"] = f"bytes */{error.size}"
    if error.retry_after is not None:
        response.headers["retry-after"] = str(max(1, ceil(error.retry_after)))
    return response


def read_query(request: Request, kind: type[Q]) -> Q:
    """The query; an empty parameter counts as one that is not there. Raises BadRequest."""
    known = kind.__struct_encode_fields__
    for name in request.query_params:
        if name not in known and name not in ALWAYS:
            raise BadRequest(f'Unknown query parameter "{name[:128]}"')
    values = {n: value for n, value in request.query_params.items() if n in known and value}
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        _, _, path = str(error).partition("`$.")
        raise BadRequest(f"Invalid {path.rstrip('`') or 'query'}") from None


async def audit(
    core: Collaborators, request: Request, action: str, target: str, detail: Mapping[str, Any]
) -> None:
    """Write an audit row. Called before the act, which must not happen if this raises."""
    caller: Caller = request.scope[CALLER]
    await core.stores.audit.write(caller.actor, caller.peer.address, action, target, detail)


async def owner_names(core: Collaborators) -> Mapping[str, str]:
    """The names of keys by their ids. An owner without one is ``local``, or a key that is gone."""
    return {key.id: key.name for key in await core.stores.keys.list()}
