"""The ASGI application: one access check, one look-up, and the route of the path.

Inference endpoints are found first and served without a middleware stack;
everything else goes through Starlette's routes. The access check and the routes
compare the same path (``identity/targets.py``), and a route without a class of
access is refused.
"""

import asyncio
import logging
from collections.abc import Awaitable, Collection, Iterable, Iterator, Mapping
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
from ..contracts.errors import (
    BadRequest,
    GatewayError,
    InvalidKey,
    MethodNotAllowed,
    Unauthorized,
    Unavailable,
    UnknownRoute,
)
from ..identity.access import CLIENT, Access, permit
from ..identity.caller import Caller
from ..identity.credentials import CALLER, check_origin, own_origin
from ..identity.cross_origin import SHARED, preflight_headers
from ..identity.peers import PEER, Peer, host_of, stamp
from ..identity.targets import check_host, path_of
from ..identity.web_login import isolated_host
from ..pipeline import fast_path
from ..pipeline.client_response import drained, headers_of
from ..pipeline.context import Collaborators
from ..pipeline.error_bodies import write_error
from ..pipeline.pipeline import infer
from ..pipeline.request_head import AdmittedHead, EndpointRoute, read_request_head
from . import meta, models
from .endpoints import Endpoints
from .operations import Deferred, Guarded
from .requests import REQUEST_ID
from .responses import NO_STORE, deny_socket, flat_error

CLIENT_PATHS = ("/v1/", "/v1beta/", "/codex/", "/responses/")
"""Prefixes under which a path without a route is answered as a client path."""
REASONING = "x-gateway-reasoning"
"""The header with which a client asks for whole answers without their thinking."""
NEVER = frozenset({"TRACE", "CONNECT"})
"""Methods that no path has."""

log = logging.getLogger(__name__)


class App:
    """The gateway as an ASGI application."""

    def __init__(self, core: Collaborators, extra: Iterable[Guarded | Deferred] = ()) -> None:
        self.core = core
        self._routes: tuple[Guarded | Deferred, ...] = (
            *(*meta.routes(core), *models.routes(core), *extra),
        )
        self._endpoints = Endpoints(core.snapshot.registry.formats.values())
        self._isolated_host = _isolated_host(core)

    @property
    def routes(self) -> tuple[Guarded, ...]:
        """Every route beside the inference endpoints."""
        for each in self._routes:
            if isinstance(each, Deferred):
                self._take(each, each.make())
        return tuple(self._made())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            if scope["method"] == "HEAD":
                send = bodiless(send)
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        elif scope["type"] == "lifespan":
            # The gateway is opened before it is served: both events are complete at once.
            message: Message = scope
            while message["type"] != "lifespan.shutdown":
                message = await receive()
                await send({"type": f"{message['type']}.complete"})

    def _http(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Choose what answers a request.

        It is not a coroutine: a stream's task resumes through every coroutine between the server
        and itself each time it wakes.
        """
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
        matched = self._endpoints.find(scope["path"])
        if matched is None:
            return self._other(scope, headers, receive, send)
        route, parameters = matched
        if scope["method"] == "OPTIONS":
            return self._preflight(f"{route.endpoint.method}, OPTIONS", scope, receive, send)
        caller = self.core.identity.client(scope, headers, scope[PEER])
        try:
            permit(Access.INFERENCE, caller)
        except InvalidKey as error:
            log_bad_key(caller)
            return self._answer(route, error, scope, receive, send, SHARED)
        except GatewayError as error:
            return self._refuse(error, scope, receive, send)
        if scope["method"] != route.endpoint.method:
            shared = SHARED if caller.has_shown else {}
            return self._method(route, scope, receive, send, shared)
        if route.endpoint.query:
            parameters = {**parameters, **query_parameters(scope, route.endpoint.query)}
        if self.core.environment.strip_reasoning:
            headers[REASONING] = "off"
        head = read_request_head(route, parameters, scope["path"], caller, headers)
        if not caller.was_refused and REPEATED_HEAD in scope:
            scope[REPEATED_HEAD].made = AdmittedHead(head, self.core.identity.keys.changes)
        return infer(self.core, head, scope, receive, send)

    def serve_endpoint(
        self, path: str, caller: Caller, scope: Scope, receive: Receive, send: Send
    ) -> Awaitable[None]:
        """Serve a request as that of a client endpoint, to a caller whom another route let in.

        Credentials that the request shows do not count. Raises UnknownRoute, MethodNotAllowed.
        """
        matched = self._endpoints.find(path)
        if matched is None:
            raise UnknownRoute(path)
        (route, parameters), headers = matched, headers_of(scope)
        if scope["method"] != route.endpoint.method:
            raise MethodNotAllowed(f"Use {route.endpoint.method} for {path}")
        parameters = {**parameters, **query_parameters(scope, route.endpoint.query)}
        if self.core.environment.strip_reasoning:
            headers[REASONING] = "off"
        head = read_request_head(route, parameters, path, caller, headers)
        return infer(self.core, head, scope, receive, send)

    def begin_directly(
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
        """Answer at the host of assisted logins, where no other route exists."""
        receive, send = _patient(scope, receive, send)
        scope[REQUEST_ID] = self.core.new_id()
        scope[CALLER] = Caller(peer=peer)
        try:
            scope["path"], scope["root_path"] = path_of(scope), ""
            guarded = await self._find(scope, isolated=True)
        except GatewayError:
            guarded = None
        if guarded is None:
            response = flat_error("Not found", 404, scope[REQUEST_ID], code="not_found")
            await response(scope, receive, send)
        else:
            await guarded.route.handle(scope, receive, send)

    async def _other(
        self, scope: Scope, headers: dict[str, str], receive: Receive, send: Send
    ) -> None:
        """Answer from the routes that are not inference."""
        receive, send = _patient(scope, receive, send)
        request_id = scope[REQUEST_ID] = self.core.new_id()
        scope["app"] = self
        guarded = await self._find(scope)
        access = self._access(guarded, scope)
        methods = {m for g in self._known(scope) for m in getattr(g.route, "methods", None) or ()}
        allow = ", ".join(sorted({*methods, "OPTIONS"}))
        is_for_clients = access in CLIENT or is_client_path(scope)
        if scope["method"] == "OPTIONS" and guarded is None and is_for_clients:
            await self._preflight(allow, scope, receive, send)
            return
        shared: Mapping[str, str] = {}
        try:
            caller = scope[CALLER] = self.core.identity.operator(
                scope,
                headers,
                scope[PEER],
                self.core.snapshot.settings,
            )
            shared = SHARED if caller.has_shown and is_for_clients else {}
            self._admit(access, caller, scope, headers)
        except GatewayError as error:
            if scope["method"] != "OPTIONS":
                await self._refuse(error, scope, receive, send, shared)
                return
            # Answered like any other path, so that none can be guessed, and never by the route.
            guarded, methods, allow = None, {"GET"}, "OPTIONS"
        send = finished(send, request_id, shared)
        if guarded is not None:
            await guarded.route.handle(scope, receive, send)
            return
        if not methods or scope["method"] in methods:
            response = await meta.unknown(Request(scope))
        elif scope["method"] == "OPTIONS":
            response = Response(status_code=204, headers=_method_headers(request_id, allow))
        else:
            response = flat_error("Method not allowed", 405, request_id)
            response.headers["allow"] = allow
        await response(scope, receive, send)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a WebSocket on to its route, if the class of it lets the caller pass."""
        headers = headers_of(scope)
        peer = stamp(scope, headers)
        scope[REQUEST_ID], scope["app"], scope[PEER] = self.core.new_id(), self, peer
        try:
            check_host(scope, headers)
            scope["path"], scope["root_path"] = path_of(scope), ""
            guarded = await self._find(scope)
            is_isolated = self._isolated_host and host_of(headers["host"]) == self._isolated_host
            if guarded is None or is_isolated:
                raise UnknownRoute(scope["path"])
            if self.core.state.is_full:
                raise Unavailable("The gateway is short of memory; try again", retry_after=1)
            if not guarded.admits:
                settings = self.core.snapshot.settings
                caller = self.core.identity.operator(scope, headers, peer, settings)
                scope[CALLER] = caller
                self._admit(guarded.access, caller, scope, headers)
        except GatewayError as error:
            await deny_socket(scope, receive, send, error)
        else:
            await guarded.route.handle(scope, receive, send)

    async def _find(self, scope: Scope, *, isolated: bool = False) -> Guarded | None:
        for each in self._routes:
            if isinstance(each, Deferred):
                if scope["path"].startswith(each.below):
                    self._take(each, await asyncio.to_thread(each.make))
                    return await self._find(scope, isolated=isolated)
                continue
            if (each.access is Access.ISOLATED) is not isolated:
                continue
            match, child = each.route.matches(scope)
            if match is Match.FULL:
                scope.update(child)
                return each
        return None

    def _made(self) -> Iterator[Guarded]:
        return (each for each in self._routes if isinstance(each, Guarded))

    def _take(self, deferred: Deferred, routes: Iterable[Guarded]) -> None:
        """Put routes in their place, unless another request has done so meanwhile."""
        if deferred in self._routes:
            at = self._routes.index(deferred)
            self._routes = (*self._routes[:at], *routes, *self._routes[at + 1 :])

    def _access(self, guarded: Guarded | None, scope: Scope) -> Access:
        """The class of a path."""
        if guarded is not None or (guarded := next(iter(self._known(scope)), None)):
            return guarded.access
        # A path without a route is refused like those beside it, so that none can be guessed.
        return Access.INFERENCE if is_client_path(scope) else Access.MANAGEMENT

    def _admit(self, access: Access, caller: Caller, scope: Scope, headers: dict[str, str]) -> None:
        """Let the caller pass, if the class of the route does. Raises GatewayError."""
        core, path = self.core, scope["path"]
        query = (scope.get("query_string") or b"").decode("latin-1")
        reveals = path.endswith("/reveal") or any(
            name == "reveal" and value not in ("0", "false")
            for name, value in parse_qsl(query, keep_blank_values=True)
        )
        try:
            # What is sent over a WebSocket may change anything.
            permit(access, caller, scope.get("method", "WEBSOCKET"), reveals=reveals)
        except Unauthorized:
            log_bad_key(caller)
            raise
        if access not in (Access.PUBLIC, Access.INFERENCE):
            check_origin(caller, headers, own_origin(scope, headers, core.identity.public_origin))

    def _known(self, scope: Scope) -> list[Guarded]:
        """The routes of a path, whatever their methods."""
        return [
            guarded
            for guarded in self._made()
            if guarded.access is not Access.ISOLATED
            and guarded.route.matches(scope)[0] is not Match.NONE
        ]

    async def _preflight(self, allow: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Say what a page of any origin may ask of a client path."""
        receive, send = _patient(scope, receive, send)
        headers = {**_method_headers(self.core.new_id(), allow), **preflight_headers(allow)}
        await Response(status_code=204, headers=headers)(scope, receive, send)

    async def _method(
        self,
        route: EndpointRoute,
        scope: Scope,
        receive: Receive,
        send: Send,
        shared: Mapping[str, str],
    ) -> None:
        """An inference path with another method: a probe is answered, the rest is refused."""
        receive, send = _patient(scope, receive, send)
        allow = f"{route.endpoint.method}, OPTIONS"
        if scope["method"] == "HEAD":
            headers = {**_method_headers(self.core.new_id(), allow), **shared}
            await Response(headers=headers)(scope, receive, send)
            return
        error: GatewayError = MethodNotAllowed(f"Use {route.endpoint.method} for {scope['path']}")
        if route.endpoint.wrong_method:
            error = BadRequest(route.endpoint.wrong_method)
        await self._answer(route, error, scope, receive, send, {"allow": allow, **shared})

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
        body = write_error(route.wire, error, request_id)
        headers = {**NO_STORE, **headers, "x-request-id": request_id}
        await Response(body, error.status, headers, "application/json")(scope, receive, send)

    async def _refuse(
        self,
        error: GatewayError,
        scope: Scope,
        receive: Receive,
        send: Send,
        headers: Mapping[str, str] = {},
    ) -> None:
        receive, send = _patient(scope, receive, send)
        request_id = scope.get(REQUEST_ID) or self.core.new_id()
        response = flat_error(error.message, error.status, request_id)
        response.headers.update(headers)
        await response(scope, receive, send)


def is_client_path(scope: Scope) -> bool:
    return f"{scope['path']}/".startswith(CLIENT_PATHS)


def query_parameters(scope: Scope, names: Collection[str]) -> dict[str, str]:
    """The query parameters of these names; of a repeated one the last."""
    query = (scope.get("query_string") or b"").decode("latin-1")
    return {n: value for n, value in parse_qsl(query, keep_blank_values=True) if n in names}


def log_bad_key(caller: Caller) -> None:
    """Leave a line that a program can ban an address by; its words stay as they are."""
    if caller.has_shown:
        log.warning("a request was refused: invalid API key from %s", caller.peer.address)


def _method_headers(request_id: str, allow: str) -> dict[str, str]:
    """Headers of an answer that only lists the methods of a path."""
    return {**NO_STORE, "allow": allow, "x-request-id": request_id}


def _isolated_host(core: Collaborators) -> str:
    """The host name of assisted logins; empty, and logged, when it cannot be used."""
    origin = core.environment.web_login_origin
    host = isolated_host(origin, core.identity.public_origin)
    if origin and not host:
        log.warning("GATEWAY_WEB_LOGIN_ORIGIN is not an origin of its own; assisted login is off")
    return host


def finished(send: Send, request_id: str, shared: Mapping[str, str]) -> Send:
    """Adds the headers of every response where the route has not set them."""
    defaults = {**NO_STORE, "x-request-id": request_id, **shared}

    async def send_with_defaults(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            names = {name.decode("latin-1").lower() for name, _ in headers}
            missing = ((n.encode(), v.encode()) for n, v in defaults.items() if n not in names)
            message = {**message, "headers": [*headers, *missing]}
        await send(message)

    return send_with_defaults


def bodiless(send: Send) -> Send:
    """Sends heads only: a response to HEAD has no content (RFC 9110, section 9.3.2)."""

    async def send_without_body(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return send_without_body


def _patient(scope: Scope, receive: Receive, send: Send) -> tuple[Receive, Send]:
    """Both callables for a response that may be sent before the whole request has been read.

    The server with ``ON_DISCONNECT`` copes with that; in another one the unread rest of the body
    may break or hang the connection. The response goes out at once, its end after the body.
    """
    if ON_DISCONNECT in scope:
        return receive, send
    is_more = True

    async def receive_next() -> Message:
        nonlocal is_more
        message = await receive()
        is_more = message.get("more_body", False)
        return message

    async def send_after_body(message: Message) -> None:
        is_last = message["type"] == "http.response.body" and not message.get("more_body")
        if is_last and is_more:
            await send({**message, "more_body": True})
            await drained(receive)
            message = {**message, "body": b""}
        await send(message)

    return receive_next, send_after_body
