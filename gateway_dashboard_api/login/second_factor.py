"""Checking a second factor, using it up in the write that it permits, and resetting it."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from starlette.requests import Request

from gateway_administration.sign_in.mfa import OFF, RESET
from gateway_core.config.settings import Settings
from gateway_core.contracts.errors import BadRequest

from ..admin_context import AdminContext
from .codes import LONGEST_CODE, accepted_step, is_totp, matching_hash
from .lockout import LoginAttempt
from .sign_in import WrongCredential


class Factor(Struct, frozen=True):
    """A code that was valid when checked: a time step, or the hash of a backup code."""

    step: int | None = None
    backup: str | None = None


async def identify(admin: AdminContext, attempt: LoginAttempt, code: str) -> Factor:
    """Check a code. Raises BadRequest, WrongCredential."""
    if len(code) > LONGEST_CODE:
        raise BadRequest("Invalid code")
    settings = admin.snapshot.settings
    if is_totp(code):
        step = accepted_step(settings.mfa_secret, code, admin.core.clock(), settings.mfa_last_step)
        factor = Factor(step=step)
    else:
        hashes = settings.mfa_backup_codes
        factor = Factor(
            backup=await admin.login.passwords.apart(lambda: matching_hash(code, hashes))
        )
    if factor == Factor():
        raise wrong_code(attempt)
    return factor


def wrong_code(attempt: LoginAttempt) -> WrongCredential:
    return WrongCredential("Invalid code", attempt.left)


async def consume(
    admin: AdminContext, attempt: LoginAttempt, factor: Factor, changes: Mapping[str, Any] = {}
) -> Settings:
    """Use a factor up together with the changes it permits. Raises WrongCredential.

    What is stored decides, so of two uses of one code the second fails.
    """

    def decide(now: Settings) -> Mapping[str, Any]:
        if not now.mfa_enabled:
            raise wrong_code(attempt)
        if factor.step is not None:
            # RFC 6238, section 5.2: a time step is accepted once.
            if now.mfa_last_step is not None and factor.step <= now.mfa_last_step:
                raise wrong_code(attempt)
            return {"mfaLastStep": factor.step, **changes}
        if factor.backup not in now.mfa_backup_codes:
            raise wrong_code(attempt)
        left = [each for each in now.mfa_backup_codes if each != factor.backup]
        return {"mfaBackupCodes": left, **changes}

    async with admin.writing():
        return await admin.stores.settings.revise(decide)


async def switch_off(admin: AdminContext, request: Request) -> None:
    """Switch the second factor off without a code. Pending logins start again."""
    await admin.audit(request, RESET)
    async with admin.writing():
        await admin.stores.settings.patch(OFF)
    await admin.login.lockout.clear()
