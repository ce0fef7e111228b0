"""The second factor: enrolling, signing in with it, switching it off (5.3, L.6).

Enrolling and switching it off want a person who has signed in, also where the
dashboard is open to everybody on this machine.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from gateway_administration.sign_in.mfa import OFF
from gateway_core.config.settings import Settings
from gateway_core.contracts.errors import BadRequest, Conflict, Unauthorized
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.identity.credentials import cookie
from gateway_core.pipeline.client_response import headers_of

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_json
from .bodies import CodeBody, DisableBody, EnableBody, PasswordBody
from .codes import (
    accepted_step,
    enrolment_uri,
    hash_backup_codes,
    is_secret,
    new_backup_codes,
    new_secret,
    qr_code,
)
from .cookies import PENDING, clear_cookie
from .routes import PATH
from .second_factor import consume, identify, switch_off, wrong_code
from .sign_in import (
    begin_attempt,
    check_origin,
    check_password,
    check_readable,
    check_tunnel,
    report_failures,
    start_session,
)
from .views import Enabled, Setup, Verified

EXAMPLE = {"password": "a long password", "code": "123456"}


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "POST",
            f"{PATH}/mfa/setup",
            report_failures(setup),
            "prepare the second factor",
            access=Access.SESSION,
            body=PasswordBody,
            answer=Setup,
            example={"password": "a long password"},
        ),
        endpoint(
            admin,
            "POST",
            f"{PATH}/mfa/enable",
            report_failures(enable),
            "switch the second factor on",
            access=Access.SESSION,
            body=EnableBody,
            answer=Enabled,
            example={**EXAMPLE, "secret": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"},
        ),
        endpoint(
            admin,
            "POST",
            f"{PATH}/mfa/verify",
            report_failures(verify),
            "sign in with the second factor",
            access=Access.PUBLIC,
            body=CodeBody,
            answer=Verified,
            example={"code": "123456"},
        ),
        endpoint(
            admin,
            "POST",
            f"{PATH}/mfa/disable",
            report_failures(disable),
            "switch the second factor off",
            access=Access.SESSION,
            body=DisableBody,
            answer=dict[str, bool],
            example=EXAMPLE,
        ),
        endpoint(
            admin,
            "POST",
            f"{PATH}/mfa/reset",
            reset,
            "take a lost second factor away",
            access=Access.COMMAND_LINE,
            answer=dict[str, bool],
        ),
    ]


async def setup(admin: AdminContext, request: Request) -> Response:
    """Return a secret to enrol with, without storing it."""
    body = await read_json(request, PasswordBody)
    _check_off(admin.snapshot.settings)
    await admin.login.lockout.succeed(await check_password(admin, request, body.password))
    secret = new_secret()
    uri = enrolment_uri(secret)
    return json_answer(Setup(secret=secret, otpauth_uri=uri, qr_code=qr_code(uri)))


async def enable(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, EnableBody)
    if not is_secret(body.secret):
        raise BadRequest("The secret is missing: request one with /api/auth/mfa/setup")
    _check_off(admin.snapshot.settings)
    attempt = await check_password(admin, request, body.password)
    step = accepted_step(body.secret, body.code, admin.core.clock(), None)
    if step is None:
        raise wrong_code(attempt)
    codes = new_backup_codes()
    hashes = await admin.login.passwords.apart(lambda: hash_backup_codes(codes))

    def decide(now: Settings) -> Mapping[str, Any]:
        _check_off(now)
        return {
            "mfaEnabled": True,
            "mfaSecret": body.secret,
            "mfaBackupCodes": hashes,
            "mfaLastStep": step,
        }

    await admin.audit(request, "mfa.enable")
    async with admin.writing():
        await admin.stores.settings.revise(decide)
    await admin.login.lockout.succeed(attempt)
    return json_answer(Enabled(backup_codes=codes))


async def verify(admin: AdminContext, request: Request) -> Response:
    """Complete a login with the second factor."""
    admin.core.sessions.check_ready()
    check_origin(admin, request)
    settings = admin.snapshot.settings
    check_tunnel(request, settings)
    check_readable(settings)
    body = await read_json(request, CodeBody)
    ticket = cookie(headers_of(request.scope), PENDING) or ""
    pending = await admin.login.pending.find(ticket)
    if pending is None or pending.epoch != settings.password_session_epoch:
        raise Unauthorized("Sign in with the password first", code="mfa_not_pending")
    attempt = await begin_attempt(admin, request)
    factor = await identify(admin, attempt, body.code)
    after = await consume(admin, attempt, factor)
    if await admin.login.pending.redeem(ticket) is None:
        raise Unauthorized("Sign in with the password first", code="mfa_not_pending")
    await admin.login.lockout.succeed(attempt)
    left = None if factor.backup is None else len(after.mfa_backup_codes)
    done = Verified(success=True, backup_codes_remaining=left)
    answer = await start_session(admin, request, msgspec.to_builtins(done), pending.epoch)
    clear_cookie(admin, request, answer, PENDING)
    return answer


async def disable(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, DisableBody)
    if not admin.snapshot.settings.mfa_enabled:
        raise Conflict("The second factor is not switched on")
    attempt = await check_password(admin, request, body.password)
    factor = await identify(admin, attempt, body.code)
    await admin.audit(request, "mfa.disable")
    await consume(admin, attempt, factor, OFF)
    await admin.login.lockout.succeed(attempt)
    return json_answer({"success": True})


async def reset(admin: AdminContext, request: Request) -> Response:
    await switch_off(admin, request)
    return json_answer({"success": True})


def _check_off(settings: Settings) -> None:
    """Raises Conflict."""
    if settings.mfa_enabled:
        raise Conflict("The second factor is already switched on")
