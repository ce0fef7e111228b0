"""Counting attempts to sign in; several workers count together, in the database.

There an attempt costs a write and a locked address only a read, both of them
far less than the hashing of a password.
"""

from collections.abc import Callable

from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.stores.lockouts import Standing

from .lockout import QUIET, Lockout, LoginAttempt, bucket


class Attempts:
    """The lockout of one worker. ``monotonic`` gives seconds, the same ones at every worker."""

    def __init__(self, core: Collaborators, monotonic: Callable[[], float]) -> None:
        self._core = core
        self._monotonic = monotonic
        self._lockout = Lockout(monotonic)

    def __len__(self) -> int:
        return len(self._lockout)

    async def begin(self, address: str) -> LoginAttempt:
        """Count an attempt. Raises LockedOut, and does not count then."""
        if not self._core.shares_data:
            return self._lockout.begin(address)
        key, begun = bucket(address), list[LoginAttempt]()
        self._lockout.adopt(key, await self._core.stores.lockouts.get(key))
        self._lockout.check(address)
        await self._revise(key, lambda: begun.append(self._lockout.begin(address)))
        return begun[0]

    async def succeed(self, attempt: LoginAttempt) -> None:
        """Forget the address after a success."""
        await self._undo(self._lockout.succeed, attempt)

    async def withdraw(self, attempt: LoginAttempt) -> None:
        """Take back an attempt whose outcome is still open."""
        await self._undo(self._lockout.withdraw, attempt)

    async def clear(self) -> None:
        """Forget all addresses."""
        self._lockout.clear()
        if self._core.shares_data:
            await self._core.stores.lockouts.clear()

    async def _undo(self, undo: Callable[[LoginAttempt], None], attempt: LoginAttempt) -> None:
        if self._core.shares_data:
            await self._revise(attempt.address, lambda: undo(attempt))
        else:
            undo(attempt)

    async def _revise(self, key: str, act: Callable[[], None]) -> None:
        """Apply ``act`` to the shared state of a bucket, and store the result."""

        def decide(stored: Standing) -> Standing | None:
            self._lockout.adopt(key, stored)
            act()
            return self._lockout.standing(key)

        quiet = self._monotonic() - QUIET
        await self._core.stores.lockouts.revise(key, decide, before=quiet)
