"""Checks and responses that every step of signing in shares."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from gateway_administration.sign_in.passwords import check_length, is_initial
from gateway_core.config.settings import Settings
from gateway_core.contracts.errors import Conflict, Forbidden, Unauthorized, Unavailable
from gateway_core.http.requests import request_id_of
from gateway_core.http.responses import flat_error, json_answer
from gateway_core.identity.caller import Session
from gateway_core.identity.credentials import is_same_origin, is_tunnel
from gateway_core.identity.peers import UNKNOWN, plain_address
from gateway_core.pipeline.client_response import headers_of

from ..admin_context import AdminContext
from .cookies import origin
from .lockout import HINT, LockedOut, LoginAttempt, bucket
from .session_list import begin_session

SIGNED_IN = "session.start"
REFUSED = "a sign-in was refused: wrong credential from %s"
LOCKED = "a sign-in was refused: %s is locked out"
"""Lines that a program may look for, so their words stay as they are; see docs/login.md."""
log = logging.getLogger(__name__)
Handler = Callable[[AdminContext, Request], Awaitable[Response]]
_NEEDED = frozenset({"password", "passwordSessionEpoch", "mfaEnabled", "mfaLastStep"})


class WrongCredential(Unauthorized):
    """A wrong password, code or proof; ``left`` counts the attempts before a lockout."""

    code = "invalid_credential"

    def __init__(self, message: str, left: int) -> None:
        super().__init__(message)
        self.left = left


def report_failures(handler: Handler) -> Handler:
    """Report the attempts left after a wrong one, and the duration of a lockout."""

    @wraps(handler)
    async def handle(admin: AdminContext, request: Request) -> Response:
        try:
            return await handler(admin, request)
        except WrongCredential as error:
            await _note_refusal(admin, request, error)
            return _refusal(request, error, {"remainingBeforeLock": error.left})
        except LockedOut as locked:
            # Only a line in the log: whoever is locked out could fill the audit trail with rows.
            log.warning(LOCKED, client_address(admin, request))
            wait = int(locked.retry_after or 0)
            answer = _refusal(request, locked, {"retryAfter": wait, "resetHint": HINT})
            answer.headers["retry-after"] = str(wait)
            return answer

    return handle


async def _note_refusal(admin: AdminContext, request: Request, error: WrongCredential) -> None:
    """Note a wrong password, code or proof, and the lockout that it may cause."""
    address = client_address(admin, request)
    detail = {"path": request.url.path, "reason": error.message}
    log.warning(REFUSED, address)
    await admin.audit(request, "session.refuse", None, detail)
    if not error.left:
        log.warning(LOCKED, address)
        await admin.audit(request, "session.lockout", bucket(address), detail)


def _refusal(
    request: Request, error: WrongCredential | LockedOut, members: Mapping[str, Any]
) -> Response:
    return flat_error(
        error.message, error.status, request_id_of(request), code=error.code, **members
    )


def check_origin(admin: AdminContext, request: Request) -> None:
    """Refuse requests that no page of this gateway sent. Raises Forbidden."""
    headers = headers_of(request.scope)
    if not is_same_origin(headers, origin(admin, request), needed=True):
        raise Forbidden(
            "Sign in from the gateway's own page: the Origin header has to name the gateway",
            code="foreign_origin",
        )


def check_tunnel(request: Request, settings: Settings) -> None:
    """Refuse to sign in through a tunnel that is not for the dashboard. Raises Forbidden."""
    if not settings.tunnel_dashboard_access and is_tunnel(headers_of(request.scope), settings):
        raise Forbidden("The dashboard cannot be used through the tunnel", code="tunnel_closed")


def check_readable(settings: Settings) -> None:
    """Refuse to sign in against settings that cannot be read. Raises Unavailable.

    Their defaults would mean that no password and no second factor is set.
    """
    if not _NEEDED.isdisjoint(settings.invalid):
        raise Unavailable(
            "The stored settings of the login cannot be read", code="login_unreadable"
        )


async def begin_attempt(admin: AdminContext, request: Request) -> LoginAttempt:
    """Count an attempt from the caller's address. Raises LockedOut."""
    return await admin.login.lockout.begin(client_address(admin, request))


def client_address(admin: AdminContext, request: Request) -> str:
    """Return the address that failures are counted by."""
    peer = admin.caller(request).peer
    if not (admin.core.environment.trust_proxy and peer.via_proxy):
        return peer.address
    # The last address is the one that the trusted proxy itself has added.
    forwarded = headers_of(request.scope).get("x-forwarded-for", "").rpartition(",")[2]
    client = plain_address(forwarded)
    return peer.address if client == UNKNOWN else client


async def check_password(admin: AdminContext, request: Request, password: str) -> LoginAttempt:
    """Check the dashboard password. The caller calls ``lockout.succeed`` when that is enough.

    Raises BadRequest, Unavailable, LockedOut, WrongCredential.
    """
    settings = admin.snapshot.settings
    check_readable(settings)
    check_length(password)
    attempt = await begin_attempt(admin, request)
    if settings.password is None:
        is_right = is_initial(password, admin.core.environment.initial_password)
    else:
        is_right = await admin.login.passwords.verify(settings.password, password)
    if not is_right:
        raise WrongCredential("Invalid password", attempt.left)
    return attempt


async def start_session(
    admin: AdminContext, request: Request, body: Mapping[str, Any], epoch: str | None
) -> Response:
    """Return a response with a session. ``epoch`` is that of the verified password.

    Raises Conflict when the password has changed since, NoSecret.
    """
    if epoch != admin.snapshot.settings.password_session_epoch:
        raise Conflict("The password was changed just now: sign in again")
    await admin.audit(request, SIGNED_IN, None, {"method": "password"})
    answer = json_answer(body)
    await begin_session(admin, request, answer, Session())
    return answer
