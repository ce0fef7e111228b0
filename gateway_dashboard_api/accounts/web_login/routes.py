"""The assisted login at vendors whose accounts are a cookie: the dashboard's side (A.1)."""

from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from gateway_core.contracts.errors import BadRequest, NotFound
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import NO_STORE, json_answer
from gateway_core.identity.access import Access
from gateway_core.identity.web_login import login_origin
from gateway_core.storage.moments import iso
from gateway_core.storage.stores.connection import Connection

from ...admin_context import AdminContext
from ...endpoint import endpoint
from ...requests import read_json, read_query
from ..bodies import ChangedConnectionBody, NewConnectionBody
from ..changes import build_change, build_connection, read_provider_data
from ..owners import owner_of
from ..routes import connection_of
from ..views import connection_row_for
from .pages import page_routes
from .sign_ins import BOOTSTRAP, GONE, SignIns

PATH = "/api/providers/web-login"


class StartBody(Struct, frozen=True):
    provider: str
    """Its id, or another of its names."""


class SignInBody(Struct, frozen=True):
    id: str


class FinishBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """The new account's name, or the account whose cookie is replaced."""

    id: str
    name: str = ""
    connection_id: str | None = None


class SignInQuery(Struct, frozen=True):
    id: str


class GrantQuery(Struct, frozen=True):
    grant: str


class StartedAnswer(Struct, frozen=True, kw_only=True, rename="camel"):
    id: str
    """Names the sign-in in the other calls."""
    grant: str
    """Opens one browser once."""
    url: str
    """Where to send the browser."""
    expires_at: str
    """When the grant ends."""


class StateAnswer(Struct, frozen=True, kw_only=True, rename="camel"):
    provider: str
    state: str
    """``waiting`` for the browser, ``open`` or ``captured``."""
    expires_at: str


class DoneAnswer(Struct, frozen=True):
    success: bool = True


def routes(admin: AdminContext) -> list[Guarded]:
    sign_ins = SignIns(admin.core, lambda: admin.core.clock())
    dashboard_side = DashboardSide(sign_ins)
    return [*dashboard_side.routes(admin), *page_routes(admin, sign_ins)]


class DashboardSide:
    """The dashboard's requests while a browser signs in on the other host."""

    def __init__(self, sign_ins: SignIns) -> None:
        self._sign_ins = sign_ins

    def routes(self, admin: AdminContext) -> list[Guarded]:
        def route(method: str, name: str, handler: Any, purpose: str, **more: Any) -> Guarded:
            path = f"{PATH}/{name}"
            return endpoint(admin, method, path, handler, purpose, access=Access.OPERATOR, **more)

        example = {"id": "the id that start gave"}
        return [
            route(
                *("POST", "start", self.start, "start the assisted login"),
                body=StartBody,
                answer=StartedAnswer,
                example={"provider": "the provider's id"},
            ),
            route(
                *("GET", "status", self.status, "read the state of the assisted login"),
                query=SignInQuery,
                answer=StateAnswer,
            ),
            route(
                *("POST", "finish", self.finish, "save the account of the assisted login"),
                body=FinishBody,
                answer=dict[str, Any],
                status=201,
                example={**example, "name": "main"},
            ),
            route(
                *("POST", "cancel", self.cancel, "cancel the assisted login"),
                body=SignInBody,
                answer=DoneAnswer,
                example=example,
            ),
            route(
                *("GET", "popup", self.popup, "open the assisted login"),
                query=GrantQuery,
                status=303,
                media="",
            ),
        ]

    async def start(self, admin: AdminContext, request: Request) -> Response:
        body = await read_json(request, StartBody)
        origin = require_login_origin(admin)
        spec = admin.spec(admin.provider_id(body.provider.strip()))
        if spec is None or spec.web_login is None:
            raise BadRequest("This provider has no assisted login", code="no_web_login")
        started = await self._sign_ins.start(spec.id)
        answer = StartedAnswer(
            id=started.id,
            grant=started.grant,
            url=f"{origin}{BOOTSTRAP}?grant={started.grant}",
            expires_at=iso(started.grant_expires_at),
        )
        return json_answer(answer)

    async def status(self, admin: AdminContext, request: Request) -> Response:
        sign_in = await self._sign_ins.by_id(read_query(request, SignInQuery).id)
        if sign_in is None:
            raise NotFound(GONE)
        answer = StateAnswer(
            provider=sign_in.provider, state=sign_in.state, expires_at=iso(sign_in.expires_at)
        )
        return json_answer(answer)

    async def cancel(self, admin: AdminContext, request: Request) -> Response:
        body = await read_json(request, SignInBody)
        if not await self._sign_ins.end(body.id):
            raise NotFound(GONE)
        return json_answer(DoneAnswer())

    async def popup(self, admin: AdminContext, request: Request) -> Response:
        """Redirect the dashboard's popup to the login's host."""
        grant = read_query(request, GrantQuery).grant
        origin = require_login_origin(admin)
        if not await self._sign_ins.is_granted(grant):
            raise NotFound("There is no such grant, or it has expired")
        return RedirectResponse(f"{origin}{BOOTSTRAP}?grant={grant}", 303, NO_STORE)

    async def finish(self, admin: AdminContext, request: Request) -> Response:
        body = await read_json(request, FinishBody)
        await admin.audit(request, "web-login.finish", body.connection_id or body.name)
        async with admin.writing(), self._sign_ins.finishing(body.id) as (provider, cookies):
            saved = await _save(admin, body, provider, cookies)
        return json_answer({"connection": connection_row_for(admin, request, saved)}, 201)


def require_login_origin(admin: AdminContext) -> str:
    """Return the origin of assisted logins. Raises BadRequest when they are off."""
    configured = admin.core.environment.web_login_origin
    origin = login_origin(configured, admin.core.identity.public_origin)
    if not origin:
        raise BadRequest(
            "Assisted login is off: set GATEWAY_WEB_LOGIN_ORIGIN to an origin of its own, "
            "or save the cookie by hand",
            code="web_login_off",
        )
    return origin


async def _save(admin: AdminContext, body: FinishBody, provider: str, cookies: str) -> Connection:
    """Store the account with its new credential. Raises BadRequest, NotFound, Conflict."""
    owner = await owner_of(admin, provider)
    if body.connection_id is None:
        body_of_new = NewConnectionBody(provider=provider, name=body.name, api_key=cookies)
        data = read_provider_data(body_of_new, owner, admin.snapshot.pools)
        return await admin.stores.connections.create(build_connection(body_of_new, owner, data))
    before = await connection_of(admin, body.connection_id)
    if before.provider != provider:
        raise BadRequest("The account belongs to another provider")
    changed = ChangedConnectionBody(api_key=cookies, is_active=True)
    changes = build_change(before, changed, owner, {}, iso(admin.core.clock()))
    return await admin.stores.connections.update(before.id, changes)
