"""The dashboard password, which every route of the database wants beside a session or the token."""

from starlette.requests import Request

from gateway_core.contracts.errors import Unauthorized

from ..admin_context import AdminContext
from ..login.sign_in import WrongCredential, check_password

PASSWORD = "x-gateway-password"


async def verify(admin: AdminContext, request: Request, password: str | None, refusal: str) -> None:
    """Let nobody through who does not know the password. ``refusal`` is what they are answered.

    Raises Unauthorized, WrongCredential, LockedOut.
    """
    if not password:
        raise Unauthorized(refusal)
    try:
        attempt = await check_password(admin, request, password)
    except WrongCredential as error:
        raise WrongCredential(refusal, error.left) from error
    await admin.login.lockout.succeed(attempt)
