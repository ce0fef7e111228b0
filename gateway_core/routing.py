"""The ASGI application: one gate, one look-up, and whoever serves the path.

Inference endpoints are found first and served without a middleware stack;
everything else goes through Starlette's router. A path is compared as the
server decoded it, after the prefixes that mean the same have been taken off.
"""

import re
from collections.abc import Sequence
from urllib.parse import unquote_to_bytes

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Router

from .contracts.errors import MethodNotAllowed
from .identity.peers import is_local
from .inference.client import Receive, Scope, Send, headers_of
from .inference.core import Core
from .inference.exchanges import client_side
from .inference.pipeline import Route, infer
from .surfaces import catalog, meta
from .surfaces.answers import flat_error
from .surfaces.chat import Endpoints
from .surfaces.requests import REQUEST_ID

REMOTE = "API key required for remote API access"
PUBLIC = frozenset({"/api/health", meta.MANIFEST})
PREFIXES = (("/api/v1beta", "/v1beta"), ("/api/v1", "/v1"), ("/v1/v1", "/v1"))
"""Paths that begin with the left mean those that begin with the right (9.1)."""
GENERATED_METHODS = "POST, OPTIONS"


class App:
    """The gateway as an ASGI application."""

    def __init__(self, core: Core, extra: Sequence[BaseRoute] = ()) -> None:
        self.core = core
        self._endpoints = Endpoints(core.tables.registry.formats.values())
        self._router = Router([*meta.routes(core), *catalog.routes(core), *extra])
        self._origin = core.environment.base_url or core.environment.next_public_base_url or ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": "No such socket"})
        elif scope["type"] == "lifespan":
            await _lifespan(receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = plain_path(scope["path"].removeprefix(scope.get("root_path", "")))
        scope["path"], scope["root_path"] = path, ""
        found = self._endpoints.find(path)
        if found is None:
            await self._other(scope, receive, send)
            return
        route, parameters = found
        headers = headers_of(scope)
        if scope["method"] != "POST":
            await self._method(route, scope, receive, send)
        elif not is_local(scope, headers, self._origin):
            await self._remote(scope, receive, send)
        else:
            await infer(self.core, route, parameters, scope, headers, receive, send)

    async def _other(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Routes that are not inference: everything but the public ones is for local callers."""
        scope[REQUEST_ID] = self.core.new_id()
        path = scope["path"]
        if path.startswith("/api") and _is_malformed(scope.get("raw_path", b"")):
            await flat_error("Unauthorized", 401, scope[REQUEST_ID])(scope, receive, send)
        elif path not in PUBLIC and not is_local(scope, headers_of(scope), self._origin):
            await self._remote(scope, receive, send)
        elif answer := self._about_method(scope):
            await answer(scope, receive, send)
        else:
            await self._routed(scope, receive, send)

    async def _routed(self, scope: Scope, receive: Receive, send: Send) -> None:
        for route in self._router.routes:
            match, child = route.matches(scope)
            if match is Match.FULL:
                scope.update(child)
                await route.handle(scope, receive, send)
                return
        await (await meta.unknown(Request(scope)))(scope, receive, send)

    def _about_method(self, scope: Scope) -> Response | None:
        """The answer to OPTIONS, and to a method that the path does not have."""
        methods = self._methods(scope)
        if not methods or scope["method"] in methods:
            return None
        allow = ", ".join(sorted({*methods, "OPTIONS"}))
        if scope["method"] == "OPTIONS":
            return Response(status_code=204, headers={"allow": allow})
        refused = flat_error("Method not allowed", 405, scope[REQUEST_ID])
        refused.headers["allow"] = allow
        return refused

    def _methods(self, scope: Scope) -> set[str]:
        found: set[str] = set()
        for route in self._router.routes:
            if route.matches(scope)[0] is not Match.NONE:
                found |= set(getattr(route, "methods", None) or ())
        return found

    async def _method(self, route: Route, scope: Scope, receive: Receive, send: Send) -> None:
        """An inference path with another method: probes are answered, the rest is refused."""
        request_id = self.core.new_id()
        if scope["method"] in ("OPTIONS", "HEAD"):
            status = 204 if scope["method"] == "OPTIONS" else 200
            await Response(status_code=status, headers={"allow": GENERATED_METHODS})(
                scope, receive, send
            )
            return
        error = MethodNotAllowed(f"Use POST for {scope['path']}")
        body = client_side(route.wire).write_error(error, request_id)
        headers = {"allow": GENERATED_METHODS, "x-request-id": request_id}
        await Response(body, 405, headers, "application/json")(scope, receive, send)

    async def _remote(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = flat_error(REMOTE, 401, scope.get(REQUEST_ID) or self.core.new_id())
        await answer(scope, receive, send)


_malformed = re.compile(rb"%(?![0-9A-Fa-f]{2})|%(?:00|2[eEfF]|5[cC])").search


def _is_malformed(raw_path: bytes) -> bool:
    """Whether a path hides something from whoever compares it: such a one is refused."""
    path = raw_path.partition(b"?")[0]
    if _malformed(path):
        return True
    try:
        unquote_to_bytes(path).decode()
    except UnicodeDecodeError:
        return True
    return False


def plain_path(path: str) -> str:
    """A path without the prefixes and the last slash that change nothing about its meaning."""
    for _ in range(4):
        before = path
        for prefix, meaning in PREFIXES:
            if path.startswith(prefix) and path[len(prefix) : len(prefix) + 1] in ("/", ""):
                path = meaning + path[len(prefix) :]
        if path == before:
            break
    return path.rstrip("/") if len(path) > 1 and path.endswith("/") else path


async def _lifespan(receive: Receive, send: Send) -> None:
    """The gateway is open already when it is served: there is nothing to do but to say so."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
