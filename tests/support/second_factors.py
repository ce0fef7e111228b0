"""A second factor whose secret is known, and browsers that sign in with it."""

from collections.abc import Sequence
from typing import Any

import pyotp
from front_door import PASSWORD, Browser, House

MFA = "/api/auth/mfa"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def code(house: House, drift: int = 0, secret: str = SECRET) -> str:
    """The code that the app shows."""
    return pyotp.TOTP(secret).generate_otp(int(house.wall.now // 30) + drift)


async def enrolled(house: House, codes: Sequence[str] = ()) -> None:
    """Enable the second factor in the database."""
    import bcrypt

    hashes = [
        bcrypt.hashpw(text.replace("-", "").encode(), bcrypt.gensalt(4)).decode() for text in codes
    ]
    await house.store(mfaEnabled=True, mfaSecret=SECRET, mfaBackupCodes=hashes)


async def half_way(house: House, host: str = "127.0.0.1") -> Browser:
    browser = await house.browser(host)
    assert await browser.enter(PASSWORD) == {"mfaRequired": True}
    return browser


async def verify(browser: Browser, text: str, *, status: int = 200) -> Any:
    return await browser.ask("POST", f"{MFA}/verify", {"code": text}, status=status)
