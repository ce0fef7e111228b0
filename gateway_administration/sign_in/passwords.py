"""The dashboard password: what may be chosen, and what takes it away.

Hashes of it are made and read where it is used to sign in.
"""

import hmac
import secrets
from collections.abc import Mapping

from gateway_core.contracts.errors import BadRequest
from gateway_core.identity.placeholders import DEFAULT_PASSWORD, is_public

SHORTEST = 6
"""Characters."""
LONGEST = 1024
"""Bytes."""
EPOCH_BYTES = 16
RESET = "password.reset"
"""The act in the audit trail."""


def is_initial(password: str, initial: str | None) -> bool:
    """Whether a password is the one in force while none is stored."""
    expected = DEFAULT_PASSWORD if initial is None else initial
    return hmac.compare_digest(password.encode(), expected.encode())


def is_public_initial(initial: str | None) -> bool:
    """Whether everybody knows the password in force while none is stored."""
    return initial is None or is_public(initial)


def check_length(password: str) -> None:
    """Refuse what nobody has as a password. Raises BadRequest."""
    if len(password.encode("utf-8", "surrogatepass")) > LONGEST:
        raise BadRequest(f"A password has at most {LONGEST} bytes")


def check_new(password: str) -> None:
    """Refuse a bad choice. Raises BadRequest."""
    check_length(password)
    if len(password) < SHORTEST or not password.strip():
        raise BadRequest(f"A password has at least {SHORTEST} characters")
    if is_public(password):
        raise BadRequest("Everybody knows this password: choose another one")


def new_epoch() -> str:
    """A random word: sessions of another epoch, before a change of the password, are over."""
    return secrets.token_hex(EPOCH_BYTES)


def forgotten() -> Mapping[str, str | None]:
    """The changes of settings that take a stored password away and leave the second factor."""
    return {"password": None, "passwordSessionEpoch": new_epoch()}
