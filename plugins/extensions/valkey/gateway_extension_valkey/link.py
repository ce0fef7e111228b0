"""The connection to the server: joined or away, and nobody waits for long to learn which.

```text
away ── connect, restore ──▶ joined ── an error, no answer in time ──▶ away
```

Commands that come while others are under way leave together, in one round trip.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

T = TypeVar("T")
Command = tuple[str | int | float | bytes, ...]

JOIN_LIMIT = 2.0
"""Seconds for connecting and restoring."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
"""Seconds between two attempts to join."""
TURNS = 10
"""Parts of a wait; see ``patiently``."""
FAILURES = (RedisError, OSError, TimeoutError)

log = logging.getLogger("gateway_plugin.extension-valkey")


class Away(Exception):
    """The server does not answer, or not in time."""


class Link:
    """One process's connection. ``join`` is awaited before a connection counts."""

    def __init__(
        self,
        url: str,
        wait: float,
        join: Callable[[Redis], Awaitable[None]],
        hear: Mapping[str, Callable[[bytes], None]],
    ) -> None:
        """``hear`` has what takes up the messages of each channel."""
        self._url, self._wait = spell_address(url), wait
        self._join, self._hear = join, hear
        self._queue: list[tuple[Command, asyncio.Future[Any] | None]] = []
        self._work = asyncio.Event()
        self.is_joined = False
        self.reason = "not connected yet"

    async def call(self, *command: str | int | float | bytes) -> Any:
        """The server's answer. Raises Away."""
        if not self.is_joined:
            raise Away
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queue.append((command, answer))
        self._work.set()
        return await answer

    def post(self, *command: str | int | float | bytes) -> None:
        """Send a command whose answer nobody waits for; it is dropped while the server is away."""
        if self.is_joined:
            self._queue.append((command, None))
            self._work.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keeps the connection. Waits a moment for the first one, so that a gateway that starts
        beside others counts with them from its first request."""
        first = asyncio.Event()
        task = asyncio.create_task(self._keep(first))
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(JOIN_LIMIT):
                    await first.wait()
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _keep(self, first: asyncio.Event) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                async with self._connected() as (client, listener):
                    pause = FIRST_PAUSE
                    first.set()
                    await _first_of(self._send(client), self._listen(listener))
            except Exception as error:  # Whatever it is, requests go on and it is tried again.
                self._lose(error)
            finally:
                self._drop()
            first.set()
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[tuple[Redis, PubSub]]:
        # Without retries of the library's own: a server that was restarted has to be told
        # everything again, so a connection that is lost must not be replaced in silence.
        client = Redis.from_url(
            self._url,
            retry=Retry(NoBackoff(), 0),
            socket_connect_timeout=JOIN_LIMIT,
        )
        listener = client.pubsub(ignore_subscribe_messages=True)
        try:
            async with asyncio.timeout(JOIN_LIMIT):
                await listener.subscribe(*self._hear)
                await self._join(client)
            self.is_joined = True
            log.info("Valkey answers: limits are counted together with the other gateways")
            yield client, listener
        finally:
            self.is_joined = False
            for each in (listener, client):
                with suppress(*FAILURES):
                    await each.aclose()

    async def _send(self, client: Redis) -> None:
        """Send what is queued, all of it at once."""
        while True:
            await self._work.wait()
            self._work.clear()
            batch, self._queue = self._queue, []
            try:
                pipeline = client.pipeline(transaction=False)
                for command, _ in batch:
                    pipeline.execute_command(*command)
                answers = await patiently(pipeline.execute(raise_on_error=False), self._wait)
                failure = next((each for each in answers if isinstance(each, RedisError)), None)
                if failure is not None:
                    raise failure
            except BaseException:
                _refuse(batch)
                raise
            for (_, waiter), answer in zip(batch, answers, strict=True):
                if waiter is not None and not waiter.done():
                    waiter.set_result(answer)

    async def _listen(self, listener: PubSub) -> None:
        async for message in listener.listen():
            self._hear[message["channel"].decode()](message["data"])
        raise ConnectionError("the subscription ended")

    def _lose(self, error: Exception) -> None:
        # The text of an error may name the address, which may hold a password.
        reason = type(error).__name__
        if reason != self.reason:
            log.warning("Valkey does not answer (%s): each process counts for itself", reason)
        self.reason = reason

    def _drop(self) -> None:
        queue, self._queue = self._queue, []
        self._work.clear()
        _refuse(queue)


async def patiently(work: Coroutine[Any, Any, T], seconds: float) -> T:
    """Wait for a while. Raises TimeoutError, and what the work raises.

    The wait is made of parts, so that it is the server that is slow and not this process: what
    has arrived while the event loop was busy is read before the time is up.
    """
    task = asyncio.ensure_future(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        for _ in range(TURNS):
            done, _ = await asyncio.wait([task], timeout=seconds / TURNS)
            if done:
                return task.result()
        raise TimeoutError
    finally:
        task.cancel()


async def _first_of(*works: Coroutine[Any, Any, None]) -> None:
    """Run all until one ends. Raises what it raises."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        # Takes what another one raises meanwhile, so that nobody reports it as lost.
        await asyncio.gather(*tasks, return_exceptions=True)


def _refuse(batch: Sequence[tuple[Command, asyncio.Future[Any] | None]]) -> None:
    for _, waiter in batch:
        if waiter is not None and not waiter.done():
            waiter.set_exception(Away())


def spell_address(url: str) -> str:
    """The address as the library spells it."""
    scheme, _, rest = url.partition("://")
    return f"{ {'valkey': 'redis', 'valkeys': 'rediss'}.get(scheme, scheme) }://{rest}"
