"""Routes for clients whose answers are not a model's: the key is checked, the owner is known, and
errors have the envelope of the completions style."""

import logging
from collections.abc import Awaitable, Callable
from math import ceil
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import GatewayError, Unavailable
from gateway_core.http.operations import Guarded, guarded
from gateway_core.http.requests import request_id_of
from gateway_core.http.responses import error_answer
from gateway_core.identity.access import Access
from gateway_core.identity.caller import Caller
from gateway_core.identity.credentials import CALLER, check_key
from gateway_core.pipeline.client_response import ClientGone
from gateway_core.pipeline.context import Collaborators

from .ranges import Unsatisfiable
from .store import LOCAL

Handler = Callable[[Request, str], Awaitable[Response]]
"""Takes the owner, too."""
CLIENT_GONE = 499
log = logging.getLogger(__name__)


def client_route(
    core: Collaborators,
    path: str,
    handler: Handler,
    purpose: str,
    methods: tuple[str, ...] = ("GET",),
    **more: Any,
) -> Guarded:
    """A route whose handler raises what is to be answered. ``purpose`` is as in ``guarded``."""

    async def respond(request: Request) -> Response:
        request_id = request_id_of(request)
        try:
            caller: Caller = request.scope[CALLER]
            check_key(caller, required=core.snapshot.settings.require_api_key)
            return await handler(request, owner_of(caller))
        except GatewayError as error:
            return _refusal(error, request_id)
        except ClientGone:
            return Response(status_code=CLIENT_GONE)
        except OSError:
            log.exception("request %s failed to %s", request_id, purpose)
            return _refusal(Unavailable("The files cannot be read or written now"), request_id)
        except Exception:
            log.exception("request %s failed to %s", request_id, purpose)
            return _refusal(GatewayError("Request failed"), request_id)

    return guarded(path, respond, Access.INFERENCE, purpose, methods, **more)


def owner_of(caller: Caller) -> str:
    """Whose files a caller sees: its key's, or those that all callers without one share."""
    return LOCAL if caller.key is None else caller.key.id


def _refusal(error: GatewayError, request_id: str) -> Response:
    response = error_answer(error, request_id)
    if isinstance(error, Unsatisfiable):
        # RFC 9110, section 15.5.17.
        response.headers["content-range"] = f"bytes */{error.size}"
    if error.retry_after is not None:
        response.headers["retry-after"] = str(max(1, ceil(error.retry_after)))
    return response
