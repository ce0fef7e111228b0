"""Contents that all gateways find, such as pictures, through a connection of their own.

They may be megabytes long, and a decision on a limit must not wait behind one.
"""

import asyncio
from contextlib import suppress
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from .link import FAILURES, JOIN_LIMIT, spell_address

WAIT = 2.0
"""Seconds for an answer."""
AT_ONCE = 4
"""Connections."""
MOST_WAITING = 25
"""Commands that wait for one; more are dropped."""


class Contents:
    """Bytes under names, each for a while."""

    def __init__(self, url: str, prefix: str) -> None:
        self._url, self._prefix = url, prefix
        self._client: Redis | None = None
        self._places = asyncio.Semaphore(AT_ONCE)
        self._running: set[asyncio.Task[Any]] = set()

    def keep(self, name: str, content: bytes, seconds: float) -> None:
        self._start("SET", self._key(name), content, "PX", int(seconds * 1000))

    def discard(self, name: str) -> None:
        self._start("DEL", self._key(name))

    async def find(self, name: str) -> bytes | None:
        content: bytes | None = await self._run("GET", self._key(name))
        return content

    async def aclose(self) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _key(self, name: str) -> str:
        return f"{self._prefix}:content:{name}"

    def _start(self, *command: str | bytes | int) -> None:
        if len(self._running) < MOST_WAITING:
            task = asyncio.create_task(self._run(*command))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _run(self, *command: str | bytes | int) -> Any:
        """The server's answer; ``None`` without one."""
        if self._client is None:
            self._client = Redis.from_url(
                spell_address(self._url),
                retry=Retry(NoBackoff(), 0),
                socket_connect_timeout=JOIN_LIMIT,
                socket_timeout=WAIT,
            )
        async with self._places:
            with suppress(*FAILURES):
                # The library has no types for it.
                return await self._client.execute_command(*command)  # type: ignore[no-untyped-call]
        return None
