"""Refuses new requests, and then closes idle connections, when memory runs short."""

import asyncio
from collections.abc import Callable

from gateway_core.pipeline.body_memory import BodyMemory

BUDGET = 0.7
"""The share of the machine's memory that the gateway uses by default."""
REFUSE_AT = 0.8
CLOSE_AT = 0.9
CHECK_EVERY = 1.0
MIB = 1024 * 1024


def memory_budget(memory_mb: int | None, size: int | None, workers: int = 1) -> int | None:
    """How many bytes one worker process may use; ``None`` is no limit."""
    if memory_mb is not None:
        return memory_mb * MIB // workers
    return None if size is None else int(size * BUDGET) // workers


class MemoryPressure:
    """Compares the memory in use with its budget, once a second, and says how much of it the
    bodies of requests may take."""

    def __init__(
        self,
        budget: int | None,
        used: Callable[[], int | None],
        refuse: Callable[[bool], None],
        close_idle: Callable[[], None],
        bodies: BodyMemory,
    ) -> None:
        self._budget = budget
        self._used = used
        self._refuse = refuse
        self._close_idle = close_idle
        self._bodies = bodies
        self._used_without = 0
        """Bytes in use when there was no large body."""

    def check(self) -> None:
        used = self._used() if self._budget else None
        if used is None or not self._budget:
            return
        if not self._bodies.reserved:
            self._used_without = used
        self._bodies.room = max(0.0, REFUSE_AT * self._budget - self._used_without)
        self._refuse(used >= REFUSE_AT * self._budget)
        if used >= CLOSE_AT * self._budget:
            self._close_idle()

    async def watch(self) -> None:
        while True:
            self.check()
            await asyncio.sleep(CHECK_EVERY)
