"""Codes of the second factor: of an authenticator app, and backup codes for when it is lost.

```text
TOTP         SHA-1, six digits, 30 seconds; the step before and the one after count too
backup code  xxxx-xxxx-xxxx, 60 bits, kept as bcrypt hashes, each good once
```

A step that was accepted, and every one before it, is never accepted again.
"""

import base64
import hmac
import re
import secrets
from collections.abc import Iterable, Sequence
from urllib.parse import quote, urlencode

STEP = 30
"""Seconds."""
DIGITS = 6
DRIFT = 1
"""Steps that the other clock may be ahead or behind."""
SECRET_BYTES = 20
ISSUER = "Model Gateway"
ACCOUNT = "admin"
BACKUP_CODES = 10
BACKUP_COST = 10
"""bcrypt's."""
LONGEST_CODE = 64
_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
"""Five bits a character, and no two that look alike."""
_GROUPS, _GROUP = 3, 4
_is_secret = re.compile(r"[A-Z2-7]{32}").fullmatch
_is_digits = re.compile(r"[0-9]{6}").fullmatch


def new_secret() -> str:
    """A secret in base32, without padding."""
    return base64.b32encode(secrets.token_bytes(SECRET_BYTES)).decode()


def is_secret(text: str) -> bool:
    """Whether a text is a secret as ``new_secret`` makes them."""
    return _is_secret(text) is not None


def enrolment_uri(secret: str) -> str:
    """What an authenticator app reads."""
    query = {
        "secret": secret,
        "issuer": ISSUER,
        "algorithm": "SHA1",
        "digits": DIGITS,
        "period": STEP,
    }
    label = quote(f"{ISSUER}:{ACCOUNT}", safe=":")
    return f"otpauth://totp/{label}?{urlencode(query, quote_via=quote)}"


def qr_code(uri: str) -> str:
    """A picture of a text, as the data URL of an SVG."""
    import segno

    return segno.make(uri, micro=False).svg_data_uri(scale=4)


def is_totp(code: str) -> bool:
    """Whether a code is for the app's clock; anything else is taken for a backup code."""
    return _is_digits(code.strip()) is not None


def accepted_step(secret: str, code: str, now: float, last: int | None) -> int | None:
    """The step whose code this is, ``None`` when there is none or it is not after ``last``.

    ``now`` is in Unix seconds.
    """
    import pyotp

    try:
        totp = pyotp.TOTP(secret)
    except ValueError:  # What is stored is no secret, or one that could be guessed.
        return None
    code, accepted = code.strip(), None
    current = int(now // STEP)
    for step in range(current - DRIFT, current + DRIFT + 1):
        is_match = hmac.compare_digest(totp.generate_otp(step), code)
        if is_match and (last is None or step > last):
            accepted = step
    return accepted


def new_backup_codes() -> tuple[str, ...]:
    """Ten codes, to be shown once."""
    return tuple(
        "-".join("".join(secrets.choice(_ALPHABET) for _ in range(_GROUP)) for _ in range(_GROUPS))
        for _ in range(BACKUP_CODES)
    )


def hash_backup_codes(codes: Iterable[str]) -> tuple[str, ...]:
    """The codes as they are kept. Slow: not for the event loop."""
    import bcrypt

    return tuple(
        bcrypt.hashpw(_plain(code), bcrypt.gensalt(BACKUP_COST)).decode() for code in codes
    )


def matching_hash(code: str, hashes: Sequence[str]) -> str | None:
    """The hash that a backup code belongs to. Slow: not for the event loop."""
    import bcrypt

    plain = _plain(code)
    if len(plain) != _GROUPS * _GROUP:
        return None
    return next((each for each in hashes if bcrypt.checkpw(plain, each.encode())), None)


def _plain(code: str) -> bytes:
    """A backup code as it is hashed: nobody needs to type its hyphens."""
    return re.sub(r"[\s-]", "", code).lower().encode()
