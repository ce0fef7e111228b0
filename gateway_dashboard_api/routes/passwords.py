"""Changing the password that everybody knows, and taking a forgotten one away (5.3, L.5)."""

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.identity.passwords import check_new

from ..desk import AdminContext
from ..endpoint import endpoint
from ..login import WrongCredential, begin, check_origin, check_readable, counted, signed_in
from ..password_changes import change, reset
from ..requests import read
from .auth import PATH, Entered, half_way

LONGEST_PROOF = 128


class ChangeBody(Struct, frozen=True, rename="camel"):
    """``proof`` is what the login gave to a caller on this machine."""

    proof: str
    new_password: str


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "POST",
            f"{PATH}/change-password",
            counted(change_default),
            "change the password",
            access=Access.PUBLIC,
            body=ChangeBody,
            answer=Entered,
            example={"proof": "what the login gave", "newPassword": "a long password"},
        ),
        endpoint(
            admin,
            "POST",
            f"{PATH}/reset-password",
            take_away,
            "reset the password",
            access=Access.LOCAL,
            answer=dict[str, bool],
        ),
    ]


async def change_default(admin: AdminContext, request: Request) -> Response:
    """Set the first password. A second factor that is on is asked for nevertheless."""
    admin.core.sessions.check_ready()
    check_origin(admin, request)
    check_readable(admin.tables.settings)
    body = await read(request, ChangeBody)
    check_new(body.new_password)
    attempt = await begin(admin, request)
    caller = admin.caller(request)
    proof = await admin.login.proofs.look(body.proof[:LONGEST_PROOF])
    if proof is None or not caller.is_local or proof.address != caller.peer.address:
        raise WrongCredential("Invalid or expired proof: sign in again", attempt.left)
    await admin.login.proofs.take(body.proof)
    after = await change(admin, request, body.new_password, proof.stored)
    await admin.login.lockout.succeed(attempt)
    if after.mfa_enabled:
        return await half_way(admin, request, after.password_session_epoch)
    done = {"success": True, "mustChangePassword": False}
    return signed_in(admin, request, done, after.password_session_epoch)


async def take_away(admin: AdminContext, request: Request) -> Response:
    await reset(admin, request)
    return json_answer({"success": True})
