"""The shared state: the server decides by a script, and this process while the server is away."""

import asyncio
import itertools
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from hashlib import sha1
from typing import Any

from redis.asyncio import Redis

from gateway_core import AccountRest, AccountScore, LimitReached, SharedLimits

from .contents import Contents
from .decision import LEASE, SCRIPT
from .link import Away, Link
from .rests import Rests
from .scores import Scores
from .window import Entry, Window

BEAT = LEASE / 6
"""Seconds between two renewals of the calls under way, which also show that the server answers."""
AT_ONCE = 100
"""Names that are restored in one round trip."""
# Names the script, as EVALSHA wants it; no protection hangs on it.
NAME_OF_SCRIPT = sha1(SCRIPT.encode(), usedforsecurity=False).hexdigest()

NO_LIMITS = SharedLimits()


class ValkeyState:
    """A ``gateway_core.SharedState`` in a server of Valkey or Redis."""

    def __init__(self, url: str, prefix: str, wait: float) -> None:
        self._url, self._prefix, self._wait = url, prefix, wait
        self._process = secrets.token_hex(6)
        self._numbers = itertools.count()
        self._windows: dict[str, Window] = {}
        self._unsaid: set[str] = set()
        """Names under which something changed that the server does not know of."""
        self._link: Link | None = None
        self._rests = Rests(prefix, self._process, self._post)
        self._scores = Scores(prefix)
        self._contents = Contents(url, prefix)

    @property
    def trouble(self) -> str:
        if self._link is not None and self._link.is_joined:
            return ""
        return "Valkey does not answer: each process counts for itself"

    def connect(
        self, adopt: Callable[[AccountRest | AccountScore], None]
    ) -> AbstractAsyncContextManager[None]:
        return self._connected(adopt)

    @asynccontextmanager
    async def _connected(
        self, adopt: Callable[[AccountRest | AccountScore], None]
    ) -> AsyncIterator[None]:
        self._rests.adopt = self._scores.adopt = adopt
        hear = {each.channel: each.hear for each in (self._rests, self._scores)}
        self._link = Link(self._url, self._wait, self._join, hear)
        async with self._link.running():
            works = (self._beat(), self._scores.run(self._link.call))
            running = [asyncio.create_task(each) for each in works]
            try:
                yield
            finally:
                for task in running:
                    task.cancel()
                await asyncio.wait(running)
                await self._contents.aclose()

    async def admit(self, name: str, limits: SharedLimits) -> LimitReached | None:
        window = self._windows.get(name)
        if window is None:
            window = self._windows[name] = Window()
        id = self._new_id()
        try:
            reached = await self._ask(name, id, limits)
        except Away:
            reached = window.check(limits, time.monotonic())
            self._unsaid.add(name)
        except asyncio.CancelledError:
            # Whether the server has counted it is not known.
            self._tell(name, Entry("withdrawn", id))
            raise
        if reached is None:
            window.admit(id, limits, time.monotonic())
        return reached

    def withdraw(self, name: str) -> None:
        window = self._windows.get(name)
        id = None if window is None else window.withdraw()
        if id is not None:
            self._tell(name, Entry("withdrawn", id))

    def leave(self, name: str) -> None:
        window = self._windows.get(name)
        id = None if window is None else window.leave()
        if id is not None:
            self._tell(name, Entry("left", id))

    def record(self, name: str, tokens: int) -> None:
        id = self._new_id()
        self._windows.setdefault(name, Window()).record(id, tokens, time.monotonic())
        self._tell(name, Entry("tokens", id, 0, tokens))

    def publish(self, news: AccountRest | AccountScore) -> None:
        if isinstance(news, AccountScore):
            self._scores.publish(news)
        else:
            self._rests.publish(news)

    def keep(self, name: str, content: bytes, seconds: float) -> None:
        self._contents.keep(name, content, seconds)

    def discard(self, name: str) -> None:
        self._contents.discard(name)

    async def find(self, name: str) -> bytes | None:
        return await self._contents.find(name)

    async def _ask(self, name: str, id: str, limits: SharedLimits) -> LimitReached | None:
        if self._link is None:
            raise Away
        limit, used, wait = await self._link.call(*self._decision(name, (), id, limits))
        return LimitReached(limit.decode(), used, max(0, wait) / 1000) if limit else None

    def _tell(self, name: str, *entries: Entry) -> None:
        if self._link is not None and self._link.is_joined:
            self._post(*self._decision(name, entries))
        else:
            self._unsaid.add(name)

    def _decision(
        self,
        name: str,
        entries: Iterable[Entry],
        id: str = "",
        limits: SharedLimits = NO_LIMITS,
    ) -> tuple[str | int, ...]:
        """The command that runs the script."""
        # One slot of a cluster, which https://valkey.io/topics/cluster-spec/ calls a hash tag.
        base = f"{self._prefix}:{{{name}}}"
        keys = (f"{base}:requests", f"{base}:tokens", f"{base}:sum", f"{base}:calls")
        most = (limits.requests, limits.tokens, limits.at_once)
        shown = ("" if each is None else each for each in most)
        flat = (member for entry in entries for member in entry)
        return ("EVALSHA", NAME_OF_SCRIPT, len(keys), *keys, id, *shown, *flat)

    def _post(self, *command: str | int | float | bytes) -> None:
        if self._link is not None:
            self._link.post(*command)

    async def _join(self, client: Redis) -> None:
        """Tell a server, which may have lost everything, what counts still."""
        await client.script_load(SCRIPT)
        await self._rests.join(client)
        await self._scores.join(client)
        self._unsaid = set(self._windows)
        # More may be admitted here while some of it is sent.
        while self._unsaid:
            pipeline: Any = client.pipeline(transaction=False)
            for _ in range(min(AT_ONCE, len(self._unsaid))):
                name = self._unsaid.pop()
                entries = self._windows[name].entries(time.monotonic())
                pipeline.execute_command(*self._decision(name, entries))
            await pipeline.execute()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            now = time.monotonic()
            for name, window in list(self._windows.items()):
                window.slide(now)
                calls = window.calls()
                if calls:
                    self._tell(name, *calls)
                elif window.is_empty:
                    del self._windows[name]
                    self._unsaid.discard(name)
            self._rests.forget_past()
            self._post("PING")

    def _new_id(self) -> str:
        return f"{self._process}-{next(self._numbers)}"
