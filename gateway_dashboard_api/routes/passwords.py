"""Changing the password that everybody knows, and taking a forgotten one away (5.3, L.5)."""

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.identity.passwords import check_new

from ..desk import Desk
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


_read_change = msgspec.json.Decoder(ChangeBody)


def routes(desk: Desk) -> list[Guarded]:
    return [
        endpoint(
            desk,
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
            desk,
            "POST",
            f"{PATH}/reset-password",
            take_away,
            "reset the password",
            access=Access.LOCAL,
            answer=dict[str, bool],
        ),
    ]


async def change_default(desk: Desk, request: Request) -> Response:
    """Set the first password. A second factor that is on is asked for nevertheless."""
    desk.core.sessions.check_ready()
    check_origin(desk, request)
    check_readable(desk.tables.settings)
    body = await read(request, _read_change)
    check_new(body.new_password)
    attempt = await begin(desk, request)
    caller = desk.caller(request)
    proof = await desk.login.proofs.look(body.proof[:LONGEST_PROOF])
    if proof is None or not caller.is_local or proof.address != caller.peer.address:
        raise WrongCredential("Invalid or expired proof: sign in again", attempt.left)
    await desk.login.proofs.take(body.proof)
    after = await change(desk, request, body.new_password, proof.stored)
    await desk.login.lockout.succeed(attempt)
    if after.mfa_enabled:
        return await half_way(desk, request, after.password_session_epoch)
    done = {"success": True, "mustChangePassword": False}
    return signed_in(desk, request, done, after.password_session_epoch)


async def take_away(desk: Desk, request: Request) -> Response:
    await reset(desk, request)
    return json_answer({"success": True})
