"""Changing the dashboard password, which ends every session that gets no new token."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_administration.sign_in.passwords import (
    RESET,
    check_new,
    forgotten,
    new_epoch,
)
from gateway_core.config.settings import Settings
from gateway_core.contracts.errors import BadRequest, Conflict
from gateway_core.identity.caller import Session

from ..admin_context import AdminContext
from .password_hashes import is_outdated
from .session_list import begin_session
from .sign_in import check_password

CHANGED = "password.change"


class PasswordChoice(Struct, frozen=True):
    """A new password, and the one that allows it."""

    new: str
    current: str

    def __repr__(self) -> str:
        return "Choice()"


def read_choice(body: Mapping[str, Any]) -> PasswordChoice | None:
    """Read the change of password in a settings document. Raises BadRequest."""
    if "newPassword" not in body:
        return None
    new, current = body["newPassword"], body.get("currentPassword", "")
    if not isinstance(new, str):
        raise BadRequest("Invalid newPassword")
    if not isinstance(current, str):
        raise BadRequest("Invalid currentPassword")
    check_new(new)
    return PasswordChoice(new, current)


async def change_with_current(
    admin: AdminContext, request: Request, choice: PasswordChoice, others: Mapping[str, Any]
) -> None:
    """Set the password of a caller who knows the old one, together with other settings.

    Raises LockedOut, WrongCredential, Conflict.
    """
    stored = admin.snapshot.settings.password
    attempt = await check_password(admin, request, choice.current)
    await change_password(admin, request, choice.new, stored, others)
    await admin.login.lockout.succeed(attempt)


async def renew_session(admin: AdminContext, request: Request, answer: Response) -> Response:
    """Give the caller a session again, since the change has ended theirs.

    A caller without one gets one only where the password alone is enough.
    """
    session = admin.caller(request).session
    has_all = session is not None or not admin.snapshot.settings.mfa_enabled
    if not (has_all and admin.core.sessions.is_ready):
        return answer
    await begin_session(admin, request, answer, session or Session())
    return answer


async def change_password(
    admin: AdminContext,
    request: Request,
    password: str,
    stored: str | None,
    others: Mapping[str, Any] = {},
) -> Settings:
    """Set the password, and other settings with it.

    ``stored`` is the hash that the old password was compared with. Raises
    Conflict when another one is stored by now.
    """
    hashed = await admin.login.passwords.hash(password)

    def decide(now: Settings) -> Mapping[str, Any]:
        if now.password != stored:
            raise Conflict("The password was changed by another request just now")
        return {**others, "password": hashed, "passwordSessionEpoch": new_epoch()}

    document = await admin.stores.settings.document()
    await admin.audit_change(request, CHANGED, None, document, others)
    async with admin.writing():
        return await admin.stores.settings.revise(decide)


async def remove_password(admin: AdminContext, request: Request) -> None:
    """Take the stored password away; the second factor stays."""
    await admin.audit(request, RESET)
    async with admin.writing():
        await admin.stores.settings.patch(forgotten())
    await admin.login.lockout.clear()


async def rehash(admin: AdminContext, password: str, stored: str | None) -> None:
    """Hash a verified password again if its stored hash is outdated."""
    if stored is None or not is_outdated(stored):
        return
    hashed = await admin.login.passwords.hash(password)
    async with admin.writing():
        await admin.stores.settings.revise(
            lambda now: {"password": hashed} if now.password == stored else {}
        )
