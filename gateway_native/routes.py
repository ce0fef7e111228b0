"""The routes of the facade: ``/v1/native/{provider}/…``, and the direct sessions at their own
paths."""

from collections.abc import Iterable

from msgspec import Struct
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gateway_core import Endpoint, GatewayError, Intake, Operation, ProviderSpec, WireFormat
from gateway_core.http.operations import Guarded, RouteOperation
from gateway_core.http.requests import request_id_of
from gateway_core.http.responses import error_answer
from gateway_core.identity.access import Access
from gateway_core.identity.credentials import CALLER
from gateway_core.pipeline.client_response import headers_of
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.pipeline import drive
from gateway_core.pipeline.request_head import EndpointRoute, read_request_head

from .exchange import NATIVE
from .native_request import PREFIX, NativeRequest, find_request
from .native_run import NativeRun

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
UPLOAD = 200 * 1024 * 1024
"""Largest form; its files are on disk."""
WIRE = WireFormat(id=NATIVE, dialect=NATIVE)
HEADERS = {
    "x-connection-id": "The account to use; operations on what a vendor keeps need it.",
}


class ModelQuery(Struct, frozen=True):
    """``model`` is ``provider/model`` or an alias, where the body does not name it."""

    model: str | None = None


def routes(core: Collaborators, providers: Iterable[ProviderSpec]) -> list[Guarded]:
    """The facade, and each direct session of these providers."""
    facade = Facade(core)
    path = f"{PREFIX}/{{provider}}/{{path:path}}"
    direct = [(spec, each) for spec in providers for each in spec.native if each.direct]
    return [
        _guarded(path, facade, METHODS, "call a vendor's own API"),
        *(
            _guarded(each.path, DirectSession(core, spec), ("POST",), "open a direct session")
            for spec, each in direct
        ),
    ]


class Facade:
    """Serves the allowed operations of every vendor."""

    def __init__(self, core: Collaborators) -> None:
        self._core = core

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        parameters = scope["path_params"]
        await self.serve(parameters["provider"], f"/{parameters['path']}", scope, receive, send)

    async def serve(
        self, provider: str, path: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer a call below a vendor's origin."""
        core = self._core
        providers, method = core.snapshot.registry.providers, scope["method"]
        query = (scope.get("query_string") or b"").decode("latin-1")
        try:
            request = find_request(providers, provider, method, path, query)
        except GatewayError as error:
            request_id = request_id_of(Request(scope))
            await error_answer(error, request_id)(scope, receive, send)
            return
        await _run(core, request, scope, receive, send)


class DirectSession(Facade):
    """Serves one vendor's operations at their own paths."""

    def __init__(self, core: Collaborators, spec: ProviderSpec) -> None:
        super().__init__(core)
        self._provider = spec.id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.serve(self._provider, scope["path"], scope, receive, send)


async def _run(
    core: Collaborators, request: NativeRequest, scope: Scope, receive: Receive, send: Send
) -> None:
    route = EndpointRoute(endpoint_of(request.provider, request.operation), WIRE)
    head = read_request_head(
        route, request.parameters, scope["path"], scope[CALLER], headers_of(scope)
    )
    run: NativeRun = core.run_type(NativeRun)(core, head, request)
    core.in_flight.begin(run.record)
    try:
        await drive(run, scope, receive, send)
    finally:
        await run.ownership.settle()


def endpoint_of(spec: ProviderSpec, operation: Operation) -> Endpoint:
    """An operation as the pipeline knows it."""
    return Endpoint(
        path=f"{PREFIX}/{spec.id}{operation.path}",
        read=_unread,
        kind=NATIVE,
        title="native calls",
        body=operation.body,
        form_limit=UPLOAD,
        fallback="never" if operation.creates is not None or operation.pinned else "accounts",
        shows_account=operation.shows_account,
    )


def _unread(*_: object) -> Intake:
    raise AssertionError("a native call is read by its run")


def _guarded(path: str, app: Facade, methods: tuple[str, ...], purpose: str) -> Guarded:
    operations = tuple(
        RouteOperation(
            method=method,
            path=path,
            access=Access.INFERENCE,
            purpose=purpose,
            query=ModelQuery,
            headers=HEADERS,
        )
        for method in methods
    )
    return Guarded(Route(path, app, methods=list(methods)), Access.INFERENCE, operations)
