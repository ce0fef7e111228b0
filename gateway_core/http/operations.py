"""A route with what is known of it: who may use it, what it takes and what it gives.

The gate asks it who may pass, and the OpenAPI document and the access table
are made from it. A route that is not one of these is shut.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct
from starlette.routing import BaseRoute, Route

from ..identity.access import Access

JSON = "application/json"
FORM = "multipart/form-data"
STREAM = "text/event-stream"


class RouteOperation(Struct, frozen=True, kw_only=True):
    """One method of one path."""

    method: str
    path: str
    """As it is routed: ``/api/keys/{id}``."""
    access: Access
    purpose: str
    """Completes "Failed to …"; with a capital it is the summary."""
    query: type[Struct] | None = None
    body: Any = None
    """The type of the body; ``None`` when there is none."""
    body_media: str = JSON
    answer: Any = None
    """The type of the JSON answer; ``None`` when it is any JSON."""
    status: int = 200
    media: str = JSON
    example: Any = None
    """A body that works."""
    headers: Mapping[str, str] = {}
    """Request headers with a meaning of their own, and what they mean."""


class Guarded(Struct, frozen=True):
    """A route and the class of callers it is for."""

    route: BaseRoute
    """A Starlette route: HTTP, WebSocket or a mount."""
    access: Access
    """Who may use it."""
    operations: tuple[RouteOperation, ...] = ()
    """What the OpenAPI document and the reference say of it."""
    admits: bool = False
    """A WebSocket that checks its callers by itself, after the handshake: a browser shows a script
    no status of one, so that nobody else could say why it is refused."""
    page: str = ""
    """The title of a page that the route adds to the operator's web interface: the route answers
    GET with a JavaScript module, which the interface imports."""


class Deferred(Struct, frozen=True):
    """Routes of a bundled plugin that are made when the first request comes below their paths.

    Who makes them imports what only they need. It runs on a thread, so that nobody else waits,
    and may run twice; what it raises fails the request.
    """

    below: tuple[str, ...]
    """How their paths begin: ``/api/``."""
    make: Callable[[], Iterable[Guarded]]


def guarded(
    path: str,
    endpoint: Callable[..., Any],
    access: Access,
    purpose: str,
    methods: tuple[str, ...] = ("GET",),
    **more: Any,
) -> Guarded:
    """A plain route of the kernel's own."""
    operations = tuple(
        RouteOperation(method=method, path=path, access=access, purpose=purpose, **more)
        for method in methods
        if method != "HEAD"
    )
    return Guarded(Route(path, endpoint, methods=list(methods)), access, operations)
