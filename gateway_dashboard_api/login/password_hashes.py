"""Hashes of the dashboard password.

They are argon2id; a bcrypt hash of an older installation is still read, and is to be replaced at
the next login. Hashing takes time and memory on purpose, so it happens on worker threads, two at
once.
"""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from argon2 import PasswordHasher

AT_ONCE = 2
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
