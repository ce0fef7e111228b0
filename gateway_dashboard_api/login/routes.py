"""Signing in with the password, signing out, changing the password (5.3, L.5)."""

import logging
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from gateway_administration.sign_in.passwords import check_new, is_public_initial
from gateway_core.config.settings import Settings
from gateway_core.contracts.errors import Forbidden
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.identity.credentials import COOKIE, cookie, is_same_origin
from gateway_core.identity.placeholders import is_public
from gateway_core.pipeline.client_response import headers_of

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_json
from .bodies import ChangeBody, PasswordBody
from .cookies import PENDING, clear_cookie, origin, set_cookie
from .lockout import LoginAttempt
from .oidc_protocol import client_of
from .password_changes import change_password, rehash, remove_password
from .sign_in import (
    WrongCredential,
    begin_attempt,
    check_origin,
    check_password,
    check_readable,
    check_tunnel,
    report_failures,
    start_session,
)
from .state import PENDING as PURPOSE
from .state import PasswordProof, PendingLogin
from .views import Entered, LoginFlags, Status

PATH = "/api/auth"
log = logging.getLogger(__name__)


def routes(admin: AdminContext) -> list[Guarded]:
    public = partial(endpoint, admin, access=Access.PUBLIC)
    enter = partial(
        public,
        "POST",
        f"{PATH}/login",
        report_failures(login),
        "sign in",
        body=PasswordBody,
        answer=Entered,
    )
    change = partial(
        public,
        "POST",
        f"{PATH}/change-password",
        report_failures(change_initial_password),
        "change the password",
        body=ChangeBody,
        answer=Entered,
    )
    reset = partial(
        endpoint, admin, "POST", f"{PATH}/reset-password", reset_password, "reset the password"
    )
    flags = "/api/settings/require-login"
    return [
        enter(example={"password": "a long password"}),
        public("POST", f"{PATH}/logout", logout, "sign out", answer=dict[str, bool]),
        public("GET", f"{PATH}/status", status, "read the login's state", answer=Status),
        change(example={"proof": "what the login gave", "newPassword": "a long password"}),
        reset(access=Access.LOCAL, answer=dict[str, bool]),
        public("GET", flags, show_flags, "read the login flags", answer=LoginFlags),
    ]


async def login(admin: AdminContext, request: Request) -> Response:
    admin.core.sessions.check_ready()
    check_origin(admin, request)
    before = admin.snapshot.settings
    if before.auth_mode == "oidc":
        raise Forbidden("Sign in with OIDC: the password is not accepted", code="oidc_only")
    check_tunnel(request, before)
    password = (await read_json(request, PasswordBody)).password
    attempt = await check_password(admin, request, password)
    if is_public(password):
        return await _require_change(admin, request, before, attempt)
    await rehash(admin, password, before.password)
    if admin.snapshot.settings.mfa_enabled:
        await admin.login.lockout.withdraw(attempt)
        return await half_way(admin, request, before.password_session_epoch)
    await admin.login.lockout.succeed(attempt)
    body = {"success": True, "mustChangePassword": False}
    return await start_session(admin, request, body, before.password_session_epoch)


async def half_way(admin: AdminContext, request: Request, epoch: str | None) -> Response:
    """Ask for the second factor. ``epoch`` is that of the verified password."""
    answer = json_answer({"mfaRequired": True})
    ticket = await admin.login.pending.issue(PendingLogin(epoch))
    set_cookie(admin, request, answer, PENDING, ticket, PURPOSE.lifetime)
    return answer


async def _require_change(
    admin: AdminContext, request: Request, before: Settings, attempt: LoginAttempt
) -> Response:
    """Refuse the published default password; a local caller gets a proof to change it."""
    await admin.login.lockout.succeed(attempt)
    body: dict[str, Any] = {"success": True, "mustChangePassword": True}
    caller = admin.caller(request)
    if caller.is_local:
        address = caller.peer.address
        await admin.login.proofs.revoke(address)
        proof = await admin.login.proofs.issue(
            PasswordProof(address, before.password), owner=address
        )
        body |= {"requiresPasswordChange": True, "proof": proof}
    return json_answer(body, 403)


async def logout(admin: AdminContext, request: Request) -> Response:
    """End the session for every copy of its token, and a pending login."""
    headers = headers_of(request.scope)
    if not is_same_origin(headers, origin(admin, request)):
        raise Forbidden("Requests from another origin are not accepted", code="foreign_origin")
    session = admin.caller(request).session
    if session is not None:
        await admin.audit(request, "session.end")
        async with admin.writing():
            await admin.stores.ended_sessions.add(session.id, session.expires_at)
    await admin.login.pending.redeem(cookie(headers, PENDING) or "")
    answer = json_answer({"success": True})
    for name in (COOKIE, PENDING):
        clear_cookie(admin, request, answer, name)
    return answer


async def status(admin: AdminContext, request: Request) -> Response:
    settings, session = admin.snapshot.settings, admin.caller(request).session
    is_oidc = session is not None and session.method == "oidc"
    name = session.name if session is not None else None
    email = session.email if session is not None else None
    initial = admin.core.environment.initial_password
    state = Status(
        require_login=settings.require_login,
        auth_mode=settings.auth_mode,
        mfa_enabled=settings.mfa_enabled,
        oidc_configured=client_of(settings) is not None,
        oidc_login_label=settings.oidc_login_label,
        has_password=settings.password is not None,
        using_default_password=settings.password is None and is_public_initial(initial),
        authenticated=session is not None,
        display_name=(name or email or "admin") if session is not None else None,
        login_method=("OIDC" if is_oidc else "Password") if session is not None else None,
        oidc_login=is_oidc,
        oidc_name=name,
        oidc_email=email,
    )
    return json_answer(state)


LONGEST_PROOF = 128


async def change_initial_password(admin: AdminContext, request: Request) -> Response:
    """Set the first password. An active second factor is still required."""
    admin.core.sessions.check_ready()
    check_origin(admin, request)
    check_readable(admin.snapshot.settings)
    body = await read_json(request, ChangeBody)
    check_new(body.new_password)
    attempt = await begin_attempt(admin, request)
    caller = admin.caller(request)
    proof = await admin.login.proofs.find(body.proof[:LONGEST_PROOF])
    if proof is None or not caller.is_local or proof.address != caller.peer.address:
        raise WrongCredential("Invalid or expired proof: sign in again", attempt.left)
    await admin.login.proofs.redeem(body.proof)
    after = await change_password(admin, request, body.new_password, proof.stored)
    await admin.login.lockout.succeed(attempt)
    if after.mfa_enabled:
        return await half_way(admin, request, after.password_session_epoch)
    done = {"success": True, "mustChangePassword": False}
    return await start_session(admin, request, done, after.password_session_epoch)


async def reset_password(admin: AdminContext, request: Request) -> Response:
    await remove_password(admin, request)
    return json_answer({"success": True})


async def show_flags(admin: AdminContext, request: Request) -> Response:
    settings = admin.snapshot.settings
    return json_answer(
        LoginFlags(
            require_login=settings.require_login,
            tunnel_dashboard_access=settings.tunnel_dashboard_access,
            tunnel_url=settings.tunnel_url,
            tailscale_url=settings.tailscale_url,
        )
    )
