"""What happens when memory runs short: first new requests wait elsewhere, then idle clients go."""

import asyncio
from collections.abc import Callable

BUDGET = 0.7
"""The part of the machine's memory that is used when nothing else is said."""
REFUSE_AT = 0.8
CLOSE_AT = 0.9
LOOK_EVERY = 1.0
MIB = 1024 * 1024


def budget_of(memory_mb: int | None, size: int | None, workers: int = 1) -> int | None:
    """How much memory one of some worker processes may use, in bytes; ``None`` is no limit."""
    if memory_mb is not None:
        return memory_mb * MIB // workers
    return None if size is None else int(size * BUDGET) // workers


class Pressure:
    """Compares the memory in use with its budget, once a second."""

    def __init__(
        self,
        budget: int | None,
        used: Callable[[], int | None],
        refuse: Callable[[bool], None],
        close_idle: Callable[[], None],
    ) -> None:
        self._budget = budget
        self._used = used
        self._refuse = refuse
        self._close_idle = close_idle

    def look(self) -> None:
        used = self._used() if self._budget else None
        if used is None or not self._budget:
            return
        self._refuse(used >= REFUSE_AT * self._budget)
        if used >= CLOSE_AT * self._budget:
            self._close_idle()

    async def watch(self) -> None:
        while True:
            self.look()
            await asyncio.sleep(LOOK_EVERY)
