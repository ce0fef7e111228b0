"""The ASGI application: one gate, one look-up, and whoever serves the path.

Inference endpoints are found first and served without a middleware stack;
everything else goes through Starlette's routes. Gate and routes compare the
same path (``identity/targets.py``), and a route that is not in the table of
access is shut.
"""

import logging
from collections.abc import Awaitable, Iterable, Mapping
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from ..contracts.asgi import (
    ON_DISCONNECT,
    REPEATED_HEAD,
    DirectWriter,
    Message,
    Receive,
    RepeatedHead,
    Scope,
    Send,
)
from ..contracts.errors import GatewayError, InvalidKey, MethodNotAllowed
from ..identity.access import Access, permit
from ..identity.caller import Caller
from ..identity.credentials import CALLER, check_origin, own_origin
from ..identity.peers import PEER, Peer, host_of, stamp
from ..identity.targets import check_host, path_of
from ..identity.web_login import isolated_host
from ..pipeline import fast_path
from ..pipeline.client_response import drained, headers_of
from ..pipeline.context import Core
from ..pipeline.exchanges import client_side
from ..pipeline.pipeline import infer
from ..pipeline.request_head import AdmittedHead, EndpointRoute, read_request_head
from . import meta, models
from .endpoints import Endpoints, Found
from .operations import Guarded
from .requests import REQUEST_ID
from .responses import NO_STORE, flat_error

CLIENT_PATHS = ("/v1/", "/v1beta/", "/codex/", "/responses/")
"""Where a path that nobody serves is a client's mistake."""
GENERATED_METHODS = "POST, OPTIONS"
NEVER = frozenset({"TRACE", "CONNECT"})
"""Methods that nobody answers."""

log = logging.getLogger(__name__)


class App:
    """The gateway as an ASGI application."""

    def __init__(self, core: Core, extra: Iterable[Guarded] = ()) -> None:
        self.core = core
        self.routes = (*meta.routes(core), *models.routes(core), *extra)
        self._endpoints = Endpoints(core.snapshot.registry.formats.values())
        self._isolated_host = _isolated_host(core)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            answering = bodiless(send) if scope["method"] == "HEAD" else send
            await self._http(scope, receive, answering)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": "No such socket"})
        elif scope["type"] == "lifespan":
            await _lifespan(receive, send)

    def _http(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Who answers a request. Nothing is waited for here: what a stream's task passes
        through each time it wakes is better short."""
        kept: RepeatedHead | None = scope.get(REPEATED_HEAD)
        if kept is not None and isinstance(kept.made, AdmittedHead):
            head = kept.made.renew(self.core.identity, kept.length)
            if head is not None:
                return infer(self.core, head, scope, receive, send)
        headers = headers_of(scope)
        peer = stamp(scope, headers)
        try:
            check_host(scope, headers)
            if self._isolated_host and host_of(headers["host"]) == self._isolated_host:
                return self._isolated(scope, peer, receive, send)
            scope["path"], scope["root_path"] = path_of(scope), ""
            if scope["method"] in NEVER:
                raise MethodNotAllowed("Method not allowed")
        except GatewayError as error:
            return self._refuse(error, scope, receive, send)
        found = self._endpoints.find(scope["path"])
        if found is None:
            return self._other(scope, headers, receive, send)
        return self._infer(found, scope, headers, receive, send)

    def _infer(
        self,
        found: Found,
        scope: Scope,
        headers: dict[str, str],
        receive: Receive,
        send: Send,
    ) -> Awaitable[None]:
        route, parameters = found
        caller = self.core.identity.client(scope, headers, scope[PEER])
        try:
            permit(Access.INFERENCE, caller)
        except InvalidKey as error:
            return self._answer(route, error, scope, receive, send)
        except GatewayError as error:
            return self._refuse(error, scope, receive, send)
        if scope["method"] != "POST":
            return self._method(route, scope, receive, send)
        head = read_request_head(route, parameters, scope["path"], caller, headers)
        if not caller.was_refused and REPEATED_HEAD in scope:
            scope[REPEATED_HEAD].made = AdmittedHead(head, self.core.identity.keys.changes)
        return infer(self.core, head, scope, receive, send)

    def at_once(
        self, kept: RepeatedHead, body: bytes, outlet: DirectWriter
    ) -> fast_path.Driver | None:
        """Begin to serve a request whose head came before without a task, where that can be.

        ``outlet`` is for its answer, or for the task that goes on with it.
        """
        if not isinstance(kept.made, AdmittedHead):
            return None
        head = kept.made.renew(self.core.identity, kept.length)
        if head is None:
            return None
        return fast_path.begin(self.core, head, body, outlet)

    async def _isolated(self, scope: Scope, peer: Peer, receive: Receive, send: Send) -> None:
        """The host of assisted logins: whatever is not theirs is not there."""
        receive, send = _patient(scope, receive, send)
        scope[REQUEST_ID] = self.core.new_id()
        scope[CALLER] = Caller(peer=peer)
        try:
            scope["path"], scope["root_path"] = path_of(scope), ""
            found = self._find(scope, isolated=True)
        except GatewayError:
            found = None
        if found is None:
            absent = flat_error("Not found", 404, scope[REQUEST_ID], code="not_found")
            await absent(scope, receive, send)
        else:
            await found.route.handle(scope, receive, send)

    async def _other(
        self, scope: Scope, headers: dict[str, str], receive: Receive, send: Send
    ) -> None:
        """Routes that are not inference. One that is not in the table is shut."""
        receive, send = _patient(scope, receive, send)
        scope[REQUEST_ID], scope["app"] = self.core.new_id(), self
        found = self._find(scope)
        try:
            scope[CALLER] = self._admitted(found, scope, headers)
        except GatewayError as error:
            await self._refuse(error, scope, receive, send)
            return
        if found is not None:
            await found.route.handle(scope, receive, finished(send, scope[REQUEST_ID]))
        elif answer := self._about_method(scope):
            await answer(scope, receive, send)
        else:
            await (await meta.unknown(Request(scope)))(scope, receive, send)

    def _find(self, scope: Scope, *, isolated: bool = False) -> Guarded | None:
        for guarded in self.routes:
            if (guarded.access is Access.ISOLATED) is not isolated:
                continue
            match, child = guarded.route.matches(scope)
            if match is Match.FULL:
                scope.update(child)
                return guarded
        return None

    def _admitted(self, found: Guarded | None, scope: Scope, headers: dict[str, str]) -> Caller:
        """The caller, once the gate has let them pass. Raises GatewayError."""
        core, access = self.core, self._access(found, scope)
        caller = core.identity.operator(
            scope,
            headers,
            scope[PEER],
            require_login=core.snapshot.settings.require_login,
        )
        permit(access, caller, scope["method"], reveals=_reveals(scope))
        if access not in (Access.PUBLIC, Access.INFERENCE):
            check_origin(caller, headers, own_origin(scope, headers, core.identity.public_origin))
        return caller

    def _access(self, found: Guarded | None, scope: Scope) -> Access:
        """The class of a route; of a path without one, what callers may learn about it."""
        if found is not None:
            return found.access
        known = self._known(scope)
        if known:
            return known[0].access
        is_client = f"{scope['path']}/".startswith(CLIENT_PATHS)
        return Access.INFERENCE if is_client else Access.MANAGEMENT

    def _about_method(self, scope: Scope) -> Response | None:
        """The answer to OPTIONS, and to a method that the path does not have."""
        methods = {m for g in self._known(scope) for m in getattr(g.route, "methods", None) or ()}
        if not methods or scope["method"] in methods:
            return None
        allow = ", ".join(sorted({*methods, "OPTIONS"}))
        if scope["method"] == "OPTIONS":
            return Response(status_code=204, headers=_about(scope[REQUEST_ID], allow))
        refused = flat_error("Method not allowed", 405, scope[REQUEST_ID])
        refused.headers["allow"] = allow
        return refused

    def _known(self, scope: Scope) -> list[Guarded]:
        """The routes of a path, whatever their methods."""
        return [
            guarded
            for guarded in self.routes
            if guarded.access is not Access.ISOLATED
            and guarded.route.matches(scope)[0] is not Match.NONE
        ]

    async def _method(
        self, route: EndpointRoute, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """An inference path with another method: probes are answered, the rest is refused."""
        receive, send = _patient(scope, receive, send)
        if scope["method"] in ("OPTIONS", "HEAD"):
            status = 204 if scope["method"] == "OPTIONS" else 200
            told = _about(self.core.new_id(), GENERATED_METHODS)
            await Response(status_code=status, headers=told)(scope, receive, send)
            return
        error = MethodNotAllowed(f"Use POST for {scope['path']}")
        await self._answer(route, error, scope, receive, send, {"allow": GENERATED_METHODS})

    async def _answer(
        self,
        route: EndpointRoute,
        error: GatewayError,
        scope: Scope,
        receive: Receive,
        send: Send,
        headers: Mapping[str, str] = {},
    ) -> None:
        """Refuse in the client's own format."""
        receive, send = _patient(scope, receive, send)
        request_id = self.core.new_id()
        body = client_side(route.wire).write_error(error, request_id)
        told = {**NO_STORE, **headers, "x-request-id": request_id}
        await Response(body, error.status, told, "application/json")(scope, receive, send)

    async def _refuse(
        self, error: GatewayError, scope: Scope, receive: Receive, send: Send
    ) -> None:
        receive, send = _patient(scope, receive, send)
        request_id = scope.get(REQUEST_ID) or self.core.new_id()
        await flat_error(error.message, error.status, request_id)(scope, receive, send)


def _about(request_id: str, allow: str) -> dict[str, str]:
    """Headers of an answer that only tells which methods there are."""
    return {**NO_STORE, "allow": allow, "x-request-id": request_id}


def _reveals(scope: Scope) -> bool:
    """Whether a request asks for a secret in the clear."""
    if scope["path"].endswith("/reveal"):
        return True
    query: bytes = scope.get("query_string") or b""
    if not query:
        return False
    asked = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    return any(name == "reveal" and value not in ("0", "false") for name, value in asked)


def _isolated_host(core: Core) -> str:
    """The host name of assisted logins; empty, and logged, when it cannot be used."""
    wanted = core.environment.web_login_origin
    host = isolated_host(wanted, core.identity.public_origin)
    if wanted and not host:
        log.warning("GATEWAY_WEB_LOGIN_ORIGIN is not an origin of its own; assisted login is off")
    return host


def finished(send: Send, request_id: str) -> Send:
    """Adds what every answer has, whichever route gives it, where the route says nothing."""
    usual = {**NO_STORE, "x-request-id": request_id}

    async def complete(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            there = {name.decode("latin-1").lower() for name, _ in headers}
            missing = ((n.encode(), v.encode()) for n, v in usual.items() if n not in there)
            message = {**message, "headers": [*headers, *missing]}
        await send(message)

    return complete


def bodiless(send: Send) -> Send:
    """Sends heads only: the answer to HEAD never has a body."""

    async def quiet(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return quiet


async def _lifespan(receive: Receive, send: Send) -> None:
    """The gateway is open already when it is served: there is nothing to do but to say so."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


def _patient(scope: Scope, receive: Receive, send: Send) -> tuple[Receive, Send]:
    """The two for somebody who may answer before they have heard the whole request.

    Our own server copes with that; in another one what the client says next may find nobody, and
    the connection breaks or hangs. The answer goes out at once, and its end waits.
    """
    if ON_DISCONNECT in scope:
        return receive, send
    is_more = True

    async def hear() -> Message:
        nonlocal is_more
        message = await receive()
        is_more = message.get("more_body", False)
        return message

    async def say(message: Message) -> None:
        is_last = message["type"] == "http.response.body" and not message.get("more_body")
        if is_last and is_more:
            await send({**message, "more_body": True})
            await drained(receive)
            message = {**message, "body": b""}
        await send(message)

    return hear, say
