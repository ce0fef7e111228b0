"""An answer as its reader sees it, filled piece by piece by the connection it comes on."""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from ...contracts.errors import TransportError
from ...contracts.exchange import UpstreamResponse
from .failures import abandoned, body_too_large
from .fields import NONE
from .limits import BODY_BYTES


class Source(Protocol):
    """The connection an answer comes on."""

    async def more(self, answer: "Answer") -> None:
        """Wait until the answer has grown or ended."""
        ...

    def resume(self) -> None:
        """There is room again."""
        ...

    def drop(self, answer: "Answer") -> None:
        """Nobody wants the rest."""
        ...


class Answer:
    """One answer; outlives its connection when all of it has come.

    ``status`` is zero until the head has come. ``source`` is ``None`` as soon
    as nothing more can come.
    """

    def __init__(self, source: Source) -> None:
        self.status = 0
        self.headers: Mapping[str, str] = NONE
        self.source: Source | None = source
        self.failure: TransportError | None = None
        self.chunks: list[bytes] = []
        self.buffered = 0
        """Bytes in ``chunks``."""
        self.waiter: asyncio.Future[None] | None = None
        """Set while somebody waits for the head or for more of the body."""

    async def next(self) -> bytes:
        """All body bytes that have come since the last call; ``b""`` at the end.

        Raises TransportError when the body was cut short.
        """
        if not self.chunks:
            if self.source is not None:
                await self.source.more(self)
            if not self.chunks:
                return self._end()
        return self._take()

    async def aclose(self) -> None:
        """Drop the connection, unless the whole answer has come."""
        if self.source is not None:
            self.source.drop(self)
        elif self.chunks:
            self.failure = abandoned()
        self.chunks.clear()

    def wake(self) -> None:
        """Tell the reader that something has come."""
        waiter = self.waiter
        if waiter is not None:
            self.waiter = None
            if not waiter.done():
                waiter.set_result(None)

    def end(self, failure: TransportError | None = None) -> None:
        """Nothing more will come."""
        self.source = None
        self.failure = failure
        self.wake()

    def _end(self) -> bytes:
        if self.failure is not None:
            raise self.failure
        return b""

    def _take(self) -> bytes:
        chunks = self.chunks
        data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        chunks.clear()
        self.buffered = 0
        if self.source is not None:
            self.source.resume()
        return data


def is_over(response: UpstreamResponse) -> bool:
    """Whether all of a body has been taken, as far as that is known without asking for more."""
    return (
        isinstance(response, Answer)
        and response.source is None
        and response.failure is None
        and not response.chunks
    )


def arrived(response: UpstreamResponse) -> bytes | None:
    """The whole body, where all of it has come already; else ``None``, and nothing is taken."""
    if not isinstance(response, Answer) or response.source is not None or response.failure:
        return None
    return response._take()


async def read_all(response: UpstreamResponse, limit: int = BODY_BYTES) -> bytes:
    """The whole body, at most ``limit`` bytes. Raises TransportError; closes nothing."""
    first = await response.next()
    if not first:
        return first
    chunks, size = [first], len(first)
    while size <= limit:
        chunk = await response.next()
        if not chunk:
            return first if len(chunks) == 1 else b"".join(chunks)
        chunks.append(chunk)
        size += len(chunk)
    raise body_too_large(limit)
