"""Who is signed in: beginning a session, listing sessions, and ending them."""

from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_administration.sign_in.passwords import new_epoch
from gateway_administration.stores.sessions import SessionRow
from gateway_core.contracts.errors import NotFound
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.identity.caller import Session
from gateway_core.identity.credentials import COOKIE, is_tunnel
from gateway_core.identity.sessions import LIFETIME, id_of
from gateway_core.pipeline.client_response import headers_of
from gateway_core.storage.moments import iso

from ..admin_context import AdminContext
from ..answers import Success
from ..endpoint import endpoint
from .cookies import clear_cookie, set_cookie

PATH = "/api/auth/sessions"
LONGEST_AGENT = 200
"""Characters of a browser's name for itself that are kept."""


class ListedSession(Struct, frozen=True, kw_only=True, rename="camel"):
    """A session; ``current`` is that of the caller. Times are UTC ISO text."""

    id: str
    method: str
    name: str | None
    email: str | None
    address: str
    user_agent: str
    through_tunnel: bool
    created_at: str
    expires_at: str
    current: bool


class SessionList(Struct, frozen=True):
    sessions: tuple[ListedSession, ...]


def routes(admin: AdminContext) -> list[Guarded]:
    one = PATH + "/{id}"
    operator: dict[str, Any] = {"access": Access.OPERATOR}
    return [
        endpoint(admin, "GET", PATH, list_all, "list sessions", answer=SessionList, **operator),
        endpoint(admin, "DELETE", PATH, end_all, "end every session", answer=Success, **operator),
        endpoint(admin, "DELETE", one, end, "end the session", answer=Success, **operator),
    ]


async def begin_session(
    admin: AdminContext, request: Request, answer: Response, session: Session
) -> None:
    """Give the caller a session like this one. Raises NoSecret."""
    token = admin.core.sessions.issue(method=session.method, name=session.name, email=session.email)
    headers, settings = headers_of(request.scope), admin.snapshot.settings
    now = admin.core.clock()
    await admin.own_stores.sessions.add(
        SessionRow(
            id=id_of(token),
            method=session.method,
            name=session.name,
            email=session.email,
            address=admin.caller(request).peer.address,
            user_agent=headers.get("user-agent", "")[:LONGEST_AGENT],
            through_tunnel=is_tunnel(headers, settings),
            epoch=settings.password_session_epoch,
            created_at=iso(now),
            expires_at=int(now) + LIFETIME,
        )
    )
    set_cookie(admin, request, answer, COOKIE, token, LIFETIME)


async def list_all(admin: AdminContext, request: Request) -> Response:
    own = admin.caller(request).session
    sessions = tuple(
        ListedSession(
            id=row.id,
            method=row.method,
            name=row.name,
            email=row.email,
            address=row.address,
            user_agent=row.user_agent,
            through_tunnel=row.through_tunnel,
            created_at=row.created_at,
            expires_at=iso(row.expires_at),
            current=own is not None and own.id == row.id,
        )
        for row in await _rows(admin)
    )
    return json_answer(SessionList(sessions))


async def end(admin: AdminContext, request: Request) -> Response:
    """End one session, for every copy of its token."""
    identity = request.path_params["id"]
    row = next((row for row in await _rows(admin) if row.id == identity), None)
    if row is None:
        raise NotFound("Session not found")
    await admin.audit(request, "session.end", identity)
    async with admin.writing():
        await admin.stores.ended_sessions.add(row.id, row.expires_at)
    return json_answer(Success())


async def end_all(admin: AdminContext, request: Request) -> Response:
    """End every session, the caller's too, and every login that waits for its second factor."""
    await admin.audit(request, "session.end-all")
    async with admin.writing():
        await admin.stores.settings.patch({"passwordSessionEpoch": new_epoch()})
    answer = json_answer(Success())
    clear_cookie(admin, request, answer, COOKIE)
    return answer


async def end_tunneled(admin: AdminContext) -> None:
    """End the sessions that began through the tunnel. Called while writing."""
    for row in await _rows(admin):
        if row.through_tunnel:
            await admin.stores.ended_sessions.add(row.id, row.expires_at)


async def _rows(admin: AdminContext) -> tuple[SessionRow, ...]:
    return await admin.own_stores.sessions.list(admin.snapshot.settings.password_session_epoch)
