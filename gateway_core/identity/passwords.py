"""The dashboard password: how it is hashed, checked and chosen.

Hashes are argon2id; a bcrypt hash of an older installation is still read, and
is to be replaced at the next login. Hashing takes time and memory on purpose,
so it happens on worker threads, two at once.
"""

import hmac
import secrets
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

from ..contracts.errors import BadRequest
from .placeholders import DEFAULT_PASSWORD, is_public

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST = 6
"""Characters."""
LONGEST = 1024
"""Bytes."""
AT_ONCE = 2
EPOCH_BYTES = 16
RESET = "password.reset"
"""The act in the audit trail."""
_BCRYPT = ("$2a$", "$2b$", "$2y$", "$2x$")
_BCRYPT_READS = 72
"""Bytes; what comes after them never counted."""

T = TypeVar("T")


class Passwords:
    """Hashes and verifies."""

    @cached_property
    def _limiter(self) -> anyio.CapacityLimiter:
        # Made within an event loop it loads the loop's backend, which few processes ever need.
        return anyio.CapacityLimiter(AT_ONCE)

    async def hash(self, password: str) -> str:
        return await self.apart(lambda: _hasher().hash(password))

    async def verify(self, stored: str, password: str) -> bool:
        """Whether a password is the one of a hash; ``False`` for a hash of no known kind."""
        return await self.apart(lambda: _verify(stored, password))

    async def apart(self, work: Callable[[], T]) -> T:
        """Run something as slow as hashing on a worker thread."""
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)


def is_outdated(stored: str) -> bool:
    """Whether a hash is to be made anew when the password is at hand."""
    if stored.startswith(_BCRYPT):
        return True
    from argon2.exceptions import InvalidHashError

    try:
        return bool(_hasher().check_needs_rehash(stored))
    except InvalidHashError:
        return False


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


def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher

    return PasswordHasher()


def _verify(stored: str, password: str) -> bool:
    if stored.startswith(_BCRYPT):
        import bcrypt

        try:
            return bcrypt.checkpw(password.encode()[:_BCRYPT_READS], stored.encode())
        except ValueError:
            return False
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        return bool(_hasher().verify(stored, password))
    except (VerificationError, InvalidHashError):
        return False
