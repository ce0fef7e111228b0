"""Attempts to sign in, counted; where several workers serve, a lock of one holds at them all.

Each worker counts failures by itself. Only when that leads to a lock, and when
a lock ends, is something written, so that guessing costs no writes.
"""

import asyncio
from collections.abc import Callable

from gateway_core.identity.lockout import QUIET, Attempt, Lockout, bucket
from gateway_core.inference.core import Core


class Attempts:
    """The lockout of one worker. ``monotonic`` gives seconds, the same ones at every worker."""

    def __init__(self, core: Core, monotonic: Callable[[], float]) -> None:
        self._core = core
        self._monotonic = monotonic
        self._lockout = Lockout(monotonic)
        self._turn = asyncio.Lock()
        """What is stored is compared with what is counted by one at a time."""

    def __len__(self) -> int:
        return len(self._lockout)

    async def begin(self, address: str) -> Attempt:
        """Count an attempt. Raises LockedOut, and does not count then."""
        if not self._core.shares_data:
            return self._lockout.begin(address)
        key = bucket(address)
        async with self._turn:
            self._lockout.adopt(key, await self._core.stores.lockouts.get(key))
            attempt = self._lockout.begin(address)
            if attempt.left == 0:
                await self._share(key)
            return attempt

    async def succeed(self, attempt: Attempt) -> None:
        """It was right: forget the address."""
        await self._undo(self._lockout.succeed, attempt)

    async def withdraw(self, attempt: Attempt) -> None:
        """It was neither right nor wrong yet: as if it had not been, and nothing else."""
        await self._undo(self._lockout.withdraw, attempt)

    async def clear(self) -> None:
        """Forget everybody."""
        self._lockout.clear()
        if self._core.shares_data:
            await self._core.stores.lockouts.clear()

    async def _undo(self, undo: Callable[[Attempt], None], attempt: Attempt) -> None:
        if not self._core.shares_data:
            undo(attempt)
            return
        async with self._turn:
            undo(attempt)
            await self._share(attempt.address)

    async def _share(self, key: str) -> None:
        """Store how an address stands, unless that is what is stored."""
        store, lock = self._core.stores.lockouts, self._lockout.lock_of(key)
        if lock == await store.get(key):
            return
        if lock is None:
            await store.delete(key)
        else:
            await store.clear(before=self._monotonic() - QUIET)
            await store.put(key, lock)
