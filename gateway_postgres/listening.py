"""Hearing of writes of other gateways: LISTEN on a connection of its own.

The server says which group of tables was written to when the writer commits. It keeps nothing for
a listener that is away, so one that comes back wakes whoever waits, to compare the numbers in
``stores/versions.py``.
"""

import asyncio
import logging
from contextlib import suppress
from typing import Any

from psycopg import Error

from gateway_core.storage.errors import StorageUnavailable
from gateway_core.storage.failure_log import FailureLog

from .pools import connect

CHANNEL = "model_gateway"
"""The trigger ``announce_write`` notifies it."""
WHILE_LISTENING = 10.0
"""Seconds between two looks, if a notification is lost on its way."""
_AGAIN = 0.5
"""Seconds until a connection that is lost is made anew."""

log = logging.getLogger(__name__)


class WriteSignals:
    """Wakes who waits for a write. The connection is made when somebody does for the first time."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._written = asyncio.Event()
        self._is_listening = False
        self._task: asyncio.Task[None] | None = None
        meanwhile = "They are looked for every second."
        self._trouble = FailureLog(log, "Listening for changes of other gateways", meanwhile)

    async def wait(self, look_every: float) -> None:
        """Return after a write; else after so many seconds, or more of them while it listens."""
        if self._task is None:
            self._task = asyncio.create_task(self._keep_listening())
        with suppress(TimeoutError):
            async with asyncio.timeout(WHILE_LISTENING if self._is_listening else look_every):
                await self._written.wait()
        self._written.clear()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._written.set()

    async def _keep_listening(self) -> None:
        while True:
            try:
                await self._listen()
            except StorageUnavailable as error:
                self._trouble.met(error)
            if self._is_listening:
                self._is_listening = False
                self._written.set()
            await asyncio.sleep(_AGAIN)

    async def _listen(self) -> None:
        """Listen until the connection is lost. Raises StorageUnavailable."""
        try:
            async with await connect(self._options) as connection:
                await connection.execute(f"LISTEN {CHANNEL}")
                self._trouble.over()
                self._is_listening = True
                self._written.set()
                async for _ in connection.notifies():
                    self._written.set()
        except Error as error:
            raise StorageUnavailable from error
