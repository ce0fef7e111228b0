"""Counting attempts to sign in; several workers or gateways count together, in the database.

There an attempt costs a write and a locked address only a read, both of them
far less than the hashing of a password.
"""

from collections.abc import Callable

from gateway_administration.stores.lockouts import LockoutStore, Standing
from gateway_core.pipeline.context import Collaborators

from ..database.turn import Turn
from .lockout import QUIET, Lockout, LoginAttempt, bucket


class Attempts:
    """The lockout of one process. ``monotonic`` gives seconds, the same ones at every worker."""

    def __init__(
        self, core: Collaborators, store: LockoutStore, monotonic: Callable[[], float]
    ) -> None:
        self._core = core
        self._store = store
        self._monotonic = monotonic
        self._engine = ""
        self._lockout = Lockout(self._now)

    def __len__(self) -> int:
        return len(self._lockout)

    @property
    def _is_on_postgres(self) -> bool:
        """Whether other gateways may be on the database."""
        return self._core.stores.database.engine == "postgres"

    def _now(self) -> float:
        # Other machines have a monotonic clock of their own, and the wall clock in common.
        return self._core.clock() if self._is_on_postgres else self._monotonic()

    @property
    def _has_others(self) -> bool:
        return self._core.shares_data or self._is_on_postgres

    @property
    def _is_shared(self) -> bool:
        """While no write is let in, because the database is changed, each process counts alone."""
        return self._has_others and not Turn(self._core.stores.database).is_taken

    def _follow_clock(self) -> None:
        """Forget what was counted by the clock of a database that was left."""
        if self._engine != self._core.stores.database.engine:
            self._engine = self._core.stores.database.engine
            self._lockout.clear()

    async def begin(self, address: str) -> LoginAttempt:
        """Count an attempt. Raises LockedOut, and does not count then."""
        self._follow_clock()
        if not self._is_shared:
            return self._lockout.begin(address)
        key, begun = bucket(address), list[LoginAttempt]()
        self._lockout.adopt(key, await self._store.get(key))
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
        if self._has_others:
            await self._store.clear()

    async def _undo(self, undo: Callable[[LoginAttempt], None], attempt: LoginAttempt) -> None:
        if self._is_shared:
            await self._revise(attempt.address, lambda: undo(attempt))
        else:
            undo(attempt)

    async def _revise(self, key: str, act: Callable[[], None]) -> None:
        """Apply ``act`` to the shared state of a bucket, and store the result."""

        def decide(stored: Standing) -> Standing | None:
            self._lockout.adopt(key, stored)
            act()
            return self._lockout.standing(key)

        quiet = self._now() - QUIET
        await self._store.revise(key, decide, before=quiet)
