"""A second factor whose secret is known, and browsers that sign in with it."""

from collections.abc import Sequence
from typing import Any

import pyotp
from login_gateway import PASSWORD, Browser, LoginGateway

MFA = "/api/auth/mfa"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def code(server: LoginGateway, drift: int = 0, secret: str = SECRET) -> str:
    """What the app shows."""
    return pyotp.TOTP(secret).generate_otp(int(server.wall.now // 30) + drift)


async def enrolled(server: LoginGateway, codes: Sequence[str] = ()) -> None:
    """Switch it on without the ceremony."""
    import bcrypt

    hashes = [
        bcrypt.hashpw(text.replace("-", "").encode(), bcrypt.gensalt(4)).decode() for text in codes
    ]
    await server.store(mfaEnabled=True, mfaSecret=SECRET, mfaBackupCodes=hashes)


async def half_way(server: LoginGateway, host: str = "127.0.0.1") -> Browser:
    browser = await server.browser(host)
    assert await browser.enter(PASSWORD) == {"mfaRequired": True}
    return browser


async def verify(browser: Browser, text: str, *, status: int = 200) -> Any:
    return await browser.call("POST", f"{MFA}/verify", {"code": text}, status=status)
