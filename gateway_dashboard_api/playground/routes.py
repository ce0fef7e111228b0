"""Client endpoints for a person who has signed in: ``/api/playground/v1/chat/completions``.

The route's class of access lets the caller in, and compares the origin as on every route that takes
a cookie. The request then goes the way of any client's, with its limits on bodies and time, its
stream, its row in the ledger.
"""

from typing import Any

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gateway_core.contracts.errors import GatewayError
from gateway_core.http.operations import Guarded, RouteOperation
from gateway_core.http.requests import REQUEST_ID
from gateway_core.http.responses import flat_error
from gateway_core.identity.access import Access
from gateway_core.identity.credentials import CALLER

from ..admin_context import AdminContext
from .session_key import session_caller

PATH = "/api/playground/{endpoint:path}"
METHODS = ("GET", "POST")
EXAMPLE = {"model": "echo/echo", "messages": [{"role": "user", "content": "Hello"}]}


def routes(admin: AdminContext) -> list[Guarded]:
    access = Access.OPERATOR
    shared: dict[str, Any] = {"path": PATH, "access": access, "answer": None}
    operations = (
        RouteOperation(method="GET", purpose="read from a client endpoint", **shared),
        RouteOperation(
            method="POST",
            purpose="call a client endpoint",
            body=dict[str, Any],
            example=EXAMPLE,
            **shared,
        ),
    )
    return [Guarded(Route(PATH, Playground(), methods=list(METHODS)), access, operations)]


class Playground:
    """Serves the endpoint whose path follows the playground's."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = f"/{scope['path_params']['endpoint']}"
        caller = session_caller(scope[CALLER])
        try:
            served = scope["app"].serve_endpoint(path, caller, scope, receive, send)
        except GatewayError as error:
            refusal = flat_error(error.message, error.status, scope[REQUEST_ID], code=error.code)
            await refusal(scope, receive, send)
        else:
            await served
