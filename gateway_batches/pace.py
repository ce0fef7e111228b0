"""How many rows may begin now: interactive requests come first, and an operator may set a rate."""

import time
from collections import deque
from collections.abc import Callable

from .settings import BatchSettings

MINUTE = 60.0
LOOK_EVERY = 0.1
"""Seconds between two looks while rows have to wait."""


class Pace:
    """Shared by all batches of a process."""

    def __init__(
        self,
        settings: Callable[[], BatchSettings],
        interactive: Callable[[], int],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """``interactive`` counts the requests under way that are no rows."""
        self._settings, self._interactive, self._monotonic = settings, interactive, monotonic
        self._begun: deque[float] = deque()
        """When rows began during the last minute."""
        self._last: dict[str, float] = {}
        """When a batch's last row began."""

    def admit(self, batch_id: str, most: int) -> int:
        """How many of so many rows of a batch may begin now; they are counted."""
        settings, now = self._settings(), self._monotonic()
        if self._interactive() > settings.yield_above:
            # One in a minute, so that a batch gets on at a gateway that is never quiet.
            is_due = now - self._last.setdefault(batch_id, now) >= MINUTE
            most = min(most, int(is_due))
        if settings.rows_per_minute:
            while self._begun and self._begun[0] <= now - MINUTE:
                self._begun.popleft()
            most = min(most, settings.rows_per_minute - len(self._begun))
        if most <= 0:
            return 0
        self._last[batch_id] = now
        if settings.rows_per_minute:
            self._begun.extend([now] * most)
        return most

    def give_back(self, count: int) -> None:
        """Rows that were admitted do not begin: there were no more."""
        for _ in range(min(count, len(self._begun))):
            self._begun.pop()

    def forget(self, batch_id: str) -> None:
        self._last.pop(batch_id, None)
